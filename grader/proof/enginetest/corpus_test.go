package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/proof/browsertest"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/report"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

var (
	ends   = flag.Bool("ends", false, "check code that ends badly in bin/browser")
	lesson = flag.String("lesson", "", "the only `exercise` whose corpus is checked; default: all")
	slice  = flag.String("slice", "", "`I/N` checks every N-th program of the corpus, from the I-th on; without it "+
		"nothing is checked")
)

// seed is what the programs' workloads are drawn from.
const seed = 42

// What the checks say of a program in the browser is what they say of it on the command line, to the letter, but for
// what is measured by a clock.
func TestCorpus(t *testing.T) {
	if *slice == "" {
		t.Skip("the corpus is checked in slices: -slice 1/20")
	}
	var i, n int
	_, err := fmt.Sscanf(*slice, "%d/%d", &i, &n)
	require.NoError(t, err, "-slice is I/N")
	c, err := course.Open("")
	require.NoError(t, err)
	p := page(t, c.Root)
	count := 0
	for _, e := range c.Exercises {
		if *lesson != "" && e.Name != *lesson {
			continue
		}
		programs, err := corpus.Programs(c.Root, e.Package)
		require.NoError(t, err)
		var precompiled *compile.Precompiled
		for _, program := range programs {
			if count++; (count-1)%n != (i-1)%n {
				continue
			}
			t.Run(e.Name+"/"+program.String(), func(t *testing.T) {
				if precompiled == nil {
					precompiled = check.Precompile(context.Background(), c.Root, []course.Exercise{e}, nil)
				}
				requireSame(t, p, c.Root, e, precompiled, program.Text)
			})
		}
	}
	t.Logf("%d programs in all", count)
}

// requireSame has a program checked here and in the browser, in a folder of the same name.
func requireSame(t *testing.T, p *browsertest.Page, root string, e course.Exercise, precompiled *compile.Precompiled,
	text string) verdict.Report {
	t.Helper()
	want, got := both(t, p, root, e, precompiled, text)
	require.Equal(t, comparable(want), comparable(got))
	return got
}

// both are what is said of a program here and in the browser.
func both(t *testing.T, p *browsertest.Page, root string, e course.Exercise, precompiled *compile.Precompiled,
	text string) (want, got verdict.Report) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), e.Package)
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, e.Package+".go"), []byte(text), 0o644))
	native := check.Exercise(context.Background(), check.Request{
		Course: compile.Course{Root: root, Precompiled: precompiled}, Options: run.Options{Device: "sim", Seed: seed},
		Code: []check.Code{{Exercise: e, Dir: dir}},
	})
	require.NoError(t, native.Err)
	var document bytes.Buffer
	require.NoError(t, report.JSON(&document, native.Report))
	require.NoError(t, json.Unmarshal(document.Bytes(), &want))
	request, err := json.Marshal(map[string]any{"exercise": e.Name, "files": map[string]string{e.Package + ".go": text},
		"seed": seed, "dir": dir, "html": false})
	require.NoError(t, err)
	require.NoError(t, p.Eval(fmt.Sprintf(`engine.check(%s).then(r => r.json)`, request), &got))
	return want, got
}

// What a real clock has measured is another number each time: in words, by a search for a size at which code is too
// slow, which stands in a line of the code as well, and by how often code was called before it showed that it is
// another when timed. Where in a loop code was when its time was up is chance, too, and in the browser it is where the
// loop counts its rounds.
var (
	measured  = regexp.MustCompile(`[\d,.]+ (ns|µs|ms)\b`)
	too       = regexp.MustCompile(`[\d,.]+`)
	slowRules = []string{"grows", "wrong-when-timed", "timeout"}
)

// most is how much of a long output is compared, from either end: where the middle is left out depends on how it was
// read.
const most = 32 << 10

// comparable is a report as text, without what a clock has measured.
func comparable(r verdict.Report) string {
	r.DurationMS = 0
	if len(r.Output) > 2*most {
		r.Output = r.Output[:most] + "…" + r.Output[len(r.Output)-most:]
	}
	r.Checks = slices.Clone(r.Checks)
	for i := range r.Checks {
		c := &r.Checks[i]
		c.Measurements, c.Findings = slices.Clone(c.Measurements), slices.Clone(c.Findings)
		c.Message = measured.ReplaceAllString(c.Message, "some time")
		for j := range c.Measurements {
			c.Measurements[j] = verdict.Measurement{Name: too.ReplaceAllString(c.Measurements[j].Name, "many")}
		}
		for j := range c.Findings {
			f := &c.Findings[j]
			f.Message = measured.ReplaceAllString(f.Message, "some time")
			if slices.Contains(slowRules, f.Rule) {
				f.Message, f.Line = too.ReplaceAllString(f.Message, "many"), 0
			}
		}
	}
	text, _ := json.MarshalIndent(r, "", " ")
	return string(text)
}

// page is a page with the engine of bin/browser.
func page(t *testing.T, root string) *browsertest.Page {
	t.Helper()
	out := filepath.Join(root, "bin", "browser")
	if _, err := os.Stat(filepath.Join(out, "manifest.json")); err != nil {
		t.Skip("`make browser` builds what is tested here")
	}
	server := httptest.NewServer(Site(out, filepath.Join(root, "grader", "browser", "site", "engine.js"), true))
	t.Cleanup(server.Close)
	c, err := browsertest.Start(browsertest.Options{Profile: browsertest.Profile(t)})
	if errors.Is(err, browsertest.ErrNone) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(c.Close)
	require.NoError(t, c.Go(server.URL))
	require.NoError(t,
		c.Eval(
			`(async () => { const {start} = await import('/engine.js'); window.engine = await start(); await engine.ready })()`,
			nil))
	return c
}
