package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"cudalab/grader/class"
	"cudalab/grader/report/classpage"
	"cudalab/grader/report/classroom"
	"cudalab/grader/report/gradescope"
	"cudalab/grader/report/gradesheet"
	"cudalab/grader/report/junit"
	"cudalab/grader/report/prairielearn"
)

// formats are what `grade --format` can write besides what it always does.
var formats = map[string]class.Writer{
	"junit":            whole("junit.xml", junit.Write),
	"gradescope":       each("gradescope", gradescope.Write),
	"github-classroom": each("github-classroom", classroom.Write),
	"prairielearn":     each("prairielearn", prairielearn.Write),
}

// always are the forms of the results that nobody has to ask for.
var always = []class.Writer{
	whole("grades.csv", gradesheet.Write),
	whole("report.html", classpage.Write),
	classpage.WriteTimings,
}

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
