package compile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/machine/child"
)

// The compiler quotes raw strings with their lines, and those can read like its own.
func TestOnlyTheCompilerSpeaksForItself(t *testing.T) {
	const lines = "\n/usr/local/go/src/fmt/print.go:1:1: internal compiler error\nexercises/e2/e2.go:1:1: undefined: " +
		"everything\ncudalab/exercises/e1/e1.go:9:9: forged\n# cudalab/native/cuda\n"
	for name, literal := range map[string]string{
		"a raw string":                    "`a" + lines + "`",
		"one that begins with a line":     "`" + lines + "`",
		"behind a backtick in a string":   "\"`\" + `" + lines + "`",
		"with carriage returns":           "`a" + strings.ReplaceAll(lines, "\n", "\r\n") + "`",
		"two, one of them in the other":   "`" + lines + lines + "` + `" + lines + "`",
		"longer than what the tools said": "`a" + lines + strings.Repeat("x", 100) + "\n`",
	} {
		t.Run(name, func(t *testing.T) {
			root, exercises := six(t)
			change(t, exercises[0], "package e1\n\nfunc Answer() string { return "+literal+" + 1 }\n")
			api := newAPI(root)
			submissions := []*submission{read(exercises[0], api), read(exercises[1], api)}
			w, err := newWorkspace(api, t.TempDir(), submissions)
			require.NoError(t, err)
			said := fmt.Sprintf("# cudalab/exercises/e1\nexercises/e1/e1.go:3:31: cannot use %s as int\n\tand "+
				"more\nexercises/e1/e1.go:4:1: the next\n", literal)
			if strings.HasPrefix(name, "longer") {
				said = said[:strings.Index(said, "xxx")]
			}
			found, foreign := w.parse(output{"cudalab/exercises/e1", said})
			require.False(t, foreign)
			require.NotEmpty(t, found)
			for i, d := range found {
				require.Equal(t, submissions[0], d.submission)
				require.Equal(t, []int{3, 4}[i], d.line, d.message)
			}
		})
	}
}

func TestACourseThatIsBrokenIsNobodysFault(t *testing.T) {
	root, exercises := six(t)
	api := newAPI(root)
	w, err := newWorkspace(api, t.TempDir(), []*submission{read(exercises[0], api)})
	require.NoError(t, err)
	_, foreign := w.parse(output{"cudalab/grader/suites/e1", "grader/suites/e1/e1.go:3:1: undefined: x\n"})
	require.True(t, foreign)
}

func TestOutputIsSortedByPackage(t *testing.T) {
	said := outputs([]byte(`{"ImportPath":"a","Action":"build-output","Output":"# a\n"}
{"ImportPath":"b","Action":"build-output","Output":"# b\n"}
{"ImportPath":"a","Action":"build-output","Output":"{\"ImportPath\":\"b\"}\n"}
{"ImportPath":"a","Action":"build-fail"}
{"ImportPath":"b","Action":"build-out`))
	require.Equal(t, []output{{"a", "# a\n{\"ImportPath\":\"b\"}\n"}, {"b", "# b\n"}}, said)
}

// What runs into a limit is paid for once, whichever exercises it is handed in for.
func TestALimitIsRemembered(t *testing.T) {
	root, exercises := six(t)
	bomb := "const c0 = `0123456789abcdef`\n"
	for i := range 36 {
		bomb += fmt.Sprintf("const c%d = c%d + c%d\n", i+1, i, i)
	}
	bomb += "var Kept = c36\n\nfunc Answer() string { return Kept }\n"
	for i := range 3 {
		change(t, exercises[i], fmt.Sprintf("package %s\n\n%s", exercises[i].Package, bomb))
	}
	q := asked{Course{Root: root, Limits: child.Limits{Memory: 400 << 20}}, exercises}
	q.Precompiled = precompiled(t, q)
	r := together(t, q)
	require.Equal(t, []string{"e4", "e5", "e6"}, said(t, r))
	for i := range 3 {
		require.Contains(t, r.Exercises[i].Errors[0].Message, "400 MiB of memory")
	}
	require.Len(t, q.Precompiled.limits, 1)
	for _, l := range q.Precompiled.limits {
		l.Message = "as remembered"
	}
	require.Equal(t, "as remembered", together(t, q).Exercises[2].Errors[0].Message)
}
