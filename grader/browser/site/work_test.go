package site_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/intake"
	"cudalab/grader/desk/progress"
	"cudalab/grader/proof/browsertest"
	"cudalab/grader/suite/verdict"
)

const code = "package asyncpipeline\n\n// größer: ✓\n"

// What is exported is what `cudalab grade` takes, and what the command line goes on from; and it comes back in.
func TestWorkLeavesAndReturns(t *testing.T) {
	w, _ := begun(t, browsers["chromium"])
	w.Eval(`(async () => {
		const {Store} = await import("./store.js"), {exported} = await import("./work.js");
		const {lessons} = await (await fetch("course.json")).json();
		const store = new Store();
		store.change("async-pipeline", {files: {"asyncpipeline.go": ` + "`" + code + "`" + `, "helper.go": "package asyncpipeline\n"},
			status: "failed", score: 35, max: 100, when: "2026-01-02T03:04:05.000Z", seed: 9, hints: {"1b": 2},
			best: {score: 60, max_score: 100, device: "sim", when: "2026-01-01T03:04:05.000Z"}, findings: [{rule: "leak", file: "asyncpipeline.go", line: 3}]});
		store.change("slab", {files: lessons.find(l => l.name === "slab").files});
		const {blob} = exported(lessons, store);
		window.packed = new Uint8Array(await blob.arrayBuffer());
	})()`)
	packed, err := base64.StdEncoding.DecodeString(w.Eval(`btoa(String.fromCharCode(...window.packed))`))
	require.NoError(t, err)
	class := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(class, "ada.zip"), packed, 0o600))
	in, err := intake.Open(class, []string{"asyncpipeline", "slab"}, intake.Options{Temp: t.TempDir()})
	require.NoError(t, err)
	defer in.Close()
	require.Len(t, in.Submissions(), 1)
	s := in.Submissions()[0]
	require.Equal(t, "ada", s.ID)
	require.Empty(t, s.Problem)
	require.Empty(t, s.Notes)
	require.Equal(t, []string{"asyncpipeline"}, s.Packages, "what is as it was handed out was not begun")
	text, err := os.ReadFile(filepath.Join(s.Dir, "asyncpipeline", "asyncpipeline.go"))
	require.NoError(t, err)
	require.Equal(t, code, string(text))
	require.FileExists(t, filepath.Join(s.Dir, "asyncpipeline", "helper.go"))

	// The progress in it is the command line's own.
	root := t.TempDir()
	kept := w.Eval(`(async () => {
		const {unpack} = await import("./zip.js");
		return Object.values(await unpack(window.packed.buffer, path => path === ".cudalab/progress.json"))[0];
	})()`)
	require.NoError(t, os.Mkdir(filepath.Join(root, ".cudalab"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, ".cudalab", "progress.json"), []byte(kept), 0o644))
	require.Empty(t, progress.Repair(root))
	e := progress.Load(root)["async-pipeline"]
	require.Equal(t, verdict.Failed, e.Status)
	require.Equal(t, 60.0, e.Best.Score)
	require.Equal(t, uint64(9), e.FailingSeed)
	require.Equal(t, []progress.Finding{{Rule: "leak", File: "asyncpipeline.go", Line: 3}}, e.Findings)
	require.Equal(t, map[string]int{"1b": 2}, e.Hints)

	// Another browser takes it by its menu.
	w.Eval(`(() => {
		localStorage.clear();
		const chosen = new DataTransfer();
		chosen.items.add(new File([window.packed], "work.zip"));
		const input = document.querySelector("#import-zip");
		input.files = chosen.files;
		input.dispatchEvent(new Event("change"));
	})()`)
	browsertest.Eventually(t, w, `document.querySelector("#files").textContent === "asyncpipeline.gohelper.go"`,
		time.Minute)
	browsertest.Eventually(t, w, `document.querySelector(".cm-content").textContent.includes("größer: ✓")`, time.Minute)
	w.Eval(`document.querySelector("#bring-back").click()`)
	browsertest.Eventually(t, w, `document.querySelector(".cm-content").textContent.includes("TODO(1a)")`, time.Minute,
		"what was there is kept")

	for _, broken := range []string{`"no zip"`, `window.packed.slice(0, 90)`, `window.packed.slice(40)`} {
		w.Eval(`(() => {
			const chosen = new DataTransfer();
			chosen.items.add(new File([` + broken + `], "work.zip"));
			const input = document.querySelector("#import-zip");
			document.querySelector("#toast").textContent = "";
			input.files = chosen.files;
			input.dispatchEvent(new Event("change"));
		})()`)
		browsertest.Eventually(t, w,
			`document.querySelector("#toast").textContent === "This is no zip archive, or a damaged one."`, time.Minute, broken)
	}
}
