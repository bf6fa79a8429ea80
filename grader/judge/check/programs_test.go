package check

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// Each of several programs in one runner is told, to the byte, what it is told alone.
func TestProgramsAreToldWhatEachIsToldAlone(t *testing.T) {
	var q Request
	for _, c := range []struct{ inside, behind string }{
		{"", ""},
		{"\tfmt.Println(`printed by one`)", "var printed = fmt.Sprintln(`and before it`)\n"},
		{"\tpanic(`early`)", ""},
		{"\tforever(0)", "func forever(n int) int { return forever(n+1) + 1 }\n"},
		{"", "func broken() { unknown() }\n"},
		{"", "func broken() { go func() {}() }\n"},
		{"\tif len(batches) > 2 {\n\t\treturn nil\n\t}", ""},
	} {
		h := solutions(t, 1)
		h.spoil(t, "asyncpipeline", c.inside, c.behind)
		one := h.request()
		q.Course, q.Options, q.Code = one.Course, one.Options, append(q.Code, one.Code...)
	}
	q.Precompiled = Precompile(context.Background(), q.Root, []course.Exercise{q.Code[0].Exercise}, nil)
	programs, err := Link(context.Background(), q)
	require.NoError(t, err)
	defer programs.Close()
	var all []verdict.Status
	for i := range q.Code {
		r, err := programs.Check(context.Background(), i)
		require.NoError(t, err)
		alone := q
		alone.Code = q.Code[i : i+1]
		want, err := Submission(context.Background(), alone)
		require.NoError(t, err)
		require.Equal(t, text(t, want[0].Report), text(t, r.Report))
		all = append(all, r.Report.Status)
	}
	require.Equal(t, []verdict.Status{verdict.Passed, verdict.Passed, verdict.Crashed, verdict.Crashed,
		verdict.BuildFailed, verdict.Refused, verdict.Failed}, all)
}
