package mutants

import (
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/edits"
)

// mutantsOf are the mutants of a file with these declarations, behind the imports that the solutions have.
func mutantsOf(t *testing.T, declarations string) map[string]string {
	t.Helper()
	c := &edits.Code{Path: "cudalab/solutions/asyncpipeline", Set: token.NewFileSet()}
	var err error
	c.Importer, err = edits.Compiled("../../..", c.Set, c.Path)
	require.NoError(t, err)
	require.NoError(t, c.Add("one.go", "package asyncpipeline\n\n"+declarations))
	require.NoError(t, c.Resolve())
	texts := map[string]string{}
	for _, m := range mutantsIn(c, c.Files[0]) {
		require.NotContains(t, texts, m.ID)
		texts[m.ID] = m.Text
	}
	return texts
}

func TestOperators(t *testing.T) {
	imports := "import (\n\t\"errors\"\n\t\"fmt\"\n\n\t\"cudalab/exercises/contract\"\n\t\"cudalab/native/cuda\"\n)\n\n" +
		"var _, _, _, _ = errors.New, fmt.Sprint, contract.ErrSize, cuda.Malloc\n\n"
	for _, c := range []struct {
		declarations string
		want         []string
	}{
		{"func f(n, m int) bool { return n < m }", []string{
			"f: boundary: n < m => n <= m", "f: negation: n < m => n >= m", "f: other variable: n < m => m < m",
			"f: other variable: n < m => n < n", "f: result: return n < m => return false"}},
		{"func f(n int) bool { return n<<1 == 0 && !g(n) }\nfunc g(int) bool { return true }", []string{
			"f: negation: n<<1 == 0 && !g(n) => !(n<<1 == 0 && !g(n))",
			"f: logic: n<<1 == 0 && !g(n) => ((n<<1 == 0) || (!g(n)))",
			"f: logic: n<<1 == 0 && !g(n) => n<<1 == 0", "f: logic: n<<1 == 0 && !g(n) => !g(n)",
			"f: arithmetic: n<<1 => n >> 1", "f: negation: n<<1 == 0 && !g(n) => n<<1 == 0 && g(n)",
			"f: boundary: n<<1 == 0 => n<<1 <= 0", "f: boundary: n<<1 == 0 => n<<1 >= 0", "f: constant: n<<1 => n<<2",
			"g: constant: return true => return false"}},
		{"type t struct{ n int }\nfunc (x *t) f() {\n\tfor i := range 3 {\n\t\tif i > 1 {\n\t\t\tbreak\n\t\t}\n\t\tx.n += " +
			"i\n\t}\n}", []string{
			"t.f: branch: break => continue", "t.f: deletion: break => nothing",
			"t.f: condition: if i > 1 { => if (i > 1) && false {",
			"t.f: deletion: x.n += i => nothing", "t.f: arithmetic: x.n += i => x.n -= i",
			"t.f: arithmetic: x.n += i => x.n = i",
			"t.f: range: for i := range 3 { => for i := range 3 + 1 {", "t.f: loop once: for i := range 3 { => break"}},
		{"func f(a, b cuda.Stream, e cuda.Event) error {\n\tif err := cuda.EventRecord(e, a); err != nil {\n\t\treturn " +
			"err\n\t}\n\tif err := cuda.StreamSynchronize(b); err != nil {\n\t\treturn err\n\t}\n" +
			"\treturn cuda.StreamWaitEvent(b, e)\n}", []string{
			"f: swap of statements: if err := cuda.EventRecord(e, a); err != nil { => if err := " +
				"cuda.StreamSynchronize(b); err != nil {",
			"f: deletion: if err := cuda.EventRecord(e, a); err != nil { => nothing",
			"f: other variable: cuda.EventRecord(e, a) => cuda.EventRecord(e, b)",
			"f: default stream: cuda.StreamWaitEvent(b, e) => cuda.StreamWaitEvent(cuda.Stream{}, e)",
			"f: result: if err := cuda.EventRecord(e, a); err != nil { => nil",
			"f: result: return cuda.StreamWaitEvent(b, e) => return nil",
			"f: result: return cuda.StreamWaitEvent(b, e) => _ = cuda.StreamWaitEvent(b, e)"}},
		{"func f(p cuda.DevicePtr) (err error) {\n\tdefer func() { err = errors.Join(err, cuda.Free(p)) }()\n\treturn " +
			"g(p)\n}\nfunc g(p cuda.DevicePtr) error { return fmt.Errorf(\"%d: %w\", p, contract.ErrFull) }", []string{
			"f: at once: defer func() { err = errors.Join(err, cuda.Free(p)) }() => func() { err = errors.Join(err, " +
				"cuda.Free(p)) }()",
			"f: error left out: errors.Join(err, cuda.Free(p)) => errors.Join(err)",
			"f: error left out: errors.Join(err, cuda.Free(p)) => errors.Join(cuda.Free(p))",
			"g: unwrapped error: fmt.Errorf(\"%d: %w\", p, contract.ErrFull) => fmt.Errorf(\"%d: %v\", p, contract.ErrFull)",
			"g: wrong sentinel: fmt.Errorf(\"%d: %w\", p, contract.ErrFull) => fmt.Errorf(\"%d: %w\", p, " +
				"contract.ErrInvalidFree)"}},
		{"func f(x []int, l contract.Sample) contract.Sample {\n\tx = x[1:]\n\treturn contract.Sample{Used: uint64(x[2]), " +
			"Reserved: l.Reserved}\n}", []string{
			"f: index: x[2] => x[0]", "f: slice bound: x[1:] => x[1+1:]", "f: field left out: Used: uint64(x[2]) => nothing",
			"f: field left out: Reserved: l.Reserved => nothing"}},
	} {
		require.Subset(t, slices.Sorted(maps.Keys(mutantsOf(t, imports+c.declarations))), c.want)
	}
}

// Where a change leaves nothing that uses a variable or an import, the mutant does without.
func TestWhatIsLeftUnused(t *testing.T) {
	made := mutantsOf(t, "import (\n\t\"errors\"\n\t\"fmt\"\n)\n\nfunc f(n int) error {\n\tm := n / 2\n\tif m > 1 "+
		"{\n\t\treturn fmt.Errorf(\"%d\", n)\n\t}\n\treturn errors.New(\"\")\n}")
	require.Contains(t, made["f: result: return errors.New(\"\") => return nil"], "import (\n\t\n\t\"fmt\"\n)")
	require.Contains(t, made["f: other variable: m > 1 => n > 1"], "m := n / 2; _ = m; ")
}

// What no one can tell from the solution is not worth a check: the values in an error's text, results beside an error,
// and comparisons that say the same.
func TestWhatIsLeftAlone(t *testing.T) {
	made := mutantsOf(t, "import \"fmt\"\n\nfunc f(n, m uint) (int, error) {\n\tif n == 0 {\n\t\treturn 0, "+
		"fmt.Errorf(\"%d\", n+m)\n\t}\n\treturn 3, nil\n}")
	for id := range made {
		require.NotContains(t, id, "n+m =>")
		require.NotContains(t, id, "return 1, fmt")
		require.NotContains(t, id, "n <= 0")
	}
	require.NotEmpty(t, made)
}

// A function's type is not the student's to choose: a mutant with another one could not be handed in.
func TestTypesOfFunctionsAreLeftAlone(t *testing.T) {
	made := mutantsOf(t, "func f(pair [2]int) int {\n\treturn pair[1] + 2\n}")
	require.Contains(t, made, "f: constant: pair[1] + 2 => pair[1] + 3")
	for _, text := range made {
		require.Contains(t, text, "func f(pair [2]int) int")
	}
}

// An ID stays when lines are added around what it is about.
func TestIDsAreStable(t *testing.T) {
	body := "func f(n int) int {\n\tif n < 1 {\n\t\treturn 0\n\t}\n\treturn n / 2\n}\n"
	more := "func e() int { return 1 }\n\n" + strings.Replace(body, "\treturn n", "\tn++\n\treturn n", 1)
	after := mutantsOf(t, more)
	for id := range mutantsOf(t, body) {
		require.Contains(t, after, id)
	}
}
