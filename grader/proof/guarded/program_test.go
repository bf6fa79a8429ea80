package guarded

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/corpus"
)

// small is a program that uses itself: it prints what two pools answer to each call.
const small = `package main

import (
	"errors"
	"fmt"
)

type Pool struct {
	name   string
	blocks []block
}

type block struct{ at, size int64 }

const step = 10

var errSize = errors.New("size")

func New(name string) (*Pool, error) {
	if name == "" {
		return nil, errSize
	}
	return &Pool{name, nil}, nil
}

func (p *Pool) Alloc(size int64) (int64, error) {
	if size < 1 {
		return 0, errSize
	}
	at := p.next()
	p.blocks = append(p.blocks, block{at, size})
	return at, nil
}

func (p *Pool) next() int64 { return step * int64(len(p.blocks)) }

func (p *Pool) Free() int { return len(p.blocks) }

func main() {
	for _, name := range []string{"a", "bb"} {
		p, _ := New(name)
		for _, size := range []int64{1, 100, 0, 2} {
			at, err := p.Alloc(size)
			if err != nil {
				at = -1
			}
			fmt.Print(at, " ")
		}
		fmt.Print(p.Free(), "; ")
	}
	fmt.Println()
}
`

// wrongOnes are small with some texts replaced.
func wrongOnes() (all []corpus.Program) {
	for _, w := range [][]string{
		{"constant", "step = 10", "step = 11"},
		{"method", "return step *", "return 7 + step *"},
		{"field", "name   string", "freed int\n\tname string", "Pool{name, nil}", "Pool{9, name, nil}",
			"return len(p.blocks)", "return p.freed"},
		{"type", "type block struct{ at, size int64 }", "type block [2]int64\n\nfunc (b block) at() int64 { return b[0] }",
			"at := p.next()", "at := block{p.next()}.at() + 3"},
		{"function", "return &Pool{name, nil}, nil", "return fresh(name + \"!\"), nil", "func main()",
			"func fresh(name string) *Pool { return &Pool{name: name, blocks: make([]block, 1)} }\n\nfunc main()"},
	} {
		all = append(all, corpus.Program{Kind: corpus.Wrong, Name: w[0],
			Text: strings.NewReplacer(w[1:]...).Replace(small)})
	}
	return all
}

func TestGuardedPrograms(t *testing.T) {
	base := corpus.Program{Kind: corpus.Solution, Text: small}
	l, err := newLoader("../../..", "ring", []string{small})
	require.NoError(t, err)
	p, left, err := l.combine(base, wrongOnes())
	require.NoError(t, err)
	require.Empty(t, left)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(p.Text), 0o600))
	build := exec.Command("go", "build", "-o", "program", "main.go")
	build.Dir = folder
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s\n%s", said, p.Text)
	program, err := os.ReadFile(filepath.Join(folder, "program"))
	require.NoError(t, err)
	run := func(file []byte, err error) string {
		require.NoError(t, err)
		name := filepath.Join(folder, "chosen")
		require.NoError(t, writeProgram(name, file))
		said, err := exec.Command(name).CombinedOutput()
		require.NoError(t, err, "%s", said)
		return strings.TrimSpace(strings.Replace(string(said), entered, "", 1))
	}
	const right = "0 10 -1 20 3; 0 10 -1 20 3;"
	require.Equal(t, right, run(with(program)))
	for _, c := range []struct{ wrong, predicate, want string }{
		{"constant", "Pool.Alloc: size >= 64", "0 11 -1 20 3; 0 11 -1 20 3;"},
		{"constant", "New: always", "0 11 -1 22 3; 0 11 -1 22 3;"},
		{"method", "Pool.Alloc: size < 2", "7 10 -1 20 3; 7 10 -1 20 3;"},
		{"method", "Pool.Alloc: size == 1", "7 10 -1 20 3; 7 10 -1 20 3;"},
		{"method", "Pool.Alloc: call == 2", "0 17 -1 20 3; 0 10 -1 20 3;"},
		{"method", "Pool.Alloc: call of the instance >= 4", "0 10 -1 27 3; 0 10 -1 27 3;"},
		{"method", "Pool.Alloc: errors before >= 1", "0 10 -1 27 3; 7 17 -1 27 3;"},
		{"method", "Pool.Alloc: errors of the instance before >= 1", "0 10 -1 27 3; 0 10 -1 27 3;"},
		{"field", "New: call == 2", "0 10 -1 20 3; 0 10 -1 20 9;"},
		{"type", "New: len(name) == 1", "3 13 -1 23 3; 0 10 -1 20 3;"},
		{"function", "New: len(name) >= 2", "0 10 -1 20 3; 10 20 -1 30 4;"},
	} {
		require.Equal(t, c.want, run(chosen(program, find(t, p, c.wrong, c.predicate))), "%s where %s", c.wrong, c.predicate)
	}
	seen := seenIn(run(observing(program)))
	size := find(t, p, "method", "Pool.Alloc: size < 2").Predicate
	require.Equal(t, "0 2^0-2^1 2^6", seen.drawn(size.function, size.variable))
	ever, always := seen.Holds(size)
	require.True(t, ever)
	require.False(t, always)
	ever, _ = seen.Holds(find(t, p, "method", "Pool.Alloc: size >= 2^7").Predicate)
	require.False(t, ever)
	require.Equal(t, seen.like(find(t, p, "method", "Pool.Alloc: size >= 64").Predicate),
		seen.like(find(t, p, "method", "Pool.Alloc: size >= 4").Predicate), "no size lies between")
}

// find is a pair.
func find(t *testing.T, p *Program, wrong, predicate string) Pair {
	t.Helper()
	for _, w := range p.Wrong {
		for _, f := range p.functions {
			for _, q := range f.predicates() {
				if pair, ok := p.pair(w, q); ok && w.Name == wrong && q.String() == predicate {
					return pair
				}
			}
		}
	}
	require.Fail(t, "no such pair", "%s where %s", wrong, predicate)
	return Pair{}
}

func TestPairsThatCannotBe(t *testing.T) {
	l, err := newLoader("../../..", "ring", []string{small})
	require.NoError(t, err)
	p, _, err := l.combine(corpus.Program{Text: small}, wrongOnes())
	require.NoError(t, err)
	of := func(wrong string) (functions []string) {
		for _, w := range p.Wrong {
			for _, f := range p.functions {
				if _, ok := p.pair(w, Predicate{Kind: OneCall, function: f}); ok && w.Name == wrong {
					functions = append(functions, f.name)
				}
			}
		}
		return functions
	}
	require.Equal(t, []string{"New", "Pool.Alloc", "Pool.Free"}, of("method"), "Alloc may be wrong from a Free on")
	require.Equal(t, []string{"New"}, of("field"), "what New leaves in a field of its own, Free relies on")
}

func TestWhatCannotStandBeside(t *testing.T) {
	l, err := newLoader("../../..", "ring", []string{small})
	require.NoError(t, err)
	for text, why := range map[string]string{
		strings.Replace(small, "Free() int", "Free(by int) int", 1):    "not enough arguments",
		strings.Replace(small, "Free() int", "Free(by ...int) int", 1): "Pool.Free: " + errExported.Error(),
		small: "no function of it is another",
		strings.Replace(small, "package main", "package main\n\nfunc", 1): "expected",
	} {
		_, left, err := l.combine(corpus.Program{Text: small}, []corpus.Program{{Text: text}})
		require.NoError(t, err)
		require.Len(t, left, 1)
		require.ErrorContains(t, left[0].Why, why)
	}
}
