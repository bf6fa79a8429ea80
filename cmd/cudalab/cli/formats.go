package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cudalab/grader/class"
	"cudalab/grader/report/classpage"
	"cudalab/grader/report/gradesheet"
	"cudalab/grader/report/platforms"
)

// formats are what `grade --format` can write besides what it always does.
var formats = map[string]class.Writer{
	"junit": func(dir string, c *class.Class) error {
		return whole("junit.xml", func(w io.Writer, c *class.Class) error {
			return platforms.JUnit(w, c, func(id string) class.Timings { return class.ReadTimings(dir, id) })
		})(dir, c)
	},
	"gradescope":       each("gradescope", platforms.Gradescope),
	"github-classroom": each("github-classroom", platforms.Classroom),
	"prairielearn":     each("prairielearn", platforms.PrairieLearn),
	"autolab":          each("autolab", platforms.Autolab),
	"codegrade":        each("codegrade", platforms.CodeGrade),
	"canvas":           whole("canvas.csv", gradebookOf(gradesheet.Canvas)),
	"moodle":           whole("moodle.csv", gradebookOf(gradesheet.Moodle)),
}

// always are the forms of the results that nobody has to ask for.
var always = []class.Writer{whole("grades.csv", gradesheet.Write), classPage, classpage.WriteTimings}

var classPage = whole("report.html", classpage.Write)

// whole is a format of one file for the class.
func whole(name string, write func(io.Writer, *class.Class) error) class.Writer {
	return func(dir string, c *class.Class) error {
		var text bytes.Buffer
		if err := write(&text, c); err != nil {
			return err
		}
		return class.WriteFile(filepath.Join(dir, name), text.Bytes())
	}
}

// each is a format of one JSON file for each student, in a folder of their own.
func each(folder string, write func(io.Writer, *class.Class, *class.Student) error) class.Writer {
	return func(dir string, c *class.Class) error {
		dir = filepath.Join(dir, folder)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for i := range c.Students {
			var text bytes.Buffer
			if err := write(&text, c, &c.Students[i]); err != nil {
				return err
			}
			if err := class.WriteFile(filepath.Join(dir, c.Students[i].ID+".json"), text.Bytes()); err != nil {
				return err
			}
		}
		return nil
	}
}

// gradebookOf is a gradebook made from what is known of the class.
func gradebookOf(kind gradesheet.Kind) func(io.Writer, *class.Class) error {
	return func(w io.Writer, c *class.Class) error {
		_, err := gradesheet.Of(c, kind).Write(w, c, defaultColumn)
		return err
	}
}

// defaultColumn is what the assignment is called that gets the total.
const defaultColumn = "cudalab"

// gradebookFlags are what is said about a gradebook that was exported from Canvas or Moodle.
type gradebookFlags struct {
	file, column string
	sheet        *gradesheet.Sheet
	filled       gradesheet.Filled
}

func (g *gradebookFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&g.file, "gradebook", "", "fill in the gradebook that Canvas or Moodle has exported to `FILE`, "+
		"to be imported there")
	cmd.Flags().StringVar(&g.column, "column", defaultColumn, "with --gradebook: the assignment `NAME` gets the total")
}

// writer fills in the gradebook; nil where none is given.
func (g *gradebookFlags) writer() (class.Writer, error) {
	if g.file == "" {
		if g.column != defaultColumn {
			return nil, usage("--column names a column of the gradebook: give that as well, with --gradebook.")
		}
		return nil, nil
	}
	text, err := os.ReadFile(g.file)
	if err != nil {
		return nil, usage("the gradebook cannot be read: %v.", err)
	}
	if g.sheet, err = gradesheet.Read(g.file, text); err != nil {
		return nil, err
	}
	return whole(g.name(), func(w io.Writer, c *class.Class) (err error) {
		g.filled, err = g.sheet.Write(w, c, g.column)
		return err
	}), nil
}

func (g *gradebookFlags) name() string { return string(g.sheet.Kind) + ".csv" }

// said is what came of it.
func (g *gradebookFlags) said(results string) []string {
	if g.sheet == nil {
		return nil
	}
	return g.filled.Sentences(filepath.ToSlash(filepath.Join(results, g.name())))
}
