package compile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRefusals(t *testing.T) {
	imports := func(path string) string { return "package sample\n\nimport (\n\t\"fmt\"\n\t" + path + "\n)\n" }
	body := func(text string) string { return header + text }
	for name, c := range map[string]struct {
		text string
		rule Rule
		at   string // the line at fault holds this
		says string // and the refusal this, in its message, reason or way out
	}{
		"unsafe":             {imports(`"unsafe"`), RuleImport, `"unsafe"`, "cuda.DevicePtr"},
		"renamed":            {imports(`harmless "unsafe"`), RuleImport, `"unsafe"`, "memory safety"},
		"raw string":         {imports("`unsafe`"), RuleImport, "`unsafe`", "memory safety"},
		"blank":              {imports(`_ "embed"`), RuleImport, `"embed"`, "short list"},
		"os":                 {imports(`"os"`), RuleImport, `"os"`, "Return an error"},
		"os/exec":            {imports(`"os/exec"`), RuleImport, `"os/exec"`, "on the device alone"},
		"net/http":           {imports(`"net/http"`), RuleImport, `"net/http"`, "on the device alone"},
		"time":               {imports(`"time"`), RuleImport, `"time"`, "cuda.EventElapsedTime"},
		"sync/atomic":        {imports(`"sync/atomic"`), RuleImport, `"sync/atomic"`, "one goroutine"},
		"runtime/debug":      {imports(`"runtime/debug"`), RuleImport, `"runtime/debug"`, "finalizer"},
		"reflect":            {imports(`"reflect"`), RuleImport, `"reflect"`, "reflection"},
		"syscall":            {imports(`"syscall"`), RuleImport, `"syscall"`, "on the device alone"},
		"random":             {imports(`"math/rand/v2"`), RuleImport, `rand/v2"`, "same workload"},
		"cgo":                {imports(`"C"`), RuleImport, `"C"`, "cuda.MallocAsync"},
		"solution":           {imports(`"cudalab/solutions/sample"`), RuleImport, "solutions", "your own work"},
		"the driver":         {imports(`"cudalab/native/driver"`), RuleImport, "driver", "package cuda alone"},
		"the session":        {imports(`"cudalab/native/session"`), RuleImport, "session", "package cuda alone"},
		"the suite":          {imports(`"cudalab/grader/suites/sample"`), RuleImport, "suites", "package cuda alone"},
		"the oracle":         {imports(`"cudalab/kernels/oracle"`), RuleImport, "oracle", "package cuda alone"},
		"another exercise":   {imports(`"cudalab/exercises/slab"`), RuleImport, "slab", "one package"},
		"not quite allowed":  {imports(`"cudalab/kernels/"`), RuleImport, "kernels", ""},
		"relative":           {imports(`"./hidden"`), RuleImport, "hidden", "short list"},
		"from the network":   {imports(`"github.com/a/b"`), RuleImport, "github", "without a network"},
		"dot":                {imports(`. "strings"`), RuleImport, `"strings"`, "strings."},
		"go":                 {body("func f() {\n\tgo f()\n}\n"), RuleGoStatement, "go f()", "streams"},
		"go in a literal":    {body("var f = func() {\n\tgo func() {}()\n}\n"), RuleGoStatement, "go func", "streams"},
		"no body":            {body("\nfunc f(int) int\n"), RuleNoBody, "func f", "assembly"},
		"linkname":           {body("\n//go:linkname f runtime.f\nfunc f() {}\n"), RuleDirective, "//go:linkname", "linker"},
		"embed":              {body("\n//go:embed secret\nvar s string\n"), RuleDirective, "//go:embed", ""},
		"cgo directive":      {body("//go:cgo_import_dynamic x y z\n"), RuleDirective, "//go:cgo", ""},
		"nosplit":            {body("//go:nosplit\nfunc f() {}\n"), RuleDirective, "//go:nosplit", ""},
		"unknown directive":  {body("//go:noinlined\nfunc f() {}\n"), RuleDirective, "//go:noinlined", ""},
		"in a function":      {body("func f() {\n\t//go:debug x=1\n}\n"), RuleDirective, "//go:debug", ""},
		"constraint":         {"//go:build linux\n\npackage sample\n", RuleConstraint, "//go:build", "same program"},
		"old constraint":     {"// +build linux\n\npackage sample\n", RuleConstraint, "+build", "same program"},
		"line":               {body("//line other.go:7\nfunc f() {\n\tgo f()\n}\n"), RuleDirective, "//line", "real ones"},
		"line in the middle": {body("var x = /*line other.go:7:1*/ 3\n"), RuleDirective, "/*line", "real ones"},
		"other package":      {"package slab\n", RulePackage, "package slab", "package sample"},
		"test package":       {"package sample_test\n", RulePackage, "package sample_test", "package sample"},

		"init": {body("func init() { cuda.StreamCreate() }\n"), RuleEarlyCUDA, "func init",
			"cuda.StreamCreate"},
		"variable": {body("var s, err = cuda.StreamCreate()\n"), RuleEarlyCUDA, "var s", "variable s"},
		"second variable": {body("var (\n\ta = 1\n\tb = f(cuda.FreeAsync)\n)\n\nfunc f(any) int { return 1 }\n"),
			RuleEarlyCUDA, "b = f", "variable b"},
		"literal, called": {body("var s = func() int { cuda.StreamCreate(); return 1 }()\n"), RuleEarlyCUDA, "var s", ""},
		"through a function": {body("var s = f()\n\nfunc f() int { return g() }\n\nfunc g() int { cuda.StreamCreate(); " +
			"return 1 }\n"), RuleEarlyCUDA, "var s", "cuda.StreamCreate, through f, which uses g"},
		"through a method": {body("type t struct{}\n\nfunc (t) f() int { cuda.StreamCreate(); return 1 }\n\nvar s = " +
			"t{}.f()\n"), RuleEarlyCUDA, "var s", "through f"},
		"method expression": {body("type t struct{}\n\nfunc (t) f() int { cuda.StreamCreate(); return 1 }\n\nvar s = " +
			"t.f(t{})\n"), RuleEarlyCUDA, "var s", ""},
		"through a chain": {body("type t struct{}\n\nfunc (t) f() int { cuda.StreamCreate(); return 1 }\n\nvar s = " +
			"[1]t{}[0].f()\n"), RuleEarlyCUDA, "var s", ""},
		"type parameters": {body("var s = f[int]()\n\nfunc f[T any]() int { cuda.StreamCreate(); return 1 }\n"),
			RuleEarlyCUDA, "var s", ""},
		"kernels renamed": {"package sample\n\nimport k \"cudalab/kernels\"\n\nvar f = g(k.Process)\n\nfunc g(any) int " +
			"{ return 1 }\n", RuleEarlyCUDA, "var f", "kernels.Process"},
		"init through a var": {body("func init() { f() }\n\nvar f = func() { cuda.StreamCreate() }\n"), RuleEarlyCUDA,
			"func init", "cuda.StreamCreate, through f"}, "init, from a table": {body("func init() { t[0].f() }\n\nvar t = " +
			"[]struct{ f func() (cuda.Stream, error) }{{cuda.StreamCreate}}\n"), RuleEarlyCUDA, "func init",
			"cuda.StreamCreate, through t"},
		"variable of another": {body("var s, err = t[0]()\n\nvar t = []func() (cuda.Stream, error){f}\n\nfunc f() " +
			"(cuda.Stream, error) { return cuda.StreamCreate() }\n"), RuleEarlyCUDA, "var s",
			"cuda.StreamCreate, through t, which uses f"},
		"recursion": {body("var s = f(3)\n\nfunc f(n int) int {\n\tif n == 0 " +
			"{\n\t\tcuda.StreamCreate()\n\t}\n\treturn f(n - 1)\n}\n"), RuleEarlyCUDA, "var s", ""},
		"contract changed": {body("func f() { contract.ErrArgument = nil }\n"), RuleForeignVar, "func f",
			"contract.ErrArgument"},
		"in brackets": {body("func f() { (contract.ErrArgument) = nil }\n"), RuleForeignVar, "func f",
			"contract.ErrArgument"},
		"by its address": {body("func f() { p := &contract.ErrArgument; *p = nil }\n"), RuleForeignVar, "func f",
			"contract.ErrArgument"},
		"one of two": {body("func f() { var x error; x, contract.ErrArgument = nil, nil; _ = x }\n"), RuleForeignVar,
			"func f", ""},
		"by a loop": {body("func f(l []error) {\n\tfor _, contract.ErrArgument = range l {\n\t}\n}\n"),
			RuleForeignVar, "for _", ""},
		"incremented":         {body("func f() { contract.Count++ }\n"), RuleForeignVar, "func f", ""},
		"a part of something": {body("func f() { contract.Table[3].x = 1 }\n"), RuleForeignVar, "func f", "contract.Table"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"sample.go": c.text})
			r := built(t, request(dir))
			require.False(t, r.OK())
			require.NotEmpty(t, r.Refusals, "nothing was refused")
			refusal := r.Refusals[0]
			require.Equal(t, c.rule, refusal.Rule)
			require.Equal(t, filepath.Join(dir, "sample.go"), refusal.File)
			require.Equal(t, lineOf(t, c.text, c.at), refusal.Line)
			require.Positive(t, refusal.Col)
			require.Contains(t, strings.Join([]string{refusal.Message, refusal.Why, refusal.Fix}, " "), c.says)
			require.NotEmpty(t, refusal.Message)
			require.NotEmpty(t, refusal.Why)
			require.NotEmpty(t, refusal.Fix)
		})
	}
}

// A function in one file is reached from another.
func TestEarlyCUDAAcrossFiles(t *testing.T) {
	r := built(t, request(folder(t, map[string]string{
		"a.go": "package sample\n\nvar x = helper()\n",
		"b.go": header + "func helper() int { cuda.StreamCreate(); return 1 }\n",
	})))
	require.Len(t, r.Refusals, 1)
	require.Equal(t, RuleEarlyCUDA, r.Refusals[0].Rule)
	require.Equal(t, "a.go", filepath.Base(r.Refusals[0].File))
	require.Equal(t, 3, r.Refusals[0].Line)
}

// Two functions that call each other, one of which makes the call: neither may be taken for clean.
func TestEarlyCUDAInACycle(t *testing.T) {
	const cycle = `
func f(n int) int { return g(n - 1) }

func g(n int) int {
	if n > 0 {
		return f(n)
	}
	cuda.StreamCreate()
	return 0
}

var a, b, c = f(1), g(1), len("")
`
	r := built(t, request(folder(t, map[string]string{"sample.go": header + cycle})))
	require.Len(t, r.Refusals, 2)
	require.Contains(t, r.Refusals[0].Message, "variable a")
	require.Contains(t, r.Refusals[1].Message, "variable b")
}

func TestRefusalsAreBounded(t *testing.T) {
	r := built(t, request(folder(t, map[string]string{
		"sample.go": header + "func f() {\n" + strings.Repeat("\tgo f()\n", 1000) + "}\n" +
			strings.Repeat("var _, _ = cuda.StreamCreate()\n", 1000),
	})))
	require.Len(t, r.Refusals, maxRefusals)
}

func TestRefusedFiles(t *testing.T) {
	many := map[string]string{}
	for i := range maxFiles + 1 {
		many[fmt.Sprintf("f%d.go", i)] = "package sample\n"
	}
	much := map[string]string{}
	for i := range 5 {
		much[fmt.Sprintf("f%d.go", i)] = "package sample\n" + strings.Repeat("\n", maxFileSize-100)
	}
	for name, c := range map[string]struct {
		files map[string]string
		rule  Rule
		file  string
		line  int
	}{
		"assembly": {map[string]string{"a.go": "package sample\n", "x.s": ""}, RuleFileKind, "x.s", 0},
		"C":        {map[string]string{"a.go": "package sample\n", "x.c": ""}, RuleFileKind, "x.c", 0},
		"a header": {map[string]string{"a.go": "package sample\n", "x.h": ""}, RuleFileKind, "x.h", 0},
		"an object": {map[string]string{"a.go": "package sample\n", "x_linux_amd64.syso": ""}, RuleFileKind,
			"x_linux_amd64.syso", 0},
		"by system":    {map[string]string{"sample_linux.go": "package sample\n"}, RuleConstraint, "sample_linux.go", 0},
		"by processor": {map[string]string{"sample_arm64.go": "package sample\n"}, RuleConstraint, "sample_arm64.go", 0},
		"by both": {map[string]string{"sample_windows_amd64.go": "package sample\n"}, RuleConstraint,
			"sample_windows_amd64.go", 0},
		"odd name":    {map[string]string{"a:1.go": "package sample\n"}, RuleFileName, "a:1.go", 0},
		"newline":     {map[string]string{"a\nb.go": "package sample\n"}, RuleFileName, "a\nb.go", 0},
		"like a flag": {map[string]string{"-o.go": "package sample\n"}, RuleFileName, "-o.go", 0},
		"Latin-1":     {map[string]string{"a.go": "package sample\n\n// gr\xfcn\n"}, RuleEncoding, "a.go", 3},
		"too large": {map[string]string{"a.go": "package sample\n" + strings.Repeat("\n", maxFileSize)}, RuleFileSize,
			"a.go", 0},
		"too much": {much, RuleFileSize, "f4.go", 0},
		"too many": {many, RuleFileSize, "", 0},
		"none":     {map[string]string{"notes.txt": "", "sample_test.go": "package sample\n"}, RuleNoFiles, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, c.files)
			r := built(t, request(dir))
			require.False(t, r.OK())
			require.Len(t, r.Refusals, 1)
			require.Equal(t, c.rule, r.Refusals[0].Rule)
			require.Equal(t, filepath.Join(dir, c.file), r.Refusals[0].File)
			require.Equal(t, c.line, r.Refusals[0].Line)
		})
	}
	t.Run("a link", func(t *testing.T) {
		dir := t.TempDir()
		target, err := filepath.Abs(course + "/solutions/sample/sample.go")
		require.NoError(t, err)
		require.NoError(t, os.Symlink(target, filepath.Join(dir, "sample.go")))
		r := built(t, request(dir))
		require.Len(t, r.Refusals, 1)
		require.Equal(t, RuleFileKind, r.Refusals[0].Rule)
	})
}

// What is unusual but right builds, and runs.
func TestLegalStyles(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"byte order mark": {"sample.go": "\ufeff" + header + run},
		"carriage return": {"sample.go": strings.ReplaceAll(header+run, "\n", "\r\n")},
		"several files, spaces and letters": {
			"ä läb.go": header + run,
			"b.go":     "package sample\n\nconst unused = 1\n",
		},
		"what Go ignores": {
			"sample.go": header + run, "sample_test.go": "package wrong\n", "_draft.go": "nonsense", ".#sample.go": "nonsense",
			"README.md": "notes", "data.json": "{}",
		},
		"not quite a platform": {"linux.go": header + run, "sample_linuxish.go": "package sample\n"},
		"renamed and blank imports": {"sample.go": `package sample

import (
	cu "cudalab/native/cuda"
	_ "strings"
	str "strconv"
)

func Run(s []cu.Stream, n int) error { _ = str.Itoa(n); return nil }
`},
		"CUDA names at the start, but no calls": {"sample.go": header + `
var zero = cuda.Stream{}
var none = cuda.DevicePtr(0)
var flags = cuda.StreamNonBlocking
var wanted = contract.ErrArgument
var size = width() * 2

func width() int { return 4 }

func init() { size++ }

` + run},
		"a table of functions, none of which is called": {"sample.go": header + `
var steps = map[string]any{
	"made": alloc,
	"kept": func() error { _, err := cuda.StreamCreate(); return err },
	"done": cuda.FreeAsync,
}

func alloc() error { _, err := cuda.StreamCreate(); return err }

` + run},
		"a module of its own": {"sample.go": header + run, "go.mod": "module mine\n\ngo 1.26\n"},
		"a method that shares a name with a field": {"sample.go": header + `
type pool struct{ size int }

func (p *pool) grow() error { _, err := cuda.StreamCreate(); return err }

var sizes = []pool{{size: 1}}
var first = sizes[0].size

` + run},
		"a variable that hides a package": {"sample.go": header + `
func f() {
	var contract struct{ ErrArgument error }
	contract.ErrArgument = nil
	p := &contract.ErrArgument
	*p = nil
}

` + run},
		"addresses of new values": {"sample.go": header + `
var batch = &contract.Batch{N: 1}

func f() { batch.N = 2; b := contract.Batch{}; b.N++ }

` + run},
		"comments that look like more": {"sample.go": header + `
//line up the blocks, none of these is a directive
//  go:linkname in prose
// //go:build in prose
//export what is needed
//go:noinline
func f() {} //line a: here

/* line a.go:1 */
//go:generate echo
//nolint:all

` + strings.Replace(run, "{ return nil }", "{ f(); return nil }", 1)},
		"panics, recovers, generics, channels": {"sample.go": header + `
func try[T any](f func() T) (r T, err error) {
	defer func() {
		if recover() != nil {
			err = contract.ErrArgument
		}
	}()
	return f(), nil
}

func Run(streams []cuda.Stream, n int) error {
	c := make(chan int, 1)
	c <- 1
	println(<-c)
	_, err := try(func() int { panic("odd") })
	if err != contract.ErrArgument {
		return contract.TODO("1a")
	}
	return nil
}
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files["allocator.go"] = allocator
			r := built(t, request(folder(t, files)))
			require.Empty(t, r.Refusals)
			require.Empty(t, r.Errors)
			require.Equal(t, "<nil>\n", printed(t, r))
		})
	}
}

func TestNotes(t *testing.T) {
	r := built(t, request(folder(t, map[string]string{
		"sample.go": header + run, "allocator.go": allocator, "sample_test.go": "package sample\n",
	})))
	require.Equal(t, []string{"sample_test.go is a test of your own: it was left aside."}, r.Notes)
}

// What the course hands out, and its own solutions, keep to the policy that submissions are held to.
func TestTheCoursesOwnCode(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	for _, room := range []string{"exercises", "solutions"} {
		dirs, err := os.ReadDir(filepath.Join(root, room))
		require.NoError(t, err)
		for _, d := range dirs {
			if !d.IsDir() || d.Name() == "contract" {
				continue
			}
			s := read(Exercise{Package: d.Name(), Dir: filepath.Join(root, room, d.Name())}, newAPI(root))
			require.NoError(t, s.err)
			require.NotEmpty(t, s.files, "%s/%s", room, d.Name())
			require.Empty(t, s.refusals)
			require.Empty(t, s.errors)
		}
	}
}
