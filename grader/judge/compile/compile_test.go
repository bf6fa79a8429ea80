package compile

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompileErrors(t *testing.T) {
	body := func(lines ...string) string {
		return header + "func Run(streams []cuda.Stream, n int) error {\n\t" + strings.Join(lines, "\n\t") + "\n}\n"
	}
	for name, c := range map[string]struct {
		text    string
		at      string // the line at fault holds this
		message string // the compiler's words hold this
		plain   string // and the plain ones this
	}{
		"unused variable": {body("err := contract.ErrArgument", "return nil"), "err :=", "declared and not used: err",
			"nothing reads"},
		"unused import": {strings.Replace(header, "(\n", "(\n\t\"fmt\"\n", 1) + run, `"fmt"`, `"fmt" imported and not used`,
			`package "fmt"`},
		"misspelt call": {body("_, err := cuda.MalocAsync(4, streams[0])", "return err"), "MalocAsync",
			"undefined: cuda.MalocAsync", "cuda.MallocAsync?"},
		"wrong capitals": {body("_, err := cuda.mallocAsync(4, streams[0])", "return err"), "mallocAsync",
			"cuda.mallocAsync", "cuda.MallocAsync?"},
		"nothing like it": {body("return cuda.Teleport()"), "Teleport", "undefined: cuda.Teleport",
			"nothing called Teleport."},
		"C's name": {body("_, err := cudaMallocAsync(4, streams[0])", "return err"), "cudaMalloc",
			"undefined: cudaMallocAsync", "cuda.MallocAsync?"},
		"without package": {body("return FreeAsync(0, streams[0])"), "FreeAsync", "undefined: FreeAsync", "cuda.FreeAsync?"},
		"missing import":  {body("return fmt.Errorf(`%d`, n)"), "fmt", "undefined: fmt", `Add "fmt"`},
		"missing import, ours": {body("return kernels.Process(1, 1, streams[0], 0, n)"), "kernels", "undefined: kernels",
			`Add "cudalab/kernels"`},
		"unknown name": {body("return failure"), "failure", "undefined: failure", "spelling"},
		"out of scope": {body("if n > 0 {", "\terr := error(nil)", "\t_ = err", "}", "return err"), "return err",
			"undefined: err", "braces"},
		"missing method": {body("return contract.ErrArgument.Cause()"), "Cause", "no field or method Cause",
			"no method called Cause"},
		"method's case": {body("var b struct{ size int }", "_ = b.Size", "return nil"), "b.Size",
			"but does have field size", "Capitals"},
		"missing return": {body("if n > 0 {", "\treturn nil", "}"), "\n}", "missing return", "closing brace"},
		"int for int64": {body("_, err := cuda.MallocAsync(n*4, streams[0])", "return err"), "n*4", "as int64 value",
			"int64(n * 4)"},
		"DevicePtr": {body("var p uint64", "return cuda.FreeAsync(p, streams[0])"), "FreeAsync", "as cuda.DevicePtr",
			"cuda.DevicePtr(p)"},
		"slice": {body("return cuda.MemcpyHtoD(0, []byte{1}, 1)"), "Memcpy", "HostMemory", "cuda.Pageable("},
		"slice variable": {body("b := make([]byte, n)", "return cuda.MemcpyHtoD(0, b, 1)"), "Memcpy", "HostMemory",
			"cuda.Pageable(b)"},
		"nil": {body("return cuda.FreeAsync(nil, streams[0])"), "nil", "nil as cuda.DevicePtr",
			"always has a value"},
		"text for error": {body("return \"no\""), "return", "as error value", "fmt.Errorf"},
		"another type": {body("return cuda.FreeAsync(0, streams)"), "streams)", "as cuda.Stream value",
			"is of type []cuda.Stream"},
		"truncated": {body("n = 1.5", "return nil"), "1.5", "truncated", "does not fit"},
		"overflow": {body("return cuda.MemsetAsync(0, 256, 4, streams[0])"), "256", "256",
			"does not fit into type byte"},
		"mixed numbers": {body("var size int64 = 4", "_ = size * n", "return nil"), "size * n",
			"mismatched types int64 and int", "int64("},
		"mixed types": {body("_ = n == `4`", "return nil"), "n ==", "`4`", ""},
		"mixed sides": {body("s := `4`", "_ = n == s", "return nil"), "n ==", "mismatched types", "same type"},
		"nothing new": {body("var err error", "err := contract.ErrArgument", "return err"), "err :=", "no new variables",
			"Write ="},
		"two for one": {body("p := cuda.FreeAsync", "a, b := p(0, streams[0])", "_, _ = a, b", "return nil"), "a, b :=",
			"assignment mismatch", "room for 2 variables"},
		"one for two": {body("p := cuda.MallocAsync(4, streams[0])", "_ = p", "return nil"), "p :=",
			"assignment mismatch", "returns 2 values"},
		"two for three": {body("a, b := 1, 2, 3", "_, _ = a, b", "return nil"), "a, b", "assignment mismatch",
			"counterpart"},
		"too few": {body("return cuda.FreeAsync(0)"), "FreeAsync", "not enough arguments",
			"not enough arguments to cuda.FreeAsync"},
		"too many": {body("return cuda.FreeAsync(0, streams[0], 1)"), "FreeAsync", "too many arguments",
			"too many arguments to"},
		"nothing back":  {body("return"), "return\n", "not enough return values", "promises"},
		"too much back": {body("return 1, nil"), "return 1", "too many return values", "promises"},
		"twice": {header + run + "func twice() {}\n\nvar twice int\n", "var twice", "redeclared",
			"two declarations of twice"},
		"dropped":        {body("n == 4", "return nil"), "n == 4", "is not used", "dropped"},
		"condition":      {body("if n {", "}", "return nil"), "if n", "non-boolean condition", "err != nil"},
		"operator":       {body("_ = !n", "return nil"), "!n", "operator ! not defined", "operator !"},
		"not a function": {body("n()", "return nil"), "n()", "cannot call n", "is not a function"},
		"no value": {header + "func f() {}\n\nfunc Run(streams []cuda.Stream, n int) error {\n\treturn f()\n}\n",
			"return f", "(no value) used as value", "returns nothing"},
		"type as value": {body("_ = cuda.Pageable", "return nil"), "Pageable", "is not an expression", "is a type"},
		"smart quotes":  {body("println(“no”)", "return nil"), "println", "curly quotation mark", "for print"},
		"comma":         {body("println(1,", "\t2", ")", "return nil"), "\t2", "missing ','", "comma"},
		"brace below":   {body("if n > 0", "{", "}", "return nil"), "if n > 0", "", "line of its if"},
		"else below":    {body("if n > 0 {", "}", "else {", "}", "return nil"), "else", "else", "line of the brace"},
		"end of file": {header + "func Run(streams []cuda.Stream, n int) error {\n\tif n > 0 {\n\treturn nil\n}\n", "",
			"EOF", "ends too early"},
		"brace too many":  {header + run + "}\n", "\n}\n", "", "closing brace too many"},
		"assigns":         {body("if n = 4 {", "}", "return nil"), "if n", "", "== compares"},
		"open text":       {body("println(\"no)", "return nil"), "println", "not terminated", "never closed"},
		"line of comment": {body("return nil") + "//line up: here\n", "//line up", "invalid line number", "space behind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, map[string]string{"sample.go": c.text, "allocator.go": allocator})
			r := built(t, request(dir))
			require.False(t, r.OK())
			require.Empty(t, r.Refusals)
			require.NotEmpty(t, r.Errors)
			e := r.Errors[0]
			require.Equal(t, filepath.Join(dir, "sample.go"), e.File)
			if c.at != "" {
				line := lineOf(t, c.text, c.at)
				if strings.HasPrefix(c.at, "\n") {
					line++
				}
				require.Equal(t, line, e.Line, e.Message)
			}
			require.Contains(t, e.Message, c.message)
			require.Contains(t, e.Plain, c.plain, e.Message)
			require.NotContains(t, e.Plain, "%!")
		})
	}
}

func TestAnotherSignatureThanTheContracts(t *testing.T) {
	const wantRun = "func Run(streams []cuda.Stream, n int) error"
	for name, c := range map[string]struct {
		text  string // beside the header
		line  int    // of the file; the header has 9
		plain []string
	}{
		"other parameters": {"func Run(streams []cuda.Stream) error { return nil }\n", 10,
			[]string{"Run is declared as: func Run(streams []cuda.Stream) error.", wantRun}},
		"other result": {"\nfunc Run(streams []cuda.Stream,\n\tn int) {}\n", 11,
			[]string{"func Run(streams []cuda.Stream, n int).", wantRun}},
		"missing":        {"func run() {}\n", 1, []string{"calls the function Run", wantRun}},
		"not a function": {"var Run = 3\n", 1, []string{"calls the function Run", wantRun}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, map[string]string{"sample.go": header + c.text, "z.go": allocator})
			r := built(t, request(dir))
			require.Len(t, r.Errors, 1)
			require.Equal(t, filepath.Join(dir, "sample.go"), r.Errors[0].File)
			require.Equal(t, c.line, r.Errors[0].Line)
			for _, p := range c.plain {
				require.Contains(t, r.Errors[0].Plain, p)
			}
		})
	}
	for name, c := range map[string]struct {
		old, new string
		line     int
		plain    []string
	}{
		"other method": {"Alloc(size int64)", "Alloc(size int)", 9,
			[]string{"Alloc(size int) (cuda.DevicePtr, error)", "Alloc(size int64) (cuda.DevicePtr, error)"}},
		"missing method": {") Alloc(", ") Allocate(", 5, []string{"calls the method Alloc",
			"Alloc(size int64) (cuda.DevicePtr, error)"}},
		"other constructor": {"New(total int64)", "New(total int64, block int)", 7,
			[]string{"New(total int64, block int) (*Allocator, error)", "New(total int64) (*Allocator, error)"}},
		"no result": {" (*Allocator, error) { return &Allocator{}, nil }", " { }", 7, []string{"func New(total int64)."}},
		"one result": {"(*Allocator, error) { return &Allocator{}, nil", "*Allocator { return &Allocator{}", 7,
			[]string{"New(total int64) *Allocator."}},
		"value": {"New(total int64) (*Allocator, error) { return &Allocator{}",
			"New(total int64) (Allocator, error) { return Allocator{}", 7, []string{"(*Allocator, error)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, allocator, c.old)
			dir := folder(t, map[string]string{"a.go": strings.Replace(allocator, c.old, c.new, 1), "sample.go": header + run})
			r := built(t, request(dir))
			require.NotEmpty(t, r.Errors)
			require.Equal(t, filepath.Join(dir, "a.go"), r.Errors[0].File)
			require.Equal(t, c.line, r.Errors[0].Line)
			for _, p := range c.plain {
				require.Contains(t, r.Errors[0].Plain, p)
			}
		})
	}
}

func TestShortenedPathsAreUndone(t *testing.T) {
	root := filepath.Join(string(filepath.Separator)+"home", "ada", "course")
	for shortened, want := range map[string]string{
		filepath.Join("exercises", "a.go"):             filepath.Join(root, "exercises", "a.go"),
		"." + string(filepath.Separator) + "a.go":      filepath.Join(root, "a.go"),
		filepath.Join("..", "other", "a.go"):           filepath.Join(root, "..", "other", "a.go"),
		".-tmp" + string(filepath.Separator) + "a.go":  root + "-tmp" + string(filepath.Separator) + "a.go",
		filepath.Join(root, "..", "elsewhere", "a.go"): filepath.Join(root, "..", "elsewhere", "a.go"),
	} {
		require.Equal(t, want, absolute(root, shortened), shortened)
	}
}
