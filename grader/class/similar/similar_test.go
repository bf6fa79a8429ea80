package similar_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/similar"
	"cudalab/grader/suites/course"
)

func program(id string, texts ...string) similar.Program {
	p := similar.Program{ID: id}
	for i, text := range texts {
		p.Files = append(p.Files, similar.File{Name: fmt.Sprintf("%d.go", i), Text: text})
	}
	return p
}

// function is one that no other one is like.
func function(name string, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	fmt.Fprintf(&b, "func %s(values []int64) int64 {\n", name)
	for range 12 {
		b.WriteString("\tvalues = values")
		for range 6 {
			fmt.Fprintf(&b, " %s %s(5)", []string{"+", "-", "*", "/", "&", "|", "<<", "^"}[r.IntN(8)],
				[]string{"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "len", "cap",
					"min", "max", "real"}[r.IntN(15)])
		}
		b.WriteString("\n")
	}
	return b.String() + "\treturn 0\n}\n\n"
}

func compared(t *testing.T, base *similar.Base, programs ...similar.Program) *similar.Result {
	t.Helper()
	r, err := similar.Compare(t.Context(), programs, base, similar.Options{})
	require.NoError(t, err)
	return r
}

func TestNamesLiteralsCommentsAndLayoutCountForNothing(t *testing.T) {
	a := "package a\n\nimport \"fmt\"\n\n" + function("f", 1) + function("g", 2)
	b := "package a\n\n// A comment.\nimport out \"fmt\"\n\n" + strings.ReplaceAll(strings.ReplaceAll(function("other", 2)+
		function("more", 1), "values", "v"), "\t", " /* ! */ ")
	r := compared(t, nil, program("a", a), program("b", b), program("c", "package a\n\n"+function("f", 3)+
		function("g", 4)))
	require.Len(t, r.Pairs, 1)
	require.Equal(t, []int{0, 1}, []int{r.Pairs[0].A, r.Pairs[0].B})
	require.InDelta(t, 1, r.Pairs[0].Score, 0.02)
	require.Equal(t, []similar.Group{{0, 1}}, r.Groups)
	require.Len(t, r.Pairs[0].Passages, 2, "the functions are the other way round")
}

func TestPassagesAreWhereTheySay(t *testing.T) {
	r := compared(t, nil, program("a", "package a\n\n"+function("f", 1), "package a\n\n"+function("g", 2)),
		program("b", "package a\n\n"+function("h", 5)+function("g", 2)))
	require.Len(t, r.Pairs, 1)
	require.Equal(t, similar.Span{File: 1, First: 3, Last: 17}, r.Pairs[0].Passages[0].A)
	require.Equal(t, similar.Span{File: 0, First: 19, Last: 33}, r.Pairs[0].Passages[0].B)
	require.InDelta(t, 0.5, r.Pairs[0].ShareA, 0.05)
}

// What a package calls something is no name of the author's, whatever the package is called in the file.
func TestAnotherNameForAPackage(t *testing.T) {
	text := func(name, imported string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "package a\n\nimport (\n\t%s \"cudalab/native/cuda\"\n)\n\nfunc f() {\n", imported)
		for _, call := range strings.Fields("Malloc MemGetInfo MemMap Memset MemUnmap MemFree MemCreate MemRelease MemPool " +
			"MemTrim") {
			fmt.Fprintf(&b, "\t%s.%s(a, b)\n", name, call)
		}
		return b.String() + "}\n"
	}
	r := compared(t, nil, program("a", text("cuda", "")), program("b", text("gpu", "gpu")),
		program("c", strings.ReplaceAll(text("cuda", ""), ".M", ".W")))
	require.Len(t, r.Pairs, 1)
	require.Equal(t, 1.0, r.Pairs[0].Score)
}

func TestWhatEverybodyWasGivenCountsForNothing(t *testing.T) {
	shared := function("given", 7)
	a, b := program("a", "package a\n\n"+shared+function("f", 1)), program("b", "package a\n\n"+shared+function("f", 2))
	require.Len(t, compared(t, nil, a, b).Pairs, 1)
	require.Empty(t, compared(t, similar.NewBase(similar.Source{Files: []string{"package a\n\n" + shared}},
		similar.Source{}), a, b).Pairs)
	require.Empty(t, compared(t, similar.NewBase(similar.Source{Markdown: []string{"Text.\n\n```go\n" + shared + "```\n"}},
		similar.Source{}), a, b).Pairs)
	all := similar.Source{Files: []string{"package a\n\n" + shared + function("f", 1) + function("f", 2)}}
	r := compared(t, similar.NewBase(all, similar.Source{}), a, b)
	require.True(t, r.Programs[0].TooLittle())
	require.False(t, r.Programs[0].AsSolution())
	r = compared(t, similar.NewBase(similar.Source{}, all), a, b)
	require.True(t, r.Programs[0].TooLittle())
	require.True(t, r.Programs[0].AsSolution(), "it is the solution's text, and not too short")
}

func TestSharedIsWhatManyHave(t *testing.T) {
	many := function("f", 7)
	for n, pairs := range map[int]int{12: 66, 13: 0, 25: 0} {
		var programs []similar.Program
		for i := range n {
			programs = append(programs, program(fmt.Sprint(i), "package a\n\n"+many+function("g", uint64(100+i))))
		}
		programs = append(programs, program("other", "package a\n\n"+function("f", 8)))
		r := compared(t, nil, programs...)
		require.Equal(t, 12, r.Common)
		require.Len(t, r.Pairs, pairs, "of %d", n)
		if pairs > 0 {
			require.Empty(t, r.Shared)
			continue
		}
		require.Len(t, r.Shared, 1)
		require.Len(t, r.Shared[0].In, n)
		require.NotContains(t, r.Shared[0].In, n, "the one who has something else")
		require.Len(t, r.Shared[0].Passages, 1)
		require.Equal(t, n, r.Shared[0].Passages[0].In)
		require.Equal(t, similar.Span{File: 0, First: 3, Last: 20}, r.Shared[0].Passages[0].Span,
			"with how the next function begins")
	}
}

// Two programs that share a passage of gramLength+window-1 tokens share a fingerprint, as the paper proves; so none
// that is above the threshold is missed: here each of many pairs is compared alone and in its class.
func TestNoPairIsLostInAClass(t *testing.T) {
	c, err := course.Open(root)
	require.NoError(t, err)
	check := newChecker(t)
	for _, e := range c.Exercises[:4] {
		base := baseOf(t, e)
		var programs []similar.Program
		for _, a := range classOf(t, check, e) {
			if len(programs) < 12 { // so few that nothing is commonplace
				programs = append(programs, a.Program)
			}
		}
		got := map[string]float64{}
		r := compared(t, base, programs...)
		for _, p := range r.Pairs {
			got[r.Programs[p.A].ID+" "+r.Programs[p.B].ID] = p.Score
		}
		want := map[string]float64{}
		for i, a := range programs {
			for _, b := range programs[i+1:] {
				alone, err := similar.Compare(t.Context(), []similar.Program{a, b}, base, similar.Options{Threshold: 1e-9})
				require.NoError(t, err)
				if len(alone.Pairs) > 0 && alone.Pairs[0].Score >= similar.DefaultThreshold {
					want[a.ID+" "+b.ID] = alone.Pairs[0].Score
				}
			}
		}
		require.Equal(t, want, got, e.Name)
	}
}

func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := "package a\n\n" + function("f", 1) + function("g", 2)
	_, err := similar.Compare(ctx, []similar.Program{program("a", a), program("b", a)}, nil, similar.Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// FuzzCompare gives it texts that may be anything. A text is like itself, whatever it is.
func FuzzCompare(f *testing.F) {
	a := "package a\n\n" + function("f", 1)
	f.Add(a, a)
	f.Add(a+function("g", 2), "package b; import . \"x\"; var _ = `\n"+a)
	f.Add(strings.Repeat("a.b ", 300), strings.Repeat("a.b ", 200))
	f.Add("import (\"\\x\" a", "import ( x. y. \x00 'a 1e /*")
	f.Fuzz(func(t *testing.T, a, b string) {
		r, err := similar.Compare(t.Context(), []similar.Program{program("a", a), program("b", b), program("c", a)}, nil,
			similar.Options{Threshold: 0.01})
		require.NoError(t, err)
		itself := r.Programs[0].TooLittle()
		for _, p := range r.Pairs {
			itself = itself || p.A == 0 && p.B == 2 && p.Score == 1
			require.LessOrEqual(t, p.Score, 1.0)
			for _, passage := range p.Passages {
				require.LessOrEqual(t, 1, passage.A.First)
				require.LessOrEqual(t, passage.A.First, passage.A.Last)
				require.LessOrEqual(t, passage.A.Last, strings.Count([]string{a, b, a}[p.A], "\n")+1)
			}
		}
		require.True(t, itself, "%v", r.Pairs)
	})
}

// BenchmarkClass is 1,000 submissions of one exercise: copies of the corpus's right programs, each in another order.
func BenchmarkClass(b *testing.B) {
	c, err := course.Open(root)
	require.NoError(b, err)
	check := newChecker(b)
	for _, name := range []string{"async-pipeline", "tracker"} {
		e, err := c.Find(name)
		require.NoError(b, err)
		base := baseOf(b, e)
		var right []string
		for _, a := range classOf(b, check, e) {
			if a.kind == "" {
				right = append(right, a.Files[0].Text)
			}
		}
		r := rand.New(rand.NewPCG(3, 4))
		var programs []similar.Program
		for i := range 1000 {
			made, _ := reordered(check, r, right[i%len(right)])
			programs = append(programs, program(fmt.Sprint(i), made))
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, err := similar.Compare(b.Context(), programs, base, similar.Options{})
				require.NoError(b, err)
				b.ReportMetric(float64(len(r.Pairs)), "pairs")
			}
		})
	}
}
