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

// What is made is lent with its methods, under other names than the student's own.
func TestATypeThatIsLackingAnswersItsFirstGap(t *testing.T) {
	const (
		noMaker  = "New, which makes the Allocator, is not in the files"
		maker    = "New should be declared as: func New(total int64) (*Allocator, error), but is not"
		method   = "Alloc should be declared as: func (a *Allocator) Alloc(size int64) (cuda.DevicePtr, error), but is not"
		noMethod = "The method Alloc of Allocator is not in the files"
		makes    = "func New(int64) (*Allocator, error) { return &Allocator{}, nil }\n"
	)
	for name, c := range map[string]struct {
		text  string
		first string // the gap that answers
		lacks string
		line  int
	}{
		"missing":             {"", "2a", "Allocator, with New and its methods, is not in the files", 0},
		"its maker":           {"type Allocator struct{}\n", "2a", noMaker, 0},
		"another of its name": {"func Allocator() {}\n", "2a", noMaker, 0},
		"other maker":         {"func New() int { return 1 }\n", "2a", maker, 10},
		"makes a number":      {"func New(int64) (int, error) { return 1, nil }\n", "2a", maker, 10},
		"other method":        {makes + "type Allocator struct{}\n\nfunc (*Allocator) Alloc() {}\n", "2a", method, 13},
		"field":               {makes + "type Allocator struct{ Alloc int }\n", "2a", method, 11},
		"an interface": {"func New(int64) (Allocator, error) { return nil, nil }\ntype Allocator interface{}\n", "2a",
			noMethod, 11},
		"a method": {makes + "type Allocator struct{}\n", "2b", noMethod, 0},
		"a method, by another name": {"func New(int64) (*pool, error) { return &pool{}, nil }\ntype pool struct{ int }\n",
			"2b", "The method Alloc of pool is not in the files", 0},
	} {
		t.Run(name, func(t *testing.T) {
			q := onSkeleton(t, map[string]string{"sample.go": header + run + c.text})
			r := built(t, q)
			require.Equal(t, c.first+"\n", printed(t, r))
			want := []gaps.Gap{{ID: "2a", Lacks: c.lacks}, {ID: "2b", Lacks: c.lacks}}
			if c.first == "2b" {
				want = want[1:]
			}
			if c.line > 0 {
				for i := range want {
					want[i].File, want[i].Line = filepath.Join(q.Exercises[0].Dir, "sample.go"), c.line+1
				}
			}
			require.Equal(t, want, r.Gaps)
		})
	}
}

func TestWhatIsNotLent(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"nothing of the student's is left": {"sample.go": header},
		"another error":                    {"sample.go": header + "func Run() { unknown() }\n", "z.go": allocator},
		"only a method is the student's":   {"sample.go": header + "func New() {}\n"},
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
