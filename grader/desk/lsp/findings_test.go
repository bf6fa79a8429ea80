package lsp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
)

// failed is a report with an error and a remark on lines of slab.go.
func (c *client) failed(seed uint64) verdict.Report {
	file := filepath.Join(c.root, filepath.FromSlash(slab))
	return verdict.Report{Exercise: "slab", Status: verdict.Failed, Seed: seed,
		Checks: []verdict.Check{{Findings: []verdict.Finding{
			{Rule: "leak", Severity: verdict.Error, Message: "Nobody frees it.", Why: "Memory is *not* collected.",
				Fix: "Free it.", File: file, Line: 4,
				Related: []verdict.Related{{File: file, Line: 3, Message: "made here"}}, Picture: "a ─▶ b\n"},
			{Rule: "odd", Severity: verdict.Remark, Message: "Odd.", Fix: "Leave it out.", File: file, Line: 4, Column: 13},
			{Rule: "crash", Severity: verdict.Error, Message: "It crashed."},
		}}}}
}

var passed = verdict.Report{Exercise: "slab", Status: verdict.Passed}

func (c *client) saves() {
	c.t.Helper()
	c.sends(0, "textDocument/didSave", `{"textDocument":{"uri":"SLAB"}}`)
}

// published awaits the diagnostics of slab.go.
func (c *client) published() []any {
	c.t.Helper()
	m := c.next()
	require.Equal(c.t, "textDocument/publishDiagnostics", m["method"], "%v", m)
	p := m["params"].(map[string]any)
	require.Equal(c.t, c.uri(slab), p["uri"])
	return p["diagnostics"].([]any)
}

func lines(from, start, to, end int) map[string]any {
	at := func(line, character int) map[string]any {
		return map[string]any{"line": float64(line), "character": float64(character)}
	}
	return map[string]any{"start": at(from, start), "end": at(to, end)}
}

func TestDiagnosticsComeAndGo(t *testing.T) {
	c := serve(t)
	c.initialize(able)
	c.sends(0, "textDocument/didOpen", `{"textDocument":{"uri":"SLAB"}}`)
	call := c.begun()
	require.Equal(t, "slab", call.exercise)
	call.answer <- c.failed(1)
	got := c.published()
	require.Len(t, got, 3)
	require.Equal(t, map[string]any{"range": lines(3, 1, 3, 22), "severity": 1.0, "code": "leak", "source": "cudalab",
		"message": "Nobody frees it.",
		"relatedInformation": []any{map[string]any{"message": "made here", "location": map[string]any{"uri": c.uri(slab),
			"range": lines(2, 0, 2, 18)}}}}, got[0])
	require.Equal(t, 2.0, got[1].(map[string]any)["severity"])
	require.Equal(t, lines(3, 10, 3, 11), got[1].(map[string]any)["range"], "behind 𝄞, which takes two units")
	require.Equal(t, lines(0, 0, 0, 12), got[2].(map[string]any)["range"], "what is about no line is on the first")

	c.sends(0, "textDocument/didOpen", `{"textDocument":{"uri":"SLAB"}}`) // checked before
	c.silent()
	c.saves()
	call = c.begun()
	call.answer <- passed
	require.Empty(t, c.published())
	require.Contains(t, fmt.Sprint(c.next()), "slab has passed.")
	c.saves()
	call = c.begun()
	call.answer <- passed
	require.Empty(t, c.published())
	c.silent()
}

func TestTheNextSaveEndsACheck(t *testing.T) {
	c := serve(t)
	c.initialize(able)
	c.saves()
	first := c.begun()
	c.saves()
	<-first.ctx.Done()
	second := c.begun()
	c.sends(0, "textDocument/didSave", `{"textDocument":{"uri":"`+c.uri("exercises/ring/ring.go")+`"}}`)
	<-second.ctx.Done()
	third := c.begun()
	require.Equal(t, "ring", third.exercise, "what was saved last is waited for")
	third.answer <- verdict.Report{Exercise: "ring", Status: verdict.Passed}
	require.Equal(t, c.uri("exercises/ring/ring.go"), c.next()["params"].(map[string]any)["uri"])
	fourth := c.begun()
	require.Equal(t, "slab", fourth.exercise)
	fourth.answer <- passed
	require.Empty(t, c.published())
	c.silent()
	require.Empty(t, c.checks)
}

// What passes with the workloads that it failed on is checked with others.
func TestAPassIsCheckedAgain(t *testing.T) {
	c := serve(t)
	c.initialize(able)
	c.saves()
	c.begun().answer <- c.failed(7)
	require.Len(t, c.published(), 3)
	c.saves()
	c.begun().answer <- verdict.Report{Exercise: "slab", Status: verdict.Passed, Seed: 7}
	require.Empty(t, c.published())
	c.begun().answer <- passed
	require.Empty(t, c.published())
	require.Contains(t, fmt.Sprint(c.next()), "slab has passed.")
}

func TestTroubleIsToldOnce(t *testing.T) {
	c := serve(t)
	c.initialize(able)
	for i := range 2 {
		c.saves()
		c.begun().answer <- verdict.Report{Exercise: "slab", Status: verdict.Errored, Message: "There is no Go.",
			Next: "Install it."}
		require.Empty(t, c.published())
		if i == 0 {
			require.Contains(t, fmt.Sprint(c.next()), "cudalab cannot check slab: There is no Go. Install it.")
		}
	}
	c.silent()
}

// Other files are met with silence.
func TestOtherFiles(t *testing.T) {
	c := serve(t)
	c.initialize(able)
	c.write("notes.go", "package notes\n")
	c.write("exercises/slab/notes.txt", "")
	for _, uri := range []string{c.uri("notes.go"), c.uri("exercises/contract/contract.go"),
		c.uri("exercises/slab/notes.txt"), c.uri("go.mod"),
		"untitled:1", "file:///nowhere/exercises/slab/slab.go", "", c.uri("exercises/slab/deeper/x.go")} {
		at := `{"textDocument":{"uri":"` + uri + `"},"position":{"line":0,"character":0},"contentChanges":[{"text":"x"}]}`
		for _, method := range []string{"didOpen", "didChange", "didSave", "didClose"} {
			c.sends(0, "textDocument/"+method, at)
		}
		c.sends(10, "textDocument/hover", at)
		require.Nil(t, c.next()["result"])
		c.sends(11, "textDocument/codeAction", at)
		require.Empty(t, c.next()["result"])
		c.sends(12, "workspace/executeCommand", `{"command":"cudalab.hint","arguments":[{"uri":"`+uri+`"}]}`)
		c.fails(12.0, codeInvalidParams)
	}
	require.Empty(t, c.checks)
}

// A link to the course leads to its exercises, by the names that the client uses.
func TestALinkToTheCourse(t *testing.T) {
	c := serve(t)
	c.initialize(able)
	link := filepath.Join(t.TempDir(), "my exercise")
	require.NoError(t, os.Symlink(filepath.Join(c.root, "exercises", "slab"), link))
	c.sends(0, "textDocument/didSave", `{"textDocument":{"uri":"`+uriOf(filepath.Join(link, "slab.go"))+`"}}`)
	require.Equal(t, "slab", c.begun().exercise)
}

func (c *client) hover(line int) any {
	c.t.Helper()
	c.sends(20, "textDocument/hover", fmt.Sprintf(`{"textDocument":{"uri":"SLAB"},"position":{"line":%d,"character":3}}`,
		line))
	m := c.next()
	require.Equal(c.t, 20.0, m["id"])
	if m["result"] == nil {
		return nil
	}
	return m["result"].(map[string]any)["contents"].(map[string]any)["value"]
}

func TestHoverFollowsTheLines(t *testing.T) {
	c := serve(t)
	c.initialize(able)
	require.Nil(t, c.hover(3))
	c.saves()
	c.begun().answer <- c.failed(1)
	c.published()
	const want = "**leak**\n\n**Why:** Memory is \\*not\\* collected.\n\n**Fix:** Free it.\n\n```text\na ─▶ " +
		"b\n```\n\n---\n\n**odd**\n\n**Fix:** Leave it out."
	require.Equal(t, want, c.hover(3))
	change := func(from, start, to, end int, text string) {
		c.sends(0, "textDocument/didChange",
			fmt.Sprintf(
				`{"textDocument":{"uri":"SLAB"},"contentChanges":[{"text":%q,"range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}}}]}`,
				text, from, start, to, end))
	}
	change(1, 0, 1, 0, "// a\n// b\n")
	require.Nil(t, c.hover(3))
	require.Equal(t, want, c.hover(5))
	change(5, 1, 5, 1, "y := 1\n\t")
	require.Equal(t, want, c.hover(6))
	change(6, 22, 6, 22, "z\n")
	require.Equal(t, want, c.hover(6), "what is typed behind moves nothing")
	change(0, 12, 3, 0, "")
	require.Equal(t, want, c.hover(3))
}

func TestPlainTextForThoseWhoReadNoMarkdown(t *testing.T) {
	c := serve(t)
	c.initialize(`{"capabilities":{}}`)
	c.saves()
	c.begun().answer <- c.failed(1)
	require.NotContains(t, fmt.Sprint(c.published()), "made here")
	require.Equal(t, "leak\n\nWhy: Memory is *not* collected.\n\nFix: Free it.\n\na ─▶ b\n\nodd\n\nFix: Leave it out.",
		c.hover(3))
	c.sends(30, "textDocument/codeAction", `{"textDocument":{"uri":"SLAB"},"range":{"start":{"line":3},"end":{"line":3}}}`)
	commands := c.next()["result"].([]any)
	require.Len(t, commands, 4)
	require.Equal(t, "cudalab.hint", commands[0].(map[string]any)["command"], "an old client knows commands alone")
}

// act has the server carry a code action out.
func (c *client) act(id int, title string, line int) {
	c.t.Helper()
	c.sends(40, "textDocument/codeAction",
		fmt.Sprintf(
			`{"textDocument":{"uri":"SLAB"},"range":{"start":{"line":%d,"character":0},"end":{"line":%d,"character":0}},"context":{"diagnostics":[]}}`, line, line))
	var titles []string
	for _, a := range c.next()["result"].([]any) {
		a := a.(map[string]any)
		titles = append(titles, a["title"].(string))
		if a["title"] == title {
			require.Equal(c.t, "quickfix", a["kind"])
			command := a["command"].(map[string]any)
			argument, err := json.Marshal(command["arguments"].([]any)[0])
			require.NoError(c.t, err)
			c.raw(
				fmt.Sprintf(
					`{"jsonrpc":"2.0","id":%d,"method":"workspace/executeCommand","params":{"command":%q,"arguments":[%s]}}`,
					id, command["command"], argument))
			return
		}
	}
	require.FailNow(c.t, "no such action", "%q is none of %q", title, titles)
}

func TestHintsForAGap(t *testing.T) {
	c := serve(t)
	skeleton, err := os.ReadFile("../../../lessons/slab.skeleton.go.txt")
	require.NoError(t, err)
	c.write(slab, string(skeleton))
	c.initialize(able)
	c.saves()
	file := filepath.Join(c.root, filepath.FromSlash(slab))
	c.begun().answer <- verdict.Report{Exercise: "slab", Status: verdict.NotStarted, Gap: &verdict.Gap{ID: "1a",
		File: file, Line: 1, Text: "Do it"}}
	got := c.published()
	require.Len(t, got, 1)
	require.Equal(t, 3.0, got[0].(map[string]any)["severity"])
	require.Equal(t, "**todo**\n\nTODO(1a) is to be written next: Do it.", c.hover(0))
	before, _, found := strings.Cut(string(skeleton), `contract.TODO("1a")`)
	require.True(t, found)
	line := strings.Count(before, "\n")
	for n := 1; n <= 2; n++ {
		c.act(50+n, "Next hint for TODO(1a)", line)
		require.Nil(t, c.next()["result"])
		require.Contains(t, fmt.Sprint(c.next()["params"]), fmt.Sprintf("Hint %d of ", n))
	}
}

func TestTheLineWhereOneChangeIsEnough(t *testing.T) {
	c := serve(t)
	c.initialize(able)
	c.saves()
	r := c.failed(1)
	file := r.Checks[0].Findings[0].File
	r.Likely = &verdict.Likely{File: file, Line: 2, Where: "One change in line 2.", Question: "Who?"}
	c.begun().answer <- r
	got := c.published()
	require.Len(t, got, 4)
	require.Equal(t, "One change in line 2. Who?", got[3].(map[string]any)["message"])
	require.Equal(t, 3.0, got[3].(map[string]any)["severity"])
	c.act(70, "Look for the line in slab where one change is enough", 3)
	require.Nil(t, c.next()["error"])
	require.Contains(t, fmt.Sprint(c.next()["params"]), "One change in line 4 of slab.")
}

func TestThePicture(t *testing.T) {
	c := serve(t)
	c.initialize(able)
	c.sends(39, "workspace/executeCommand", `{"command":"cudalab.picture","arguments":[{"uri":"SLAB"}]}`)
	c.fails(39.0, codeRequestFailed)
	c.saves()
	c.begun().answer <- c.failed(1)
	c.published()
	c.act(60, "Open the picture of slab", 3)
	require.Nil(t, c.next()["error"])
	m := c.next()
	require.Equal(t, "window/showDocument", m["method"])
	require.Equal(t, map[string]any{"uri": c.uri("slab-1.html"), "external": true}, m["params"])
	c.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"success":false}}`, m["id"]))
	require.Contains(t, fmt.Sprint(c.next()["params"]), "slab-1.html: open it in a browser.")

	// One that takes too long is cancelled.
	c.saves()
	c.begun().answer <- c.failed(13)
	c.published()
	c.act(61, "Open the picture of slab", 3)
	c.sends(0, "$/cancelRequest", `{"id":61}`)
	c.fails(61.0, codeRequestCancelled)
	c.sends(62, "workspace/executeCommand", `{"command":"rm","arguments":[{"uri":"SLAB"}]}`)
	c.fails(62.0, codeInvalidParams)
	c.sends(63, "workspace/executeCommand", `{"command":"cudalab.hint","arguments":[]}`)
	c.fails(63.0, codeInvalidParams)
}

func TestProgress(t *testing.T) {
	c := serve(t)
	c.initialize(`{"capabilities":{"window":{"workDoneProgress":true}}}`)
	c.saves()
	m := c.next()
	require.Equal(t, "window/workDoneProgress/create", m["method"])
	c.raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":null}`, m["id"]))
	require.Contains(t, fmt.Sprint(c.next()), "Checking slab")
	c.begun().answer <- passed
	m = c.next()
	require.Equal(t, "$/progress", m["method"])
	require.Contains(t, fmt.Sprint(m), "end")
	require.Empty(t, c.published())
}
