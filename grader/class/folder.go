package class

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"cudalab/grader/class/intake"
	"cudalab/grader/judge/visible"
	"cudalab/grader/machine/lock"
	"cudalab/grader/suite/verdict"
)

// What a folder of results holds besides the journal.
const (
	studentsDir = "students" // a settled result for each student
	timingsDir  = "timings"  // and the reports behind it as they came, with times and what was measured
	lockFile    = "lock"     // held by whoever grades into the folder

	partial = ".*.partial" // a file that is being written
)

// folder is a folder of results that this process alone writes to.
type folder struct {
	dir     string
	release func()
}

// openFolder makes the folder if need be and takes it. Unless told to resume it must be empty.
func openFolder(dir string, resume bool) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil { // grades are not for everyone to read
		return nil, &UsageError{fmt.Sprintf("The folder for results cannot be made: %v.", err)}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, &UsageError{fmt.Sprintf("The folder for results cannot be read: %v.", err)}
	}
	strange := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Name() != lockFile && !abandoned(e.Name()) })
	_, err = os.Stat(journalPath(dir))
	switch begun := err == nil; {
	case begun && !resume:
		return nil,
			&UsageError{fmt.Sprintf("%s holds results already: go on with them with --resume, or name another folder with -o.",
				dir)}
	case !begun && strange >= 0:
		return nil, &UsageError{fmt.Sprintf("%s holds no results of cudalab's, but %s: name an empty folder with -o.",
			dir, entries[strange].Name())}
	}
	release, ok, err := lock.Try(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, &UsageError{fmt.Sprintf("The folder for results cannot be written to: %v.", err)}
	}
	if !ok {
		return nil,
			&UsageError{fmt.Sprintf("Another cudalab is grading into %s: wait until it is done, or name another folder with -o.",
				dir)}
	}
	if err := tidy(dir, true); err != nil {
		release()
		return nil, err
	}
	return &folder{dir, release}, nil
}

// tidy removes what a cudalab that was killed has left in a folder and in those below it: files that it was writing,
// and copies of the submissions.
func tidy(dir string, below bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case abandoned(e.Name()):
			err = os.RemoveAll(path)
		case e.IsDir() && below:
			err = tidy(path, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// abandoned reports whether a name is one that only cudalab at work uses.
func abandoned(name string) bool {
	half, _ := filepath.Match(partial, name)
	return half || intake.IsFolder(name)
}

// begin makes the folders in it.
func (f *folder) begin() error {
	for _, sub := range []string{studentsDir, timingsDir} {
		if err := os.MkdirAll(filepath.Join(f.dir, sub), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) close() { f.release() }

// class writes everything but the timings, from what is known of the class.
func (f *folder) class(c *Class, writers []Writer) error {
	for i, s := range c.Students {
		if err := f.student(s); err != nil {
			return err
		}
		f.findPage(&c.Students[i])
	}
	for _, write := range writers {
		if err := write(f.dir, c); err != nil {
			return err
		}
	}
	return nil
}

// student writes one student's result.
func (f *folder) student(s Student) error {
	return replaceJSON(filepath.Join(f.dir, studentsDir, s.ID+".json"), s)
}

// Timings are one student's reports as they came. Nothing in them is promised to be the same another time.
type Timings struct {
	Schema     int              `json:"schema"`
	ID         string           `json:"id"`
	Attempts   int              `json:"attempts"` // 1, or more where one failed by no fault of the student's
	GPU        string           `json:"gpu,omitempty"`
	DurationMS int64            `json:"duration_ms"`
	Exercises  []verdict.Report `json:"exercises"`
}

// ReadTimings are a student's in a folder of results; they are empty where they are lost, without which a result is
// whole.
func ReadTimings(dir, id string) (t Timings) {
	text, err := os.ReadFile(filepath.Join(dir, timingsDir, id+".json"))
	if err != nil || json.Unmarshal(text, &t) != nil {
		return Timings{}
	}
	return t
}

func (f *folder) timings(t Timings) error {
	return replaceJSON(filepath.Join(f.dir, timingsDir, t.ID+".json"), t)
}

// findPage finds the page of a student, if it is of this result.
func (f *folder) findPage(s *Student) {
	if name := s.ID + ".html"; IsPageOf(filepath.Join(f.dir, studentsDir, name), *s) {
		s.Page = studentsDir + "/" + url.PathEscape(name)
	}
}

// replaceJSON writes a file of indented JSON, whole at every moment.
func replaceJSON(path string, v any) error {
	var text bytes.Buffer
	if err := visible.WriteJSON(&text, v); err != nil {
		return err
	}
	return WriteFile(path, text.Bytes())
}

// WriteFile writes a file that is, at every moment, either the old one or the new. One that says the same stays as it
// is.
func WriteFile(path string, text []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	temp, err := os.CreateTemp(filepath.Dir(path), partial)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails once it has its name
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Chmod(0o644), temp.Close())
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
