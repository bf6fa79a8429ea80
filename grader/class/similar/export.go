package similar

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ExportJPlag writes an exercise's programs below dir as JPlag takes them: a folder for each student in submissions,
// and base beside it with what everybody was given
// (https://github.com/jplag/JPlag/blob/main/docs/1.-How-to-Use-JPlag.md, "Basic Concepts").
func ExportJPlag(dir, exercise string, programs []Program, g material) error {
	dir = filepath.Join(dir, exercise)
	for _, p := range programs {
		if err := writeFiles(filepath.Join(dir, "submissions", p.ID), p.Files); err != nil {
			return err
		}
	}
	return writeFiles(filepath.Join(dir, "base"), g.Files)
}

// ExportMOSS writes an exercise's programs below dir as MOSS takes them with -d: a folder for each student, which is
// numbered, since the names of folders go to the server with the files; names says who has which number. What everybody
// was given is in base, a file for each -b (usage in the script that https://theory.stanford.edu/~aiken/moss/ leads
// to).
func ExportMOSS(dir, exercise string, programs []Program, g material) (names string, err error) {
	dir = filepath.Join(dir, exercise)
	var b strings.Builder
	for i, p := range programs {
		number := fmt.Sprintf("%04d", i+1)
		fmt.Fprintf(&b, "%s/%s\t%s\n", exercise, number, p.ID)
		if err := writeFiles(filepath.Join(dir, "submissions", number), p.Files); err != nil {
			return "", err
		}
	}
	return b.String(), writeFiles(filepath.Join(dir, "base"), g.Files)
}

func writeFiles(dir string, files []File) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
