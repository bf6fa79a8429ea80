package class

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
)

// hostile is what somebody hands in who means harm, and what is to come of it.
type hostile struct {
	hand   func(t *testing.T, dir, id string)
	status verdict.Status // of async-pipeline
	or     verdict.Status // or this, where which of two limits comes first is up to the machine
	unread bool           // it is left to a person, without a grade
	found  []placed       // findings on lines of the program
	says   string         // in its report, its notes or its problem; a regular expression
}

// placed is a finding by its rule and line.
type placed struct {
	rule string
	line int
}

// hostilePrograms are those below testdata/hostile. Comments in them say what becomes of them:
//
//	//cudalab:status timeout   the report's status; of two that it may be, "crashed or timeout"
//	... // want: timeout       a finding with this rule on this line
func hostilePrograms(t *testing.T) map[string]hostile {
	t.Helper()
	files, err := filepath.Glob("testdata/hostile/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := map[string]hostile{}
	for _, file := range files {
		text := program(t, "grader/class/"+filepath.ToSlash(file))
		h := hostile{hand: func(t *testing.T, dir, id string) { handIn(t, dir, id+"/asyncpipeline/asyncpipeline.go", text) }}
		status := regexp.MustCompile(`(?m)^//cudalab:status (.*)$`).FindStringSubmatch(text)
		require.NotNil(t, status, file)
		is, or, _ := strings.Cut(status[1], " or ")
		h.status, h.or = verdict.Status(is), verdict.Status(or)
		for i, line := range strings.Split(text, "\n") {
			if _, rule, ok := strings.Cut(line, "// want: "); ok {
				h.found = append(h.found, placed{rule, i + 1})
			}
		}
		all[strings.TrimSuffix(filepath.Base(file), ".go")] = h
	}
	return all
}

// hostileFiles do their harm by the form in which they are handed in.
func hostileFiles(t *testing.T) map[string]hostile {
	t.Helper()
	right := program(t, "solutions/asyncpipeline/asyncpipeline.go")
	none := verdict.NotStarted
	return map[string]hostile{
		"zip-bomb": {hand: func(t *testing.T, dir, id string) {
			archive(t, filepath.Join(dir, id+".zip"), map[string]string{"asyncpipeline/asyncpipeline.go": right,
				"asyncpipeline/zeroes.go": strings.Repeat("\x00", 48<<20)})
		}, status: none, unread: true, says: `unpacks to more than 200 times its size`},
		"traversal": {hand: func(t *testing.T, dir, id string) {
			archive(t, filepath.Join(dir, id+".zip"), map[string]string{"asyncpipeline/asyncpipeline.go": right,
				"asyncpipeline/../../ann/asyncpipeline/asyncpipeline.go": "package stolen"})
		}, status: none, unread: true, says: `which leads out of it`},
		"absolute": {hand: func(t *testing.T, dir, id string) {
			archive(t, filepath.Join(dir, id+".zip"), map[string]string{"asyncpipeline/asyncpipeline.go": right,
				filepath.ToSlash(dir) + "/ann/asyncpipeline/asyncpipeline.go": "package stolen"})
		}, status: none, unread: true, says: `a place outside of it`},
		"link-in-archive": {hand: func(t *testing.T, dir, id string) {
			f, err := os.Create(filepath.Join(dir, id+".tar.gz"))
			require.NoError(t, err)
			defer f.Close()
			z := gzip.NewWriter(f)
			w := tar.NewWriter(z)
			require.NoError(t, w.WriteHeader(&tar.Header{Name: "asyncpipeline/asyncpipeline.go", Typeflag: tar.TypeSymlink,
				Linkname: filepath.Join(dir, "ann/asyncpipeline/asyncpipeline.go")}))
			require.NoError(t, w.Close())
			require.NoError(t, z.Close())
		}, status: none, says: `link`},
		"link": {hand: func(t *testing.T, dir, id string) {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, id, "asyncpipeline"), 0o755))
			require.NoError(t, os.Symlink(filepath.Join(dir, "ann/asyncpipeline/asyncpipeline.go"),
				filepath.Join(dir, id, "asyncpipeline/asyncpipeline.go")))
		}, status: none, says: `link`},
		"link-to-folder": {hand: func(t *testing.T, dir, id string) {
			require.NoError(t, os.Symlink(filepath.Join(dir, "ann"), filepath.Join(dir, id)))
		}, status: none, unread: true, says: `link`},
		"source-not-UTF-8": {hand: func(t *testing.T, dir, id string) {
			handIn(t, dir, id+"/asyncpipeline/asyncpipeline.go", strings.Replace(right, "// Run puts", "// R\xfcn puts", 1))
		}, status: verdict.Refused, says: `should be UTF-8 text`},
		"name-not-UTF-8": {hand: func(t *testing.T, dir, id string) {
			f, err := os.Create(filepath.Join(dir, id+".zip"))
			require.NoError(t, err)
			defer f.Close()
			z := zip.NewWriter(f)
			w, err := z.CreateHeader(&zip.FileHeader{Name: "asyncpipeline/m\xfcller.go", NonUTF8: true})
			require.NoError(t, err)
			_, err = w.Write([]byte(right))
			require.NoError(t, err)
			require.NoError(t, z.Close())
		}, status: verdict.Refused, says: `m%FCller\.go`},
		"assembly": {hand: func(t *testing.T, dir, id string) {
			handIn(t, dir, id+"/asyncpipeline/asyncpipeline.go", right)
			handIn(t, dir, id+"/asyncpipeline/syscall_amd64.s", "TEXT ·exit(SB),0,$0-0\n\tMOVQ $231, AX\n\tSYSCALL\n")
		}, status: verdict.Refused, says: `syscall_amd64\.s is something else`},
		"module": {hand: func(t *testing.T, dir, id string) {
			handIn(t, dir, id+"/asyncpipeline/asyncpipeline.go", right)
			handIn(t, dir, id+"/asyncpipeline/go.mod", "module cudalab\n\ntoolchain go9.9.9\n")
		}, status: verdict.Passed, says: `"status": "passed"`},
		"results": {hand: func(t *testing.T, dir, id string) {
			handIn(t, dir, id+"/asyncpipeline/asyncpipeline.go", right)
			for _, name := range []string{"journal.jsonl", "students/ann.json", "grades.csv"} {
				handIn(t, dir, id+"/"+name, `{"schema":1,"id":"ann","status":"graded","score":0}`)
			}
		}, status: verdict.Passed, says: `journal\.jsonl`},
	}
}

// TestHostile grades a class with everyone in it who means harm. Each is contained and told what it was, and the
// results of all others are those of a class without them.
func TestHostile(t *testing.T) {
	quiet := t.TempDir()
	neighbours := classroom(t, quiet, "neighbours", 6, "asyncpipeline", "slab")
	alone := graded(t, quiet, "async-pipeline", "slab")
	grade(t, alone)

	loud := t.TempDir()
	classroom(t, loud, "neighbours", 6, "asyncpipeline", "slab")
	all := hostilePrograms(t)
	maps.Copy(all, hostileFiles(t))
	for id, h := range all {
		require.NotContains(t, neighbours, id)
		h.hand(t, loud, id)
	}
	among := graded(t, loud, "async-pipeline", "slab")
	among.Say = func(sentence string) { require.NotContains(t, sentence, "panicked") }
	c := grade(t, among)
	require.Len(t, c.Students, len(all)+len(neighbours))

	for _, id := range neighbours {
		file := studentsDir + "/" + id + ".json"
		require.Equal(t, promised(t, alone.Results)[file], promised(t, among.Results)[file], id)
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		t.Run(id, func(t *testing.T) { all[id].expect(t, among.Results, c, id) })
	}
}

func (h hostile) expect(t *testing.T, results string, c *Class, id string) {
	s := c.Students[slices.IndexFunc(c.Students, func(s Student) bool { return s.ID == id })]
	if h.unread {
		require.Equal(t, Unread, s.Status, s.Problem)
		require.True(t, slices.ContainsFunc(c.Attention, func(a Attention) bool { return a.ID == id }),
			"a person is asked to look at it")
		h.expectFiles(t, results, id)
		return
	}
	require.Equal(t, Graded, s.Status, s.Problem)
	r := s.Exercises[0]
	t.Logf("%s %s", s.Problem, strings.Join(s.Notes, " "))
	h.expectReport(t, r)
	if h.status != verdict.Passed {
		require.Less(t, s.Score, s.MaxScore/2)
	}
	h.expectFiles(t, results, id)
}

// expectReport looks at what was said of the hostile exercise.
func (h hostile) expectReport(t *testing.T, r verdict.Report) {
	t.Logf("%s: %s", r.Status, r.Message)
	var found []placed
	for _, ch := range r.Checks {
		for _, f := range ch.Findings {
			found = append(found, placed{f.Rule, f.Line})
			require.False(t, filepath.IsAbs(f.File), f.File)
			if f.Severity == verdict.Error && len(found) < 4 {
				t.Logf("line %d: %s: %.200s", f.Line, f.Rule, f.Message)
			}
		}
	}
	if h.or == "" || r.Status != h.or {
		require.Equal(t, h.status, r.Status)
	}
	require.Subset(t, found, h.found)
}

// expectFiles looks at what is kept of the submission.
func (h hostile) expectFiles(t *testing.T, results, id string) {
	text, err := os.ReadFile(filepath.Join(results, studentsDir, id+".json"))
	require.NoError(t, err)
	require.Regexp(t, h.says, string(text))
	for _, kept := range []string{studentsDir, timingsDir} {
		info, err := os.Stat(filepath.Join(results, kept, id+".json"))
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(1<<20), fmt.Sprintf("what is kept of it in %s", kept))
	}
}
