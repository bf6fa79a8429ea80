package class

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

var (
	attacks = flag.String("attacks", "^("+strings.Join([]string{"forged-compiler-line", "forged-line-of-another-exercise",
		"gibibyte-of-globals",
		"forged-crash", "forged-crash-at-the-start", "lent-stream-when-timed", "lying-as", "panic-in-disguise",
		"recursion-in-turns",
		"coroutine-across", "slab-close-panics", "crossstreamevents-recovers-the-grader"}, "|")+")$",
		"which attacks TestAttacks makes, a regular `expression`: . takes minutes of CPU time")
	repeats  = flag.Int("repeats", 1, "how `often` TestVerdictsRepeat grades on a busy machine")
	repeated = flag.String("repeated", "^recursion$", "which attacks it repeats, a regular `expression`")
)

// attack is one file of testdata/attacks.txtar.
type attack struct {
	hostile
	name, pkg string
	files     map[string]string // by name, in the exercise's folder
}

func allAttacks(t testing.TB) (all []attack) {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/attacks.txtar")
	require.NoError(t, err)
	for _, f := range archive.Files {
		all = append(all, newAttack(t, f.Name, string(f.Data)))
	}
	return all
}

var (
	expanded  = regexp.MustCompile(`(?s)«(\d+) (.*?)»`)
	imported  = regexp.MustCompile(`\b(cuda|contract|kernels|errors|fmt|iter|strings)\.`)
	importing = map[string]string{"cuda": "cudalab/native/cuda", "contract": "cudalab/exercises/contract",
		"kernels": "cudalab/kernels"}
)

func newAttack(t testing.TB, name, text string) attack {
	a := attack{name: strings.ReplaceAll(name, "/", "-"), pkg: "asyncpipeline", files: map[string]string{}}
	if pkg, _, ok := strings.Cut(name, "/"); ok {
		a.pkg = pkg
	}
	text = expand(text)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if s, ok := strings.CutPrefix(line, "//status "); ok {
			a.status = verdict.Status(s)
		}
		if s, ok := strings.CutPrefix(line, "//says "); ok {
			a.says = s
		}
		if s, ok := strings.CutPrefix(line, "//right "); ok {
			a.files["solved.go"] = solved(t, a.pkg, strings.Fields(s))
		}
	}
	require.NotEmpty(t, a.status, name)
	head := "package " + a.pkg + "; import ("
	seen := map[string]bool{}
	for _, m := range imported.FindAllStringSubmatch(text, -1) {
		if p := m[1]; !seen[p] {
			seen[p] = true
			if path, ok := importing[p]; ok {
				p = path
			}
			head += strconv.Quote(p) + ";"
		}
	}
	a.files["attack.go"] = head + ")\n" + text
	for i, line := range strings.Split(a.files["attack.go"], "\n") {
		if _, rule, ok := strings.Cut(line, "// want: "); ok {
			a.found = append(a.found, placed{strings.TrimSpace(rule), i + 1})
		}
	}
	return a
}

// expand writes out what is repeated: «3 x» is xxx, with # for the number from 1 on and ## for the one before.
func expand(text string) string {
	text = strings.NewReplacer("{CR}", "\r", "{RLO}", "\u202e").Replace(text)
	return expanded.ReplaceAllStringFunc(text, func(part string) string {
		m := expanded.FindStringSubmatch(part)
		n, _ := strconv.Atoi(m[1])
		if !strings.Contains(m[2], "#") {
			return strings.Repeat(m[2], n)
		}
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.NewReplacer("##", fmt.Sprint(i), "#", fmt.Sprint(i+1)).Replace(m[2]))
		}
		return b.String()
	})
}

// solved is a lesson's solution in which some functions have another name.
func solved(t testing.TB, pkg string, functions []string) string {
	text := program(t, "solutions/"+pkg+"/"+pkg+".go")
	for _, name := range functions {
		changed := regexp.MustCompile(`(?m)^func (\([^)]*\) )?`+name+`\(`).ReplaceAllString(text, "func ${1}solved"+name+"(")
		require.NotEqual(t, text, changed, name)
		text = changed
	}
	return text
}

func (a attack) handIn(t *testing.T, dir string) {
	for name, text := range a.files {
		handIn(t, dir, filepath.Join(a.name, a.pkg, name), text)
	}
}

// TestAttacks grades a class of all who attack. In each submission another exercise is right, and gets what it gets
// alone.
func TestAttacks(t *testing.T) {
	chosen := regexp.MustCompile(*attacks)
	dir := t.TempDir()
	other := map[string]string{"asyncpipeline": "slab", "slab": "asyncpipeline", "crossstreamevents": "slab"}
	right := map[string]string{}
	for _, pkg := range []string{"slab", "asyncpipeline"} {
		right[pkg] = program(t, "solutions/"+pkg+"/"+pkg+".go")
	}
	made := map[string]attack{}
	for _, a := range allAttacks(t) {
		if !chosen.MatchString(a.name) {
			continue
		}
		made[a.name] = a
		a.handIn(t, dir)
		handIn(t, dir, filepath.Join(a.name, other[a.pkg], "right.go"), right[other[a.pkg]])
	}
	handIn(t, dir, "ann/slab/right.go", right["slab"])
	handIn(t, dir, "ann/asyncpipeline/right.go", right["asyncpipeline"])
	o := graded(t, dir, "async-pipeline", "slab", "cross-stream-events")
	o.Say = func(sentence string) { require.NotContains(t, sentence, "panicked") }
	began := time.Now()
	o.Progress = func(p Progress) { t.Logf("%v: %d of %d", time.Since(began).Round(time.Second), p.Done, p.Total) }
	c := grade(t, o)
	report := func(s Student, pkg string) verdict.Report {
		return s.Exercises[slices.IndexFunc(o.Exercises, func(e course.Exercise) bool { return e.Package == pkg })]
	}
	find := func(id string) Student {
		return c.Students[slices.IndexFunc(c.Students, func(s Student) bool { return s.ID == id })]
	}
	ann := find("ann")
	for _, name := range slices.Sorted(maps.Keys(made)) {
		t.Run(name, func(t *testing.T) {
			a, s := made[name], find(name)
			var timings Timings
			text, err := os.ReadFile(filepath.Join(o.Results, timingsDir, name+".json"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &timings))
			t.Logf("%s in %d ms and %d attempts", s.Status, timings.DurationMS, timings.Attempts)
			if len(s.Exercises) > 0 {
				require.Equal(t, report(ann, other[a.pkg]), report(s, other[a.pkg]), "the right exercise beside it")
				a.expectReport(t, report(s, a.pkg))
			}
			require.Equal(t, Graded, s.Status, s.Problem)
			a.expectFiles(t, o.Results, name)
		})
	}
}

// TestVerdictsRepeat grades those who loop, recurse and take memory without end, and who are right, on a machine as it
// is and on one of which another program keeps each processor busy. CPU time and memory decide, so that the results are
// the same to the byte.
func TestVerdictsRepeat(t *testing.T) {
	dir := t.TempDir()
	chosen := regexp.MustCompile(*repeated)
	for _, a := range allAttacks(t) {
		if chosen.MatchString(a.name) {
			a.handIn(t, dir)
		}
	}
	for _, pkg := range []string{"slab", "asyncpipeline"} {
		handIn(t, dir, "ann/"+pkg+"/right.go", program(t, "solutions/"+pkg+"/"+pkg+".go"))
	}
	quiet := graded(t, dir, "async-pipeline", "slab")
	for _, s := range grade(t, quiet).Students {
		require.Equal(t, Graded, s.Status, s.Problem)
	}
	want := promised(t, quiet.Results)
	for range runtime.NumCPU() {
		loop := exec.Command("/bin/sh", "-c", "while :; do :; done")
		require.NoError(t, loop.Start())
		defer func() { _ = loop.Process.Kill(); _ = loop.Wait() }()
	}
	for n := range *repeats {
		busy := graded(t, dir, "async-pipeline", "slab")
		began := time.Now()
		for _, s := range grade(t, busy).Students {
			t.Logf("%s: %s %s", s.ID, s.Status, s.Exercises[0].Status)
		}
		t.Logf("run %d of %d took %v", n+1, *repeats, time.Since(began).Round(time.Second))
		got := promised(t, busy.Results)
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if strings.HasPrefix(name, studentsDir) {
				require.Equal(t, want[name], got[name], name)
			}
		}
	}
}
