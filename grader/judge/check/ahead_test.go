package check

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
)

// TestAheadChangesNothing checks programs with the timed case carried out while what came before is judged, and
// without: both say the same, also of what is printed, and of what would happen in a timed case that is not needed.
func TestAheadChangesNothing(t *testing.T) {
	const wrong = "\tif minBlock > 256 {\nminBlock *= 2\n}\n"
	const timed = "\tif total == 64<<20 && minBlock == 256 {\n" // the timed case alone asks for such an allocator
	for name, c := range map[string]struct {
		inside string
		status verdict.Status
	}{
		"right":                        {"fmt.Println(`made`)", verdict.Passed},
		"wrong":                        {wrong + "fmt.Println(`made`)", verdict.Failed},
		"wrong, and would never end":   {wrong + timed + "for {\n}\n}", verdict.Failed},
		"wrong, and would have ended":  {wrong + timed + "fmt.Println(`timed`)\npanic(`never`)\n}", verdict.Failed},
		"right, but for what is timed": {timed + "fmt.Println(`timed`)\npanic(`once`)\n}", verdict.Crashed},
	} {
		t.Run(name, func(t *testing.T) {
			h := solutions(t, 5)
			h.spoil(t, "buddy", c.inside, "")
			q := h.request()
			q.Code, q.NoTiming = q.Code[4:], false
			without, err := Submission(context.Background(), q)
			require.NoError(t, err)
			q.Ahead = true
			with, err := Submission(context.Background(), q)
			require.NoError(t, err)
			require.Equal(t, c.status, with[0].Report.Status)
			require.Equal(t, text(t, withoutTimes(without[0].Report)), text(t, withoutTimes(with[0].Report)))
		})
	}
}

// withoutTimes is a report without what is different each time.
func withoutTimes(r verdict.Report) verdict.Report {
	r.Checks = slices.Clone(r.Checks)
	for i := range r.Checks {
		if c := &r.Checks[i]; len(c.Measurements) > 0 {
			c.Measurements, c.Message = nil, ""
		}
	}
	return r
}
