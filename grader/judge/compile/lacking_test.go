package compile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/gaps"
)

// onSkeleton is a request whose submission may lack what the skeleton has.
func onSkeleton(t *testing.T, files map[string]string) asked {
	t.Helper()
	skeleton, err := os.ReadFile(course + "/exercises/sample/sample.go")
	require.NoError(t, err)
	e := sample(folder(t, files))
	e.Skeleton = skeleton
	return requestOf(e)
}

func TestAFunctionThatIsLackingAnswersItsFirstGap(t *testing.T) {
	const declared = "Run should be declared as: func Run(streams []cuda.Stream, n int) error, but is not"
	for name, c := range map[string]struct {
		text  string
		lacks string
		line  int
	}{
		"missing":          {"func run() {}\n", "Run is not in the files", 0},
		"other parameters": {"func Run(streams []cuda.Stream) error { return nil }\n", declared, 10},
		"other result":     {"func Run(streams []cuda.Stream, n int) {}\n", declared, 10},
		"not a function":   {"var Run = 3\n", declared, 1},
	} {
		t.Run(name, func(t *testing.T) {
			q := onSkeleton(t, map[string]string{"lent-Run.go": header + c.text, "z.go": allocator})
			r := built(t, q)
			require.Equal(t, "1a\n", printed(t, r))
			want := gaps.Gap{ID: "1a", Lacks: c.lacks, Line: c.line}
			if c.line > 0 {
				want.File = filepath.Join(q.Exercises[0].Dir, "lent-Run.go")
			}
			require.Equal(t, []gaps.Gap{want}, r.Gaps)
		})
	}
}

func TestWhatIsNotLent(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"nothing of the student's is left": {"sample.go": header},
		"another error":                    {"sample.go": header + "func Run() { unknown() }\n", "z.go": allocator},
		"another method": {"sample.go": header + run, "z.go": header + "type Allocator struct{}\n\n" +
			"func New(int64) (*Allocator, error) { return nil, nil }\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := built(t, onSkeleton(t, files))
			require.NotEmpty(t, r.Errors)
			require.Empty(t, r.Gaps)
		})
	}
	r := built(t, onSkeleton(t, map[string]string{"sample.go": header + run, "z.go": allocator}))
	require.True(t, r.OK())
	require.Empty(t, r.Gaps)
}

// Others in the same program are built as they are, also from what is precompiled.
func TestAFunctionThatIsLackingBesideOthers(t *testing.T) {
	q := onSkeleton(t, map[string]string{"sample.go": header + "func Run() {}\n", "z.go": allocator})
	p, err := Precompile(t.Context(), q.Course, q.Exercises...)
	require.NoError(t, err)
	q.Precompiled = p
	require.Equal(t, "1a\n", printed(t, built(t, q)))
	require.Equal(t, "1a\n", printed(t, built(t, q)))
}
