package mend

import (
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/edits"
)

// read is a package of one file, with types; the imports are those that exercises have.
func read(t *testing.T, set *token.FileSet, path, text string) *edits.Code {
	t.Helper()
	c := &edits.Code{Path: "cudalab/" + path, Set: set}
	var err error
	c.Importer, err = edits.Compiled("../../..", set, "cudalab/exercises/asyncpipeline", compile.Steps, "errors")
	require.NoError(t, err)
	require.NoError(t, c.Add("one.go", "package one\n\nimport \"cudalab/native/cuda\"\n\nvar _ = cuda.Malloc\n\n"+text))
	require.NoError(t, c.Resolve())
	return c
}

// texts are the lines that candidates make of a function.
func texts(all []*candidate) (lines []string) {
	for _, c := range all {
		_, now := (&Edit{candidate: c}).Lines()
		lines = append(lines, strings.TrimSpace(edits.Plain(strings.Join(now, " "))))
	}
	return lines
}

func TestDifferences(t *testing.T) {
	set := token.NewFileSet()
	own := read(t, set, "exercises/one", `
func send(s cuda.Stream, to cuda.DevicePtr, count int64) error {
	if err := cuda.StreamSynchronize(s); err != nil {
		return err
	}
	return cuda.MemsetAsync(to, 0, count, s)
}
`)
	theirs := read(t, set, "solutions/one", `
func send(stream cuda.Stream, p cuda.DevicePtr, n int64) error {
	return cuda.MemsetAsync(p+cuda.DevicePtr(n), 0, 4*n, stream)
}
`)
	found := texts(differences(functionsOf(own)[0], functionsOf(theirs)[0]))
	require.Contains(t, found, "return cuda.MemsetAsync(to, 0, 4*count, s)", "in the student's names")
	require.Contains(t, found, "return cuda.MemsetAsync(to+cuda.DevicePtr(count), 0, count, s)")
	require.Contains(t, found, "", "without what the solution has not")
}

func TestWriteTakesOutWhatDoesNotCompile(t *testing.T) {
	c := read(t, token.NewFileSet(), "exercises/one", `
type pool struct{ used int64 }

func (p *pool) take(n int64) int64 {
	rest := n + 1
	p.used += rest
	return p.used
}
`)
	f := functionsOf(c)[0]
	body := f.decl.Body.List
	replace := func(i int, text string) *candidate {
		ch := edits.Change{From: body[i].Pos(), To: body[i].End(), Text: text, Shown: body[i]}
		return &candidate{changes: []edits.Change{ch}, function: f}
	}
	good, unused, bad := replace(0, "rest := n"), replace(1, "p.used += n"), replace(1, "p.used += \"n\"")
	p, left, err := write(c, nil, []*candidate{good, replace(1, "p.used +"), unused, bad})
	require.NoError(t, err)
	require.Equal(t, []*candidate{good, unused}, left)
	text := p.texts[0]
	require.Contains(t, text, "_ = rest", "what nobody uses any more is no reason to leave a candidate out")
	require.Contains(t, text, "case 1:\nreturn r_.take"+mark+"1(p0)\n")
	require.Contains(t, text, "return r_.take"+mark+"0(p0)\n")
	require.NotContains(t, text, `"n"`)
}

func TestQuestionHasNothingOfTheEdit(t *testing.T) {
	c := read(t, token.NewFileSet(), "exercises/one", `
func send(s cuda.Stream, bytes, needed int64, to cuda.DevicePtr) error {
	return cuda.MemsetAsync(to, 0, bytes, s)
}
`)
	f := functionsOf(c)[0]
	at := strings.Index(f.file.Text, "bytes, s)")
	from := f.file.Syntax.FileStart + token.Pos(at)
	asked := func(text string) string {
		ch := edits.Change{From: from, To: from + token.Pos(len("bytes")), Text: text, Shown: f.decl.Body.List[0]}
		return (&Cause{Edit: &Edit{candidate: &candidate{changes: []edits.Change{ch}, function: f}}}).Question()
	}
	require.Equal(t, "How many bytes is this, and how many are needed?", asked("2*bytes"))
	require.Equal(t, "What is this line to do?", asked("needed"))
}

// What is put in behind a block may as well be put in before what follows, with comments between.
func TestWhatIsPutInStandsBeforeTheCodeThatFollows(t *testing.T) {
	c := read(t, token.NewFileSet(), "exercises/one", `
func send(p cuda.DevicePtr, s cuda.Stream) error {
	if s == (cuda.Stream{}) {
		return nil
	}

	// Nobody frees it.
	// Not even later.
	return nil
}
`)
	f := functionsOf(c)[0]
	body := f.decl.Body.List
	in := &candidate{function: f, changes: []edits.Change{{From: body[0].End(), To: body[0].End(), Text: "\nfree()\n"}}}
	instead := &candidate{function: f, changes: []edits.Change{{From: body[1].Pos(), To: body[1].End(), Text: "free()"}}}
	require.True(t, in.near(instead))
	require.True(t, instead.near(in))
	s := &Search{}
	s.Code = []check.Code{{Dir: "."}}
	require.Equal(t, s.place(instead).Line, s.place(in).Line, "and no line is named that only ends a block")
}

func TestMatchesAreInOrder(t *testing.T) {
	require.Equal(t, [][2]int{{0, 1}, {2, 2}}, matches([]string{"a", "x", "c"}, []string{"b", "a", "c"}))
	require.Empty(t, matches(nil, []string{"a"}))
}
