package corpus_test

import (
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/corpus"
	"cudalab/grader/suite"
	"cudalab/grader/suites/course"
)

const root = "../../.."

// TestEveryProgramIsWellFormed sees to it that edits leave programs as gofmt would have them, each with what must come
// of it.
func TestEveryProgramIsWellFormed(t *testing.T) {
	c, err := course.Open(root)
	require.NoError(t, err)
	for _, e := range c.Exercises {
		programs, err := corpus.Programs(root, e.Package)
		require.NoError(t, err)
		for _, p := range programs {
			formatted, err := format.Source([]byte(p.Text))
			require.NoError(t, err, "%s %s", e.Name, p)
			require.Equal(t, string(formatted), p.Text, "%s %s is not formatted", e.Name, p)
			x := p.Expect()
			switch p.Kind {
			case corpus.Solution, corpus.Right:
				require.True(t, !x.Wrong && !x.Refused && x.Next == "", "%s %s says that it does not pass", e.Name, p)
			case corpus.Half, corpus.Skeleton:
				require.NotEmpty(t, x.Next, "%s %s", e.Name, p)
			default:
				require.True(t, x.Wrong || x.Refused, "%s %s does not say what fails", e.Name, p)
			}
		}
	}
}

// TestWhatIsOutOfOrderMayGiveAnything keeps luck out of the expectations: where memory is used out of order or beyond
// its end, the simulated device may give the right bytes for ever, and a GPU others in one run of ten.
func TestWhatIsOutOfOrderMayGiveAnything(t *testing.T) {
	const out, results = "order", "results" // checks
	c, err := course.Open(root)
	require.NoError(t, err)
	told := 0
	for _, e := range c.Exercises {
		if !slices.ContainsFunc(e.Suite.Checks, func(q suite.Question) bool { return q.ID == results }) {
			continue
		}
		programs, err := corpus.Programs(root, e.Package)
		require.NoError(t, err)
		for _, p := range programs {
			x := p.Expect()
			if !slices.Contains(x.Fails, out) {
				continue
			}
			told++
			require.Contains(t, append(x.May, x.Fails...), results, "%s %s", e.Name, p)
		}
	}
	require.NotZero(t, told)
}

func TestProgramsAreInOrder(t *testing.T) {
	programs, err := corpus.Programs(root, "slab")
	require.NoError(t, err)
	var names []string
	for _, p := range programs {
		names = append(names, p.String())
	}
	require.Equal(t, []string{"solution", "skeleton", "half/arguments-only"}, names[:3])
	require.True(t,
		slices.IsSorted(names[slices.Index(names, "right/bitmap"):slices.Index(names, "wrong/arguments-checked-late")]))
	require.True(t, slices.IsSorted(names[slices.Index(names, "cheat/allocates-in-error-text"):]), "the cheats come last")
}

func TestFind(t *testing.T) {
	p, err := corpus.Find(root, "slab", "wrong/double-free")
	require.NoError(t, err)
	require.Equal(t, []string{"errors"}, p.Expect().Fails)
	p, err = corpus.Find(root, "slab", "solution")
	require.NoError(t, err)
	require.Equal(t, corpus.Solution, p.Kind)
	_, err = corpus.Find(root, "slab", "wrong/double-fere")
	require.EqualError(t, err, "grader/suites/slab/testdata/corpus has no program wrong/double-fere")
}

// TestACourseBringsItsCorpus reads one of another course, which lacks something at first.
func TestACourseBringsItsCorpus(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a [course]")
	write := func(path, text string) {
		file := filepath.Join(root, filepath.FromSlash(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	write("solutions/ring/ring.go", "package ring\n\nconst size = 1\n")
	write("exercises/ring/ring.go", "package ring\n")
	folder := corpus.Folder("ring")
	write(folder+"/right/two.go", "package ring\n\nconst size = 2\n")
	write(folder+"/some.diff", "-- half/x --\nfrom skeleton\n//cudalab:next 1b\n\n package ring\n+\n+var x int\n"+
		"\n-- cheat/x --\nfrom right/two\n//cudalab:refused\n\n-const size = 2\n+const size = 3\n")
	_, err := corpus.Programs(root, "ring")
	require.EqualError(t, err, folder+" has no program of kind wrong: write one, in wrong.diff or as wrong/<name>.go")
	write(folder+"/more.diff", "-- wrong/x --\nfrom solution\n//cudalab:fails size\n\n-const size = 1\n+const size = 0\n")
	programs, err := corpus.Programs(root, "ring")
	require.NoError(t, err)
	require.Equal(t, []corpus.Program{
		{Kind: corpus.Solution, Text: "package ring\n\nconst size = 1\n"},
		{Kind: corpus.Skeleton, Text: "package ring\n"},
		{Kind: corpus.Half, Name: "x", Base: "skeleton", Text: "//cudalab:next 1b\npackage ring\n\nvar x int\n"},
		{Kind: corpus.Right, Name: "two", Text: "package ring\n\nconst size = 2\n"},
		{Kind: corpus.Wrong, Name: "x", Base: "solution", Text: "//cudalab:fails size\npackage ring\n\nconst size = 0\n"},
		{Kind: corpus.Cheat, Name: "x", Base: "right/two", Text: "//cudalab:refused\npackage ring\n\nconst size = 3\n"},
	}, programs)
	write(folder+"/more.diff", "-- wrong/x --\nfrom solution\n\n-const size = 2\n+const size = 0\n")
	_, err = corpus.Programs(root, "ring")
	require.EqualError(t, err, folder+
		`/more.diff:4: wrong/x: solution has no line "const size = 2": write it as it is there`)
}
