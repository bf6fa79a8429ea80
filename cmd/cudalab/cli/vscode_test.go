package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// vscodeTask is a task of .vscode/tasks.json, with what VS Code makes of its output.
type vscodeTask struct {
	Label          string   `json:"label"`
	Args           []string `json:"args"`
	IsBackground   bool     `json:"isBackground"`
	ProblemMatcher struct {
		FileLocation []string        `json:"fileLocation"`
		Pattern      json.RawMessage `json:"pattern"`
		Background   struct {
			BeginsPattern string `json:"beginsPattern"`
			EndsPattern   string `json:"endsPattern"`
		} `json:"background"`
	} `json:"problemMatcher"`
}

func vscodeTasks(t *testing.T) map[string]vscodeTask {
	t.Helper()
	text, err := os.ReadFile("../../../.vscode/tasks.json")
	require.NoError(t, err)
	var file struct{ Tasks []vscodeTask }
	require.NoError(t, json.Unmarshal(text, &file))
	tasks := map[string]vscodeTask{}
	for _, task := range file.Tasks {
		tasks[task.Label] = task
	}
	return tasks
}

// matching is what JavaScript's regular expressions, which are VS Code's, make of each line.
const matching = `const { pattern, begins, ends, text } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const found = { problems: [], begins: 0, ends: 0 };
for (const line of text.split("\n")) {
  const m = new RegExp(pattern.regexp).exec(line);
  if (m) found.problems.push({ file: m[pattern.file], line: +m[pattern.line], column: +m[pattern.column], severity: m[pattern.severity], message: m[pattern.message], code: m[pattern.code] });
  if (begins && new RegExp(begins).test(line)) found.begins++;
  if (ends && new RegExp(ends).test(line)) found.ends++;
}
console.log(JSON.stringify(found));`

// matched is what VS Code finds in an output.
type matched struct {
	Problems []struct {
		File, Severity, Message, Code string
		Line, Column                  int
	}
	Begins, Ends int
}

func (task vscodeTask) match(t *testing.T, output string) matched {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is not installed")
	}
	in, err := json.Marshal(map[string]any{"pattern": task.ProblemMatcher.Pattern, "text": output,
		"begins": task.ProblemMatcher.Background.BeginsPattern, "ends": task.ProblemMatcher.Background.EndsPattern})
	require.NoError(t, err)
	cmd := exec.Command(node, "-e", matching)
	cmd.Stdin = strings.NewReader(string(in))
	said, err := cmd.Output()
	require.NoError(t, err)
	var m matched
	require.NoError(t, json.Unmarshal(said, &m))
	return m
}

// TestVSCodeTasks runs the tasks' commands, and reads what they write as VS Code does.
func TestVSCodeTasks(t *testing.T) {
	if testing.Short() {
		t.Skip("checks several times")
	}
	tasks := vscodeTasks(t)
	check, watch := tasks["cudalab: check"], tasks["cudalab: watch"]
	require.JSONEq(t, string(check.ProblemMatcher.Pattern), string(watch.ProblemMatcher.Pattern))
	require.True(t, watch.IsBackground)
	check.match(t, "") // skips where there is no Node.js

	d := sit(t, nil, nil, watch.Args[1:]...)
	d.sees(`async-pipeline: not-started, 0 of 100 points\n`)
	d.saves("asyncpipeline", freeing, unfreed)
	d.sees(`async-pipeline: failed, [\d.]+ of 100 points\n`)
	d.saves("asyncpipeline", "return nil\n}", "return nul\n}")
	d.sees(`async-pipeline: build-failed, 0 of 100 points\n`)
	d.press("q\n")
	d.leaves(0)
	m := watch.match(t, d.shown.String())
	require.Equal(t, 3, m.Begins)
	require.Equal(t, 3, m.Ends)
	file := filepath.Join("exercises", "asyncpipeline", "asyncpipeline.go")
	severities := map[string]string{}
	for _, p := range m.Problems {
		require.Equal(t, file, p.File)
		require.Positive(t, p.Line)
		require.NotEmpty(t, p.Message)
		if _, known := severities[p.Code]; !known {
			severities[p.Code] = p.Severity // those behind are the other places
		}
	}
	require.Equal(t, "info", severities["todo"])
	require.Equal(t, "error", severities["leak"])
	last := m.Problems[len(m.Problems)-1]
	require.Equal(t, "compile", last.Code)
	require.Greater(t, last.Column, 1)

	// The task that checks once names the exercise by its file's folder.
	require.Equal(t, []string{"check", "${fileDirnameBasename}", "--format", "line"}, check.Args)
	program, err := os.Executable()
	require.NoError(t, err)
	cudalab := filepath.Join(t.TempDir(), "cudalab")
	require.NoError(t, os.Symlink(program, cudalab))
	cmd := exec.Command(cudalab, "check", "asyncpipeline", "--format", "line", "--device", "sim")
	cmd.Dir, cmd.Env = d.root, d.cmd.Env
	said, err := cmd.Output()
	require.Error(t, err)
	require.Equal(t, m.Problems[len(m.Problems)-1:], check.match(t, string(said)).Problems)
	require.Equal(t, len(check.match(t, string(said)).Problems), strings.Count(string(said), "\n"),
		"every line is a problem")
}
