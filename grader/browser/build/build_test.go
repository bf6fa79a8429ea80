package build

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// goSource is a file of the Go installation's own tools.
func goSource(t *testing.T, below string) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	file := filepath.Join(strings.TrimSpace(string(root)), "src", "cmd", filepath.FromSlash(below))
	if _, err := os.Stat(file); err != nil {
		t.Skip("this Go comes without the sources of its tools")
	}
	return file
}

// Where this fails, a newer Go looks otherwise: its tools are built whole, and a third larger.
func TestGoLooksAsItsCutsExpect(t *testing.T) {
	text, err := edited(goSource(t, "compile/internal/ssa/config.go"), onlyWasm)
	require.NoError(t, err)
	require.Contains(t, string(text), "rewriteValueWasm")
	require.NotContains(t, string(text), "rewriteValueAMD64")
	require.NotContains(t, string(text), "rewriteValueARM64")

	for _, below := range []string{"compile/internal/gc/util.go", "link/internal/ld/main.go"} {
		text, err := edited(goSource(t, below), withoutProfiles)
		require.NoError(t, err)
		require.NotContains(t, string(text), "runtime/pprof", below)
		require.Contains(t, string(text), "func startProfile() {", below)
	}
}

func TestOnlyWasmKeepsWhatIsForAll(t *testing.T) {
	const text = `package p

func f(arch string) {
	switch arch {
	case "amd64":
		g()
	case "wasm":
		h()
	default:
		i()
	}
	switch other {
	case "amd64":
		j()
	}
}
`
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "p.go", text, 0)
	require.NoError(t, err)
	onlyWasm(f)
	var out bytes.Buffer
	require.NoError(t, format.Node(&out, set, f))
	for call, stays := range map[string]bool{"g()": false, "h()": true, "i()": true, "j()": true} {
		require.Equal(t, stays, strings.Contains(out.String(), call), call)
	}
	require.IsType(t, &ast.FuncDecl{}, f.Decls[0])
}

func TestBundle(t *testing.T) {
	var b bundle
	b.add("a/b", []byte("first"))
	b.add("c", nil)
	b.add("d", []byte("last"))
	all, err := b.bytes()
	require.NoError(t, err)
	length := binary.BigEndian.Uint32(all)
	var list []entry
	require.NoError(t, json.Unmarshal(all[4:4+length], &list))
	require.Equal(t, []entry{{"a/b", 5}, {"c", 0}, {"d", 4}}, list)
	require.Equal(t, "firstlast", string(all[4+length:]))
}

func TestCompressedCopies(t *testing.T) {
	s := &site{out: t.TempDir()}
	require.NoError(t, os.Mkdir(filepath.Join(s.out, folder), 0o755))
	text := bytes.Repeat([]byte("the same again, "), 1000)
	f, err := s.put("name", ".bin", text)
	require.NoError(t, err)
	require.Regexp(t, `^engine/name-[0-9a-f]{16}\.bin$`, f.URL)
	require.Equal(t, len(text), f.Size)
	m := manifest{Files: map[string]*file{"name": f}}
	require.NoError(t, s.compress(t.Context(), m))
	for ending, size := range map[string]int{"": f.Size, ".br": f.Brotli, ".gz": f.Gzip} {
		text, err := os.ReadFile(s.path(f.URL) + ending)
		require.NoError(t, err)
		require.Len(t, text, size)
	}

	// Of an earlier build nothing stays.
	require.NoError(t, os.WriteFile(filepath.Join(s.out, folder, "name-0000.bin.br"), nil, 0o644))
	require.NoError(t, s.tidy(m))
	left, err := filepath.Glob(filepath.Join(s.out, folder, "*"))
	require.NoError(t, err)
	require.Len(t, left, 3)
}

// What only the linker reads of a package is as good to it as the whole, and the rest is left out.
func TestForLinker(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	goTool := func(args ...string) ([]byte, error) {
		cmd := exec.Command("go", append([]string{"tool"}, args...)...)
		cmd.Dir = dir
		return cmd.CombinedOutput()
	}
	needed := func(args ...string) {
		said, err := goTool(args...)
		require.NoError(t, err, "%s", said)
	}
	needed("compile", "-p", "hidden", "-complete", "-o", "hidden.a",
		write("hidden.go", "package hidden\n\nfunc Print() { println(\"linked\") }\n"))
	needed("compile", "-p", "shown", "-complete", "-importcfg", write("cfg", "packagefile hidden=hidden.a\n"), "-o",
		"shown.a",
		write("shown.go", "package shown\n\nimport \"hidden\"\n\n//go:noinline\nfunc Print() { hidden.Print() }\n"))
	whole, err := os.ReadFile(filepath.Join(dir, "hidden.a"))
	require.NoError(t, err)
	less := forLinker(whole)
	require.Less(t, len(less), len(whole))
	write("hidden.a", string(less))
	main := write("main.go", "package main\n\nimport \"shown\"\n\nfunc main() { shown.Print() }\n")
	needed("compile", "-p", "main", "-complete", "-importcfg", write("cfg", "packagefile shown=shown.a\n"), "-o", "main.a",
		main)
	std, err := exec.Command("go", "list", "-export", "-deps", "-f",
		"{{with .Export}}packagefile {{$.ImportPath}}={{.}}{{end}}", "runtime").Output()
	require.NoError(t, err)
	needed("link", "-importcfg", write("cfg", "packagefile shown=shown.a\npackagefile hidden=hidden.a\n"+string(std)),
		"-o", "main", "main.a")
	said, err := exec.Command(filepath.Join(dir, "main")).CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "linked\n", string(said))

	said, err = goTool("compile", "-p", "other", "-importcfg", write("cfg", "packagefile hidden=hidden.a\n"), "-o",
		"other.a",
		write("other.go", "package other\n\nimport \"hidden\"\n\nfunc F() { hidden.Print() }\n"))
	require.Error(t, err, "%s", said)

	for _, odd := range [][]byte{nil, []byte("!<arch>\n"), whole[:100], less[:70], []byte(strings.Repeat("x", 200)),
		[]byte("!<arch>\n" + strings.Repeat("9", 200))} {
		require.Equal(t, odd, forLinker(odd))
	}
}
