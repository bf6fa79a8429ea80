package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ownCourse is a copy of the course.
func ownCourse(t testing.TB) (root string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "Übungen 1")
	require.NoError(t, os.Mkdir(root, 0o755))
	copyTree(t, "../../..", root)
	return root
}

// lspCommand is `cudalab lsp` on the simulated device, away from any course.
func lspCommand(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	// testscript's TestMain made a cudalab of this program: it goes by the name that it is called by.
	bin := t.TempDir()
	require.NoError(t, os.Symlink(program, filepath.Join(bin, "cudalab")))
	cmd := exec.Command(filepath.Join(bin, "cudalab"), append([]string{"lsp", "--device", "sim"}, args...)...)
	cmd.Env = append(os.Environ(), "CUDALAB_ROOT=", "GOCACHE="+goCaches(t)[0], "XDG_CACHE_HOME="+t.TempDir(),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Dir = bin
	return cmd
}

// solution is that of async-pipeline, in which a text is replaced.
func solution(t testing.TB, old, new string) string {
	t.Helper()
	text, err := os.ReadFile("../../../solutions/asyncpipeline/asyncpipeline.go")
	require.NoError(t, err)
	require.Contains(t, string(text), old)
	return strings.Replace(string(text), old, new, 1)
}

const (
	freeing    = "return cuda.FreeAsync(data, stream)\n}"
	unfreed    = "return nil\n}"
	misspelled = "/* 𝄞é */ return cuda.FreeAsink(data, stream)\n}"
)

// TestNeovim works in an exercise with Neovim's client, configured as README.md says.
func TestNeovim(t *testing.T) {
	if testing.Short() {
		t.Skip("checks several times")
	}
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("Neovim is not installed")
	}
	readme, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	config := regexp.MustCompile("(?s)```lua\n(.*?)```").FindSubmatch(readme)
	require.NotNil(t, config, "README.md has a configuration for Neovim")

	serving, root := lspCommand(t), ownCourse(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	script, err := filepath.Abs("testdata/neovim.lua")
	require.NoError(t, err)
	cmd := exec.Command(nvim, "--headless", "--clean", "-S", script)
	cmd.Dir = filepath.Join(root, "exercises")
	cmd.Env = append(serving.Env, "XDG_STATE_HOME="+dir, "XDG_DATA_HOME="+dir,
		"CONFIG="+write("config.lua", strings.Replace(string(config[1]), `"lsp"`, `"lsp", "--device", "sim"`, 1)),
		"EXERCISE="+filepath.Join("asyncpipeline", "asyncpipeline.go"), "SEEN="+filepath.Join(dir, "seen.json"),
		"WRONG="+write("wrong.go", solution(t, freeing, unfreed)), "BROKEN="+write("broken.go", solution(t, freeing,
			misspelled)), "MENDED="+write("mended.go", solution(t, "", "")))
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	text, err := os.ReadFile(filepath.Join(dir, "seen.json"))
	require.NoError(t, err, "%s", said)
	type diagnostic struct {
		Line, Col, Severity   int
		Code, Source, Message string
	}
	var seen struct {
		Problem, Hover       string
		Messages, Opened     []string
		Actions              []string
		First, Wrong, Broken []diagnostic
	}
	require.NoError(t, json.Unmarshal(text, &seen), "%s", text)
	require.Empty(t, seen.Problem, "%s", said)

	require.Len(t, seen.First, 1)
	require.Equal(t, "todo", seen.First[0].Code)
	require.Regexp(t, `TODO\(1a\) is to be written next: `, seen.First[0].Message)
	leak := seen.Wrong[0]
	require.Equal(t, "leak", leak.Code)
	require.Equal(t, 1, leak.Severity)
	require.Equal(t, "cudalab", leak.Source)
	require.Contains(t, strings.Split(solution(t, freeing, unfreed), "\n")[leak.Line-1], "cuda.MallocAsync")
	require.Contains(t, seen.Hover, "**leak**")
	require.Contains(t, seen.Hover, "**Why:**")
	require.Contains(t, seen.Hover, "**Fix:**")
	require.Contains(t, seen.Actions, "Next hint for leak")
	require.Contains(t, seen.Actions, "Open the picture of async-pipeline")
	shown := strings.Join(append(seen.Messages, seen.Opened...), "\n")
	require.Contains(t, shown, "Hint 1 of ")
	require.Contains(t, shown, "async-pipeline.html")
	page, err := os.ReadFile(filepath.Join(root, ".cudalab", "async-pipeline.html"))
	require.NoError(t, err)
	require.Contains(t, string(page), "<svg")
	broken := seen.Broken[0]
	require.Equal(t, "compile", broken.Code)
	require.Equal(t, strings.Index(strings.Split(solution(t, freeing, misspelled), "\n")[broken.Line-1], "FreeAsink"),
		broken.Col,
		"in bytes again, whatever UTF-16 units there are before it")
}

// editing is a client of `cudalab lsp` that saves a file and awaits what is said of it.
type editing struct {
	t    testing.TB
	in   io.WriteCloser
	out  *bufio.Reader
	uri  string
	file string
}

func startEditing(t testing.TB) *editing {
	t.Helper()
	cmd, root := lspCommand(t), ownCourse(t)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	s := &editing{t: t, in: in, out: bufio.NewReader(out), file: filepath.Join(root, "exercises", "asyncpipeline",
		"asyncpipeline.go")}
	s.uri = "file://" + strings.ReplaceAll(filepath.ToSlash(s.file), " ", "%20")
	s.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`)
	s.await(func(m message) bool { return string(m.ID) == "1" })
	return s
}

type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		URI         string
		Diagnostics []struct{ Code string }
	}
}

func (s *editing) send(text string) {
	s.t.Helper()
	_, err := fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(text), text)
	require.NoError(s.t, err)
}

// await reads until a message is the one that is waited for.
func (s *editing) await(is func(message) bool) message {
	s.t.Helper()
	for {
		header, err := textproto.NewReader(s.out).ReadMIMEHeader()
		require.NoError(s.t, err)
		n, err := strconv.Atoi(header.Get("Content-Length"))
		require.NoError(s.t, err)
		content := make([]byte, n)
		_, err = io.ReadFull(s.out, content)
		require.NoError(s.t, err)
		var m message
		require.NoError(s.t, json.Unmarshal(content, &m))
		if is(m) {
			return m
		}
	}
}

// save saves a text, and returns the rules of what is said of it.
func (s *editing) save(text string) []string {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(s.file, []byte(text), 0o644))
	s.send(`{"jsonrpc":"2.0","method":"textDocument/didSave","params":{"textDocument":{"uri":"` + s.uri + `"}}}`)
	m := s.await(func(m message) bool { return m.Method == "textDocument/publishDiagnostics" })
	rules := []string{}
	for _, d := range m.Params.Diagnostics {
		rules = append(rules, d.Code)
	}
	return rules
}

// BenchmarkSaveToSquiggle is how long an editor waits from a save to what is said of it, by a server that has checked
// the exercise before: for a finding, for a compile error, and for what mends both.
func BenchmarkSaveToSquiggle(b *testing.B) {
	for _, c := range []struct{ name, new, want string }{{"finding", unfreed, "leak"}, {"compile", misspelled, "compile"},
		{"pass", freeing, ""}} {
		b.Run(c.name, func(b *testing.B) {
			s := startEditing(b)
			for range 3 { // go build, then what is looked up for later
				s.save(solution(b, freeing, c.new))
				time.Sleep(time.Second)
			}
			n := 0
			for b.Loop() {
				n++
				rules := s.save(solution(b, freeing, c.new) + fmt.Sprintf("\n// %d\n", n))
				if c.want != "" {
					require.Contains(b, rules, c.want)
				} else {
					require.Empty(b, rules)
				}
			}
		})
	}
}

// TestLSPEnds holds the exit status to the protocol, and to its end with the client.
func TestLSPEnds(t *testing.T) {
	frame := func(text string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text) }
	initialize := frame(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"capabilities":{}}}`)
	shutdown, exit := frame(`{"jsonrpc":"2.0","id":2,"method":"shutdown"}`), frame(`{"jsonrpc":"2.0","method":"exit"}`)
	for name, c := range map[string]struct {
		in     string
		status int
		stderr string
	}{
		"shutdown and exit":     {initialize + shutdown + exit, 0, ""},
		"exit alone":            {initialize + exit, 1, ""},
		"nothing at all":        {"", 1, ""},
		"nothing after a while": {initialize, 1, ""},
		"garbage": {"hello\r\n\r\n", 1,
			`not framed as the protocol says: "hello" is no field of a header\. An editor starts`},
		"half a message": {initialize[:len(initialize)-3], 1, "not framed as the protocol says: it ends after"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := lspCommand(t, "--stdio", "--clientProcessId="+strconv.Itoa(os.Getpid()))
			cmd.Stdin = strings.NewReader(c.in)
			var complaint strings.Builder
			cmd.Stderr = &complaint
			_ = cmd.Run() // its status is looked at
			require.Equal(t, c.status, cmd.ProcessState.ExitCode(), complaint.String())
			if c.stderr == "" {
				require.Empty(t, complaint.String())
			}
			require.Regexp(t, c.stderr, complaint.String())
		})
	}
}
