package ptx

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	programs = flag.Int("programs", 60, "how `many` programs are drawn")
	seed     = flag.Uint64("seed", 0, "what they are drawn from; 0 is a fresh `seed`")
)

// An outcome is what a drawn function has answered for some arguments, and left in its word.
type outcome struct {
	X, Y, Word uint64 // before
	Offset     uint64
	OK         bool
	Left       uint64 // in the word
	Panicked   bool
}

// TestDrawnProgramsDoWhatGoDoes has Go and a machine for PTX carry out the same drawn functions.
func TestDrawnProgramsDoWhatGoDoes(t *testing.T) {
	from := *seed
	if from == 0 {
		from = rand.Uint64()
	}
	g := &drawing{Rand: rand.New(rand.NewPCG(from, 0))}
	const head = "package main\n\nimport \"cudalab/exercises/contract\"\n"
	var functions []string
	for i := range *programs {
		functions = append(functions, g.function(i))
	}
	const inputs = 12
	var asks []outcome
	for range *programs * inputs {
		asks = append(asks, outcome{X: g.number(), Y: g.number(), Word: g.number()})
	}
	answers := carriedOutByGo(t, head+strings.Join(functions, ""), *programs, asks)
	returned := 0
	for i := range *programs {
		text, err := Translate(map[string][]byte{"p.go": []byte(head + functions[i])}, fmt.Sprintf("f%d", i), "alloc")
		require.NoError(t, err, "seed %d", from)
		m, err := load(text)
		require.NoError(t, err)
		for _, want := range answers[i*inputs:][:inputs] {
			w := alone(want.Word)
			result, status, err := m.run(&w, 0, want.X, want.Y)
			require.NoError(t, err, "seed %d, f%d", from, i)
			require.NotEqual(t, TooManyTurns, status)
			require.Equal(t, want.Panicked, status != Returned, "seed %d, f%d of %+v", from, i, want)
			if want.Panicked {
				continue
			}
			returned++
			got := outcome{want.X, want.Y, want.Word, result(0), result(1) == 1, uint64(w), false}
			require.Equal(t, want, got, "seed %d, f%d:\n%s", from, i, functions[i])
		}
	}
	require.Greater(t, returned, len(asks)/2, "most return")
}

const mainText = `package main

import (
	"encoding/json"
	"os"
	"cudalab/exercises/contract"
)

type word uint64

func (w *word) Load() uint64 { return uint64(*w) }
func (w *word) Add(v uint64) uint64 { old := *w; *w += word(v); return uint64(old) }
func (w *word) CompareAndSwap(c, v uint64) uint64 {
	old := uint64(*w)
	if old == c { *w = word(v) }
	return old
}

type outcome struct {
	X, Y, Word, Offset uint64
	OK bool
	Left uint64
	Panicked bool
}

func one(f func(contract.Word, uint64, uint64) (uint64, bool), o *outcome) {
	defer func() { o.Panicked = recover() != nil }()
	w := word(o.Word)
	o.Offset, o.OK = f(&w, o.X, o.Y)
	o.Left = uint64(w)
}

func main() {
	var asks []outcome
	if err := json.NewDecoder(os.Stdin).Decode(&asks); err != nil { panic(err) }
	for i := range asks { one(all[i/(len(asks)/len(all))], &asks[i]) }
	if err := json.NewEncoder(os.Stdout).Encode(asks); err != nil { panic(err) }
}
`

func carriedOutByGo(t *testing.T, code string, n int, asks []outcome) (answers []outcome) {
	dir := t.TempDir()
	list := "package main\nimport \"cudalab/exercises/contract\"\n" +
		"var all = []func(contract.Word, uint64, uint64) (uint64, bool){"
	for i := range n {
		list += fmt.Sprintf("f%d, ", i)
	}
	for name, text := range map[string]string{"go.mod": "module cudalab\n\ngo 1.26\n", "main.go": mainText,
		"drawn.go": code, "list.go": list + "}\n", "exercises/contract/contract.go": contractText} {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	input, err := json.Marshal(asks)
	require.NoError(t, err)
	cmd := exec.Command("go", "run", ".")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(input)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	output, err := cmd.Output()
	require.NoError(t, err, complaint.String())
	require.NoError(t, json.Unmarshal(output, &answers))
	return answers
}

// drawing writes functions of Go that have an end. Only variables are reckoned with, and constants on the right: what
// Go's compiler would reckon with by itself it could refuse.
type drawing struct {
	*rand.Rand
	text      strings.Builder
	variables []variable // in scope
	names     int
	depth     int
}

type variable struct {
	name, kind string
	fixed      bool // counts a loop
}

var kinds = []string{"uint64", "uint64", "uint64", "int", "int64", "uint32", "int32", "uint16", "int16", "uint8",
	"int8"}

// most of a kind is what fits into it; its sign is always right.
var most = map[string]uint64{"uint64": 1<<64 - 1, "int": 1<<63 - 1, "int64": 1<<63 - 1, "uint32": 1<<32 - 1,
	"int32": 1<<31 - 1, "uint16": 1<<16 - 1, "int16": 1<<15 - 1, "uint8": 1<<8 - 1, "int8": 1<<7 - 1}

// number is small, near a power of two, or anything.
func (g *drawing) number() uint64 {
	switch g.IntN(4) {
	case 0:
		return g.Uint64N(40)
	case 1:
		return 1<<g.IntN(64) + g.Uint64N(3) - 1
	}
	return g.Uint64() >> g.IntN(64)
}

func (g *drawing) line(format string, args ...any) { fmt.Fprintf(&g.text, format+"\n", args...) }

func (g *drawing) fresh() string { g.names++; return fmt.Sprintf("v%d", g.names) }

func (g *drawing) function(i int) string {
	g.text.Reset()
	g.line("func h%d(a int32, b uint64) (uint64, int8) {", i)
	g.variables = []variable{{"a", "int32", false}, {"b", "uint64", false}}
	g.statements(2)
	g.line("return %s, %s\n}", g.expression("uint64", 2), g.expression("int8", 2))
	g.line("func f%d(w contract.Word, x, y uint64) (offset uint64, ok bool) {", i)
	g.variables = []variable{{"x", "uint64", false}, {"y", "uint64", false}, {"offset", "uint64", false}}
	g.line("type mine int16; var m mine; _ = m")
	g.variables = append(g.variables, variable{"m", "mine", false})
	g.statements(3)
	first, second := g.fresh(), g.fresh()
	g.line("%s, %s := h%d(%s, %s); _, _ = %[1]s, %[2]s", first, second, i, g.expression("int32", 1),
		g.expression("uint64", 1))
	g.variables = append(g.variables, variable{first, "uint64", false}, variable{second, "int8", false})
	g.statements(3)
	closure := g.fresh()
	g.line("%s := func(c uint16) uint64 {", closure)
	scope := len(g.variables)
	g.variables = append(g.variables, variable{"c", "uint16", false})
	g.statements(2)
	g.line("return %s }", g.expression("uint64", 2))
	g.variables = g.variables[:scope]
	g.line("offset = %s(%s)", closure, g.expression("uint16", 1))
	g.statements(2)
	g.line("y = %s(%s)", closure, g.expression("uint16", 1))
	g.line("return %s, %s\n}", g.expression("uint64", 3), g.condition(3))
	return g.text.String()
}

func (g *drawing) statements(n int) {
	for range 1 + g.IntN(n) {
		g.statement()
	}
}

// block has a scope of its own.
func (g *drawing) block(n int) {
	scope := len(g.variables)
	g.statements(n)
	g.variables = g.variables[:scope]
}

func (g *drawing) statement() {
	g.depth++
	defer func() { g.depth-- }()
	choice := g.IntN(10)
	if g.depth > 3 {
		choice = g.IntN(4)
	}
	switch choice {
	case 0:
		kind := kinds[g.IntN(len(kinds))]
		value := g.expression(kind, 3)
		name := g.fresh()
		g.line("var %s %s = %s; _ = %[1]s", name, kind, value)
		g.variables = append(g.variables, variable{name, kind, false})
	case 1:
		if v, ok := g.assignable(); ok {
			g.line("%s = %s", v.name, g.expression(v.kind, 3))
		}
	case 2:
		if v, ok := g.assignable(); ok {
			op := []string{"+", "-", "*", "&", "|", "^", "&^"}[g.IntN(7)]
			g.line("%s %s= %s", v.name, op, g.expression(v.kind, 2))
		}
	case 3:
		if v, ok := g.assignable(); ok {
			g.line("%s%s", v.name, []string{"++", "--"}[g.IntN(2)])
		}
	case 4, 5:
		g.line("if %s {", g.condition(2))
		g.block(2)
		if g.IntN(2) == 0 {
			g.line("} else if %s {", g.condition(1))
			g.block(2)
			g.line("} else {")
			g.block(2)
		}
		g.line("}")
	case 6:
		name := g.fresh()
		g.line("for %s := range %d {", name, g.IntN(4))
		g.loop(variable{name, "int", true})
	case 7:
		name := g.fresh()
		g.line("for %s := uint64(%d); %[1]s > 0 && %[3]s; %[1]s-- {", name, 1+g.IntN(4), g.condition(1))
		g.loop(variable{name, "uint64", true})
	case 8:
		kind := kinds[g.IntN(len(kinds))]
		g.line("switch %s {", g.expression(kind, 1))
		for i := range 1 + g.IntN(3) {
			g.line("case %d, %s:", i, g.expression(kind, 1))
			g.block(2)
			if g.IntN(4) == 0 {
				g.line("fallthrough")
			}
		}
		g.line("default:")
		g.block(2)
		g.line("}")
	case 9:
		g.line("switch { case %s:", g.condition(2))
		g.block(2)
		g.line("case %s:", g.condition(2))
		g.block(2)
		g.line("}")
	}
}

// loop is the rest of one whose head is written.
func (g *drawing) loop(counter variable) {
	scope := len(g.variables)
	g.line("_ = %s", counter.name)
	g.variables = append(g.variables, counter)
	g.statements(2)
	if g.IntN(2) == 0 {
		g.line("if %s { %s }", g.condition(1), []string{"break", "continue"}[g.IntN(2)])
		g.statements(1)
	}
	g.variables = g.variables[:scope]
	g.line("}")
}

func (g *drawing) assignable() (variable, bool) {
	v := g.variables[g.IntN(len(g.variables))]
	return v, !v.fixed
}

// of is a variable of a kind, or one that is made one.
func (g *drawing) of(kind string) string {
	for range 3 {
		if v := g.variables[g.IntN(len(g.variables))]; v.kind == kind {
			return v.name
		}
	}
	return fmt.Sprintf("%s(%s)", kind, g.variables[g.IntN(len(g.variables))].name)
}

func (g *drawing) expression(kind string, depth int) string {
	if depth == 0 || g.IntN(5) == 0 {
		return g.of(kind)
	}
	left := g.expression(kind, depth-1)
	switch g.IntN(9) {
	case 0:
		return fmt.Sprintf("(%s %s %d)", left, []string{"+", "-", "*", "&", "|", "^", "&^"}[g.IntN(7)],
			g.number()%(g.most(kind)+1-g.most(kind)/(1<<63)))
	case 1:
		return fmt.Sprintf("(%s %s %d)", left, []string{"<<", ">>"}[g.IntN(2)], g.IntN(70))
	case 2:
		return fmt.Sprintf("(%s %s %s)", left, []string{"<<", ">>"}[g.IntN(2)], g.expression("uint8", depth-1))
	case 3:
		return fmt.Sprintf("(%s %s (%s | 1))", left, []string{"/", "%"}[g.IntN(2)], g.expression(kind, depth-1))
	case 4:
		return fmt.Sprintf("%s(%s, %s)", []string{"min", "max"}[g.IntN(2)], left, g.expression(kind, depth-1))
	case 5:
		return fmt.Sprintf("(%s%s)", []string{"-", "^", "+"}[g.IntN(3)], left)
	case 6:
		return fmt.Sprintf("%s(%s)", kind, g.expression(kinds[g.IntN(len(kinds))], depth-1))
	case 7:
		if g.IntN(20) == 0 { // may be a division by zero, or a shift by less than nothing
			return fmt.Sprintf("(%s / %s)", left, g.expression(kind, depth-1))
		} else if g.IntN(20) == 0 {
			return fmt.Sprintf("(%s << %s)", left, g.expression("int8", depth-1))
		}
		fallthrough
	default:
		return fmt.Sprintf("(%s %s %s)", left, []string{"+", "-", "*", "&", "|", "^", "&^"}[g.IntN(7)],
			g.expression(kind, depth-1))
	}
}

func (g *drawing) most(kind string) uint64 {
	if kind == "mine" {
		return most["int16"]
	}
	return most[kind]
}

func (g *drawing) condition(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		kind := kinds[g.IntN(len(kinds))]
		return fmt.Sprintf("%s %s %s", g.expression(kind, 1), []string{"==", "!=", "<", "<=", ">", ">="}[g.IntN(6)],
			g.expression(kind, 1))
	}
	switch g.IntN(4) {
	case 0:
		return fmt.Sprintf("!(%s)", g.condition(depth-1))
	case 1:
		return fmt.Sprintf("((%s) == (%s))", g.condition(depth-1), g.condition(depth-1))
	}
	return fmt.Sprintf("((%s) %s (%s))", g.condition(depth-1), []string{"&&", "||"}[g.IntN(2)], g.condition(depth-1))
}
