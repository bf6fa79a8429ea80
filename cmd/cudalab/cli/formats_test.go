package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/judge/visible"
	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/feedback"
	"cudalab/grader/report/gradesheet"
	"cudalab/grader/report/pseudonyms"
)

// nasty are runs of characters that turn the direction of writing round, hide, steer a terminal, or begin a formula.
var nasty = map[string]string{
	"bidi": "a\u202eb\u2066c\u2069\u200f", "invisible": "a\u200b\u2060\ufeff\u00adb",
	"controls":   "\x1b[31mred\x1b]8;;http://x\x07\x00\x7f\u0085\u009b2J",
	"separators": "a\u2028b\u2029c\u00a0", "tags": "a\U000e0041\U000e007f", "private": "\ue000\U000f0000",
	"noncharacters": "\ufffe\uffff",
	"broken":        "\xff\xfe\xc3", "formula": "=1+1", "plus": "+1", "minus": "-2+3", "at": "@SUM(A1)", "wide": "＝1",
	"tab": "\t=1", "return": "\r=1",
	"html": `</script><script>alert(1)</script>`, "xml": "]]><!--", "quotes": `"',;`,
}

// nastyClass is a class in which everything that students have a hand in is one of these.
func nastyClass(text string) *class.Class {
	c := reporttest.Sample()
	for i := range c.Students {
		s := &c.Students[i]
		s.Notes, s.People = []string{text}, []class.Person{{Name: text, SID: text, Email: text, Login: text, Section: text}}
		if s.Problem != "" {
			s.Problem = text
		}
		for j := range s.Exercises {
			r := &s.Exercises[j]
			r.Message, r.Output = text, text
			for k := range r.Checks {
				r.Checks[k].Message = text
				for l := range r.Checks[k].Findings {
					f := &r.Checks[k].Findings[l]
					f.Message, f.Fix, f.Why, f.Picture, f.File = text, text, text, text, text
				}
			}
		}
	}
	return c
}

func TestNothingInvisibleReachesAnyFormat(t *testing.T) {
	for name, text := range nasty {
		t.Run(name, func(t *testing.T) {
			dir, c := t.TempDir(), nastyClass(text)
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "timings"), 0o755))
			all := append([]class.Writer{pseudonyms.Open(dir).Write}, always...)
			for _, w := range formats {
				all = append(all, w)
			}
			for _, export := range []string{"Student,ID,Section\n" + `"` + "ada" + `",1,A` + "\n",
				"Identifier,Full name,Grade,Feedback comments\nParticipant 1,ada,,\n"} {
				sheet, err := gradesheet.Read("x", []byte(export))
				require.NoError(t, err)
				all = append(all, whole(string(sheet.Kind)+"-filled.csv", func(w io.Writer, c *class.Class) error {
					_, err := sheet.Write(w, c, "cudalab")
					return err
				}))
			}
			for _, w := range all {
				require.NoError(t, w(dir, c))
			}
			for i := range c.Students {
				s := &c.Students[i]
				f := &class.Feedback{Class: c, Student: *s, Read: func(string) ([]byte, error) { return []byte(text), nil }}
				for folder, page := range map[string]class.Page{"a": feedback.Page(true), "b": pseudonyms.Open(dir).Page(true)} {
					require.NoError(t, whole(folder+s.ID+".html", func(w io.Writer, _ *class.Class) error {
						return page.Write(w,
							f)
					})(dir, c))
				}
				require.NoError(t, whole(s.ID+".json", func(w io.Writer, _ *class.Class) error {
					return visible.WriteJSON(w,
						s)
				})(dir, c))
			}
			files := 0
			require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				files++
				written, err := os.ReadFile(path)
				require.NoError(t, err)
				written = bytes.TrimPrefix(written, []byte("\ufeff"))
				if filepath.Ext(path) == ".csv" {
					written = bytes.ReplaceAll(written, []byte("\r\n"), []byte("\n"))
				}
				at := bytes.IndexFunc(written, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) })
				require.Negative(t, at, "%s: %q", path, written[max(0, at-30):min(len(written), max(at, 0)+30)])
				if filepath.Ext(path) == ".json" && filepath.Base(filepath.Dir(path)) != "autolab" &&
					filepath.Base(filepath.Dir(path)) != "codegrade" {
					require.True(t, json.Valid(written), path)
				}
				return nil
			}))
			require.Greater(t, files, 40)
		})
	}
}
