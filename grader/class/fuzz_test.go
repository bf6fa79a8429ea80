package class

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cudalab/grader/judge/visible"

	"github.com/stretchr/testify/require"
)

// sealed makes a journal of lines: those that are JSON become events with their checksum, others stay as they are.
func sealed(t testing.TB, text []byte) []byte {
	var b bytes.Buffer
	for l := range bytes.Lines(text) {
		event := bytes.TrimSpace(l)
		if !json.Valid(event) {
			b.Write(l)
			continue
		}
		event, err := visible.JSON(json.RawMessage(event))
		require.NoError(t, err)
		whole, err := visible.JSON(line{Sum: sum(event), Event: event})
		require.NoError(t, err)
		b.Write(append(whole, l[len(bytes.TrimRight(l, "\n")):]...))
	}
	return b.Bytes()
}

const (
	headerLine = `{"header":{"schema":1,"seed":7,"device":{"kind":"sim"},"exercises":[{"name":"slab","max_score":100}],"shard":{"index":1,"of":2}}}` + "\n"
	adaLine    = `{"result":{"schema":1,"id":"ada","status":"graded","score":40,"max_score":100,"notes":["x"],"exercises":[{"exercise":"slab"}]}}` + "\n"
	bobLine    = `{"result":{"id":"bob","status":"error","score":null}}` + "\n"
)

var strangeLines = []string{
	"", "\n", headerLine, headerLine + adaLine + bobLine + adaLine, headerLine + headerLine, adaLine, headerLine + "torn",
	headerLine + "{}\n" + adaLine,
	headerLine + `{"result":{"id":"../ada"}}` + "\n", headerLine + `{"result":{"id":""}}` + "\n", headerLine +
		`{"header":null,"result":{}}`,
	headerLine + `{"result":{"id":"Ada"}}` + "\n" + adaLine, "\x00\x00\n" + headerLine,
	`{"sum":"0","event":{"header":{}}}` + "\n" + bobLine,
}

// FuzzJournal reads any lines as a journal. What it tells can be told again and written on; what is damaged is named.
func FuzzJournal(f *testing.F) {
	for _, text := range strangeLines {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		text = sealed(t, text)
		read, whole, err := readJournal(bytes.NewReader(text), "journal.jsonl")
		if err != nil {
			var asked *UsageError
			require.ErrorAs(t, err, &asked)
			require.Regexp(t, `^Line \d+ of journal\.jsonl(, which [a-z ]+,)? is damaged: .*\.$`, asked.Message)
			return
		}
		require.Equal(t, whole != int64(len(text)), read.torn)
		require.True(t, whole == 0 || text[whole-1] == '\n')
		require.Equal(t, whole > 0, read.header != nil)
		for id, s := range read.results {
			require.Equal(t, id, s.ID)
			require.Equal(t, id, filepath.Base(id), "results are written to files of that name")
		}
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(journalPath(dir), text, 0o600))
		j, again, err := openJournal(dir)
		require.NoError(t, err)
		require.Equal(t, read, again)
		if read.header == nil {
			require.NoError(t, j.begin(Header{Schema: SchemaVersion}))
		}
		require.NoError(t, j.settle(Student{ID: "eve", Status: Graded}))
		require.NoError(t, j.close())
		now, err := os.ReadFile(journalPath(dir))
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(now, text[:whole]), "what was told stays")
		after := reopen(t, dir)
		require.False(t, after.torn)
		delete(read.results, "eve")
		require.Contains(t, after.results, "eve")
		delete(after.results, "eve")
		require.Equal(t, read.results, after.results)
	})
}

// FuzzMerge puts any two journals together. Whoever has a result in them has one of these afterwards, and nothing is
// written but into the folder that is asked for.
func FuzzMerge(f *testing.F) {
	second := strings.Replace(headerLine, `"index":1`, `"index":2`, 1)
	for _, text := range strangeLines {
		f.Add([]byte(text), []byte(second+bobLine))
	}
	f.Add([]byte(headerLine+adaLine), []byte(second+strings.Replace(adaLine, "40", "50", 1)))
	f.Add([]byte(headerLine+bobLine), []byte(second+strings.Replace(bobLine, "error", "graded", 1)))
	f.Add([]byte(headerLine+adaLine), []byte(strings.Replace(second, `"seed":7`, `"seed":8`, 1)+bobLine))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		around := t.TempDir()
		from := []string{filepath.Join(around, "1"), filepath.Join(around, "2")}
		handedIn := map[string][]Student{}
		for i, text := range [][]byte{sealed(t, a), sealed(t, b)} {
			require.NoError(t, os.MkdirAll(filepath.Join(from[i], timingsDir), 0o700))
			require.NoError(t, os.WriteFile(journalPath(from[i]), text, 0o600))
			journal, _, err := readJournal(bytes.NewReader(text), "")
			if err != nil {
				continue
			}
			for id, s := range journal.results {
				handedIn[id] = append(handedIn[id], s)
			}
		}
		to := filepath.Join(around, "merged")
		before := tree(t, around)
		c, err := Merge(from, to, Options{})
		for path, text := range tree(t, around) {
			if path != "merged" && !strings.HasPrefix(path, "merged/") {
				require.Contains(t, before, path)
				require.Equal(t, before[path], text, path)
			}
		}
		if err != nil {
			var asked *UsageError
			require.ErrorAs(t, err, &asked)
			require.True(t, strings.HasSuffix(asked.Message, "."), asked.Message)
			require.NoFileExists(t, journalPath(to))
			return
		}
		require.Len(t, c.Students, len(handedIn))
		for _, s := range c.Students {
			require.Contains(t, handedIn[s.ID], s)
			require.FileExists(t, filepath.Join(to, studentsDir, s.ID+".json"))
		}
		again, _, err := readJournal(bytes.NewReader([]byte(tree(t, to)[journalFile])), "")
		require.NoError(t, err)
		require.Equal(t, Shard{}, again.header.Shard)
		require.Len(t, again.results, len(handedIn))
	})
}

// tree is the files in a folder, with what they hold, and the folders, by their paths.
func tree(t testing.TB, dir string) map[string]string {
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || d.IsDir() {
			all[filepath.ToSlash(name)] = ""
			return err
		}
		text, err := os.ReadFile(path)
		all[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return all
}
