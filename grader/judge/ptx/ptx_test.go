package ptx

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// alone is a word that only one thread has.
type alone uint64

func (w *alone) Load() uint64 { return uint64(*w) }
func (w *alone) Add(v uint64) uint64 {
	old := *w
	*w += alone(v)
	return uint64(old)
}
func (w *alone) CompareAndSwap(compare, value uint64) uint64 {
	old := uint64(*w)
	if old == compare {
		*w = alone(value)
	}
	return old
}

func translated(t *testing.T, body string) *machine {
	text, err := Translate(map[string][]byte{"p.go": []byte(body)}, "Alloc", "alloc")
	require.NoError(t, err, body)
	m, err := load(text)
	require.NoError(t, err, text)
	return m
}

func TestTranslatedSolutionAllocates(t *testing.T) {
	text, err := os.ReadFile("../../../solutions/devicebump/devicebump.go")
	require.NoError(t, err)
	m := translated(t, string(text))
	var w alone
	for _, ask := range []struct {
		capacity, size, offset uint64
		ok                     bool
	}{{64, 1, 0, true}, {64, 0, 0, false}, {64, 32, 16, true}, {64, 17, 0, false}, {64, 1 << 63, 0, false},
		{64, 16, 48, true}, {64, 1, 0, false}} {
		result, status, err := m.run(&w, 0, ask.capacity, ask.size)
		require.NoError(t, err)
		assert.Equal(t, Returned, status)
		assert.Equal(t, ask.ok, result(1) == 1, ask)
		if ask.ok {
			assert.Equal(t, ask.offset, result(0), ask)
		}
	}
	assert.EqualValues(t, 64, w)
}

func TestExplainHasTheLinesOfGoAndTheSameInstructions(t *testing.T) {
	text := "package p\nfunc Alloc(x uint64) uint64 {\n\tx += 2 // \x1b[31m\n\treturn x\n}\n"
	files := map[string][]byte{"p.go": []byte(text)}
	plain, err := Translate(files, "Alloc", "alloc")
	require.NoError(t, err)
	explained, err := Explain(files, "Alloc", "alloc")
	require.NoError(t, err)
	var without strings.Builder
	var lines []string
	for line := range strings.Lines(explained) {
		if comment, is := strings.CutPrefix(line, "\t// "); is {
			lines = append(lines, strings.TrimSpace(comment))
		} else {
			without.WriteString(line)
		}
	}
	assert.Equal(t, plain, without.String())
	assert.Equal(t, []string{`3: x += 2 // \x1b[31m`, "4: return x"}, lines)
}

// TestTranslate has what Go says of each construct that drawn programs do not reach.
func TestTranslate(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       uint64
		status     Status
	}{
		{"closure in place", `return func(y uint64) uint64 { x += y; return x }(x + 1), true`, 11, Returned},
		{"closure in a variable", `up := func() { x++ }; up(); up(); return x, true`, 7, Returned},
		{"closure that returns early", `f := func(a uint64) uint64 { if a > 3 { return 1 }; return 2 }
			return f(x)*10 + f(1), true`, 12, Returned},
		{"range over a number", `var sum uint64; for i := range x { sum += i }; return sum, true`, 10, Returned},
		{"range without a variable", `for range 3 { x++ }; return x, true`, 8, Returned},
		{"range variable that is assigned to", `n := 0; for i := range 4 { i += 2; n++ }; return uint64(n), true`, 4,
			Returned},
		{"continue with a label", `n := uint64(0)
			outer: for i := range x { for j := range x { if j > i { continue outer }; n++ } }; return n, true`, 15, Returned},
		{"break of a switch in a loop", `n := uint64(0); for i := range x { switch { case i == 2: break; default: n++ } }
			return n, true`, 4, Returned},
		{"switch with a value", `switch y := x * 2; y { case 9, 10: return 1, true; default: return 2, true }`, 1, Returned},
		{"fallthrough", `switch { case x == 5: x = 1; fallthrough; case x > 100: x += 10 }; return x, true`, 11, Returned},
		{"default that stands first", `switch x { default: return 1, true; case 5: return 2, true }`, 2, Returned},
		{"shadowing", `y := x; { y := y + 1; x = y }; return x*10 + y, true`, 65, Returned},
		{"swap", `y := x + 1; x, y = y, x; return x*10 + y, true`, 65, Returned},
		{"named results", `offset, ok = x, true; return`, 5, Returned},
		{"helper with several results", `a, b := twice(x); return a + b, true`, 16, Returned},
		{"helper that is handed several results", `return add(twice(x)), true`, 16, Returned},
		{"helper twice in one expression", `return add(x, 1)*100 + add(x, 2), true`, 607, Returned},
		{"helper of its own results", `return add(add(x, 1), add(1, 1)), true`, 8, Returned},
		{"method of a number", `return uint64(number(x).next()), true`, 6, Returned},
		{"call of itself as the last thing", `return down(x, 0), true`, 15, Returned},
		{"local constants and types", `const k = 3; type mine uint64; var y mine = k; return uint64(y) + x, true`, 8,
			Returned},
		{"limits", `if x < math.MaxUint64-contract.NoRoom+6 { return 1, true }; return 2, true`, 1, Returned},
		{"loop without an end", `for { }`, 0, TooManyTurns},
		{"recursion without an end", `return forever(x), true`, 0, TooManyTurns},
		{"division by zero", `y := x - 5; return x / y, true`, 0, DividedByZero},
		{"remainder by zero in a helper", `return over(x, x-5), true`, 0, DividedByZero},
		{"shift by a negative number", `y := -int(x); return x << y, true`, 0, ShiftedByNegative},
		{"panic", `if x == 5 { panic("five") }; return x, true`, 0, Panicked},
		{"word in a helper", `return taken(w) + x, true`, 12, Returned},
		{"word in another variable", `v := w; v.Add(1); return v.Load(), true`, 8, Returned},
		{"short circuit", `if x == 0 && w.Add(1) == 7 || x == 5 { return w.Load(), true }; return 0, true`, 7, Returned},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := translated(t, `package p
import ("math"; "cudalab/exercises/contract")
const _ = math.MaxInt
type number uint64
func (n number) next() number { return n + 1 }
func twice(x uint64) (uint64, uint64) { return 2 * x, x + 1 }
func add(a, b uint64) uint64 { return a + b }
func over(a, b uint64) uint64 { return a % b }
func taken(w contract.Word) uint64 { return w.Load() }
func down(n, sum uint64) uint64 { if n == 0 { return sum }; return down(n-1, sum+n) }
func forever(n uint64) uint64 { return forever(n + 1) }
func Alloc(w contract.Word, x uint64) (offset uint64, ok bool) { `+c.code+`
}`)
			w := alone(7)
			result, status, err := m.run(&w, 0, 5)
			require.NoError(t, err)
			assert.Equal(t, c.status, status)
			if c.status == Returned {
				assert.Equal(t, c.want, result(0))
			}
		})
	}
}

func TestTranslateRefusesWhatThreadsDoNotHave(t *testing.T) {
	for _, c := range []struct{ code, what string }{
		{`sizes := []uint64{1, 2}; return sizes[x], true`, "a slice"},
		{`var sizes [2]uint64; return sizes[x], true`, "an array"},
		{`return uint64(bits.Len64(x)), true`, "bits.Len64, which is no function of this package"},
		{`y := bits.Len64(x); _ = y; return x, true`, "bits.Len64, which is no function of this package"},
		{`count++; return x, true`, "count, a variable of the package, which threads of a GPU do not share with the host"},
		{`return x + fixed, true`, "fixed, a variable of the package, which threads of a GPU do not share with the host"},
		{`f := func() uint64 { return x }; f = func() uint64 { return 1 }; return f(), true`,
			"a closure that is kept or handed on"},
		{`f := twice; return f(x), true`, "a function that is kept or handed on"},
		{`y := bits.UintSize * x; return y, true`, "bits.UintSize, from another package"},
		{`return apply(func() uint64 { return x }), true`, "a closure that is kept or handed on"},
		{`defer w.Load(); return x, true`, "defer"},
		{`go w.Load(); return x, true`, "go: a thread starts no other"},
		{`p := &x; return *p, true`, "an address"},
		{`return uint64(float64(x) * 1.5), true`, "a number of type float64"},
		{`s := "a"; return uint64(len(s)), true`, "a string"},
		{`p := struct{ a uint64 }{x}; return p.a, true`, "a struct"},
		{`_, ok = w.(interface{ Steps() int }); return x, ok`, "a type assertion"},
		{`return x, w == nil`, "a comparison of words, not of what is in them"},
		{`load := w.Load; return load(), true`, "a method that is kept or handed on"},
		{`return fib(x), true`, "fib, which calls itself"},
		{`return generic(x), true`, "generic, a generic function"},
		{`return many(x, x), true`, "many, which takes any number of arguments"},
		{`again: if x > 0 { x--; goto again }; return x, true`, "goto"},
		{`println(x); return x, true`, "println"},
		{`m := map[uint64]uint64{}; return m[x], true`, "a map"},
		{`var v contract.Word; _ = v; return x, true`, "a word that is nil"},
	} {
		t.Run(c.what, func(t *testing.T) {
			_, err := Translate(map[string][]byte{"p.go": []byte(`package p
import ("math/bits"; "cudalab/exercises/contract")
var count, fixed uint64
func apply(f func() uint64) uint64 { return f() }
func fib(n uint64) uint64 { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func generic[T uint64](n T) T { return n }
func twice(n uint64) uint64 { return 2 * n }
func many(n ...uint64) uint64 { return 0 }
func Alloc(w contract.Word, x uint64) (offset uint64, ok bool) {
` + c.code + `
}`)}, "Alloc", "alloc")
			var refusal *Refusal
			require.ErrorAs(t, err, &refusal)
			assert.Equal(t, c.what, refusal.What)
			assert.NotZero(t, refusal.Position.Line)
			assert.NotEmpty(t, refusal.Function)
		})
	}
}

func TestTranslateRefusesWhatGrowsWithoutBounds(t *testing.T) {
	code := "package p\nfunc f0(x uint64) uint64 { return x*x + 1 }\n"
	for i := range 30 {
		code += fmt.Sprintf("func f%d(x uint64) uint64 { return f%d(x) + f%d(x+1) }\n", i+1, i, i)
	}
	code += "func Alloc(x uint64) uint64 { return f30(x) }"
	_, err := Translate(map[string][]byte{"p.go": []byte(code)}, "Alloc", "alloc")
	var refusal *Refusal
	require.ErrorAs(t, err, &refusal)
	assert.Contains(t, refusal.What, "too long")
}
