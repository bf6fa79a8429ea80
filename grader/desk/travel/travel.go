// Package travel takes a student's code and progress from one machine to another as one file: a zip that is laid out as
// the course is. The browser's edition writes and reads the same, and `cudalab grade` takes it.
package travel

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"cudalab/grader/desk/carry"
	"cudalab/grader/desk/change"
	"cudalab/grader/desk/parcel"
	"cudalab/grader/desk/progress"
	"cudalab/grader/suites/course"
)

// progressFile is where progress lies in a zip, as in a course.
const progressFile = progress.Folder + "/progress.json"

// What a work may hold: no exercise comes near it.
const (
	mostFile  = 4 << 20
	mostFiles = 1000
	mostBytes = 64 << 20
)

// Damaged is what is wrong with a work that cannot be read.
type Damaged struct {
	Message string // a sentence
}

func (d *Damaged) Error() string { return d.Message }

func damagedf(format string, args ...any) error { return &Damaged{fmt.Sprintf(format, args...)} }

// Work is a student's, by paths below a course's root, with slashes.
type Work map[string]File

// File is one of a work's.
type File struct {
	Text    []byte
	Written time.Time // by it one knows whether it has been edited since it was checked; zero: not known
}

// Of is the work in a course: the Go files of all exercises that were begun, the progress, and what the exercises were
// begun from, so that they can go on in a newer course.
func Of(c *course.Course) (w Work, exercises []string, err error) {
	w = Work{}
	record := parcel.Record{Skeletons: map[string]string{}}
	if own, err := parcel.ReadRecord(c.Root); err == nil {
		record = own
	}
	record.Files = nil // which only the course that it is of needs
	for _, e := range c.Exercises {
		skeleton, err := e.Skeleton()
		if err != nil {
			return nil, nil, err
		}
		folder := "exercises/" + e.Package
		main := folder + "/" + e.Package + ".go"
		if record.Skeletons[main] == "" {
			record.Skeletons[main] = string(skeleton)
		}
		files, err := goFiles(c.Root, folder)
		if err != nil {
			return nil, nil, err
		}
		if len(files) == 0 || len(files) == 1 && string(files[main].Text) == record.Skeletons[main] {
			continue
		}
		maps.Copy(w, files)
		exercises = append(exercises, e.Name)
	}
	kept, err := os.ReadFile(filepath.Join(c.Root, filepath.FromSlash(progressFile)))
	if err == nil {
		w[progressFile] = File{Text: kept}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if len(exercises) > 0 {
		w[parcel.RecordFile] = File{Text: record.Text()}
	}
	return w, exercises, nil
}

// goFiles are those of a folder of the course at root, by their paths below it.
func goFiles(root, folder string) (map[string]File, error) {
	files := map[string]File{}
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(folder)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if path.Ext(e.Name()) != ".go" || !e.Type().IsRegular() {
			continue
		}
		file := folder + "/" + e.Name()
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		files[file] = File{text, written(e)}
	}
	return files, nil
}

func written(e fs.DirEntry) time.Time {
	info, err := e.Info()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Zip is the work as one file.
func (w Work) Zip() ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(w)) {
		f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: w[name].Written})
		if err == nil {
			_, err = f.Write(w[name].Text)
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// Read reads the work in a zip or in a folder, which may be a course. Errors are *Damaged or those of reading files.
func Read(at string) (Work, error) {
	info, err := os.Stat(at)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return taken(os.DirFS(at))
	}
	z, err := zip.OpenReader(at)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		return nil, damagedf("%s is no zip archive, or a damaged one.", at)
	}
	defer z.Close()
	return taken(z)
}

// elsewhere are folders of a course with Go files that are nobody's work.
var elsewhere = regexp.MustCompile(
	`(^|/)(solutions|grader|native|kernels|cmd|lessons|vendor|backup|bin|__MACOSX|\.git)(/|$)`)

// taken are the files that belong to a work.
func taken(files fs.FS) (Work, error) {
	w, bytes := Work{}, 0
	err := fs.WalkDir(files, ".", func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return damagedf("%s cannot be read: %v.", file, err)
		case elsewhere.MatchString(file) && e.IsDir():
			return fs.SkipDir
		case !e.Type().IsRegular() || elsewhere.MatchString(file):
			return nil
		case path.Ext(file) != ".go" && !under(file, progressFile) && !under(file, parcel.RecordFile):
			return nil
		}
		f, err := files.Open(file)
		if err != nil {
			return damagedf("%s cannot be read: %v.", file, err)
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, mostFile+1))
		bytes += len(text)
		switch {
		case err != nil:
			return damagedf("%s is damaged there: %v.", file, err)
		case len(text) > mostFile:
			return damagedf("%s is too large for a file of an exercise.", file)
		case len(w) >= mostFiles || bytes > mostBytes:
			return damagedf("It holds more than all exercises could: name the course's folder, or a file from `cudalab export`.")
		}
		w[file] = File{text, written(e)}
		return nil
	})
	return w, err
}

// under reports whether a path is that of a file of a course, or of a course in a folder.
func under(file, name string) bool { return file == name || strings.HasSuffix(file, "/"+name) }

// find is the first file that is one of a course's.
func (w Work) find(name string) []byte {
	for _, file := range slices.Sorted(maps.Keys(w)) {
		if under(file, name) {
			return w[file].Text
		}
	}
	return nil
}

// Arrival is what an import comes to.
type Arrival struct {
	Exercises []string // whose code comes in, in the course's order
	Replaced  []string // of these, those in whose place there is other code of the student's
	Apart     []Apart
	Progress  progress.Progress
	Set       change.Set
	Written   map[string]time.Time // of files that come as they are
}

// Apart is a file that was begun from another skeleton and could not be taken over into this course's: it stands beside
// it.
type Apart struct{ File, Beside, Why string }

// Into thinks out what brings the work into a course. Files belong to the exercise whose package they say they are of.
// What was begun from another skeleton goes on in this course's.
func (w Work) Into(c *course.Course) (*Arrival, error) {
	a := &Arrival{Set: change.Set{Write: map[string][]byte{}, Seen: map[string]string{}}, Written: map[string]time.Time{}}
	a.Progress, _ = progress.Parse(w.find(progressFile))
	record, _ := parcel.ParseRecord(w.find(parcel.RecordFile)) // without one they were begun from these skeletons
	for _, e := range c.Exercises {
		found := w.of(e.Package)
		if len(found) == 0 {
			continue
		}
		if err := a.take(c, e, found, record); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// of are the files of a package, by their names. Of two with one name the one whose folder is named after it counts.
func (w Work) of(pkg string) map[string]File {
	found := map[string]File{}
	for _, file := range slices.Sorted(maps.Keys(w)) {
		name := path.Base(file)
		if path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || packageOf(w[file].Text) != pkg {
			continue
		}
		if _, taken := found[name]; !taken || path.Base(path.Dir(file)) == pkg {
			found[name] = w[file]
		}
	}
	return found
}

func packageOf(text []byte) string {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.PackageClauseOnly)
	if err != nil {
		return ""
	}
	return file.Name.Name
}

// take adds an exercise's files to an arrival.
func (a *Arrival) take(c *course.Course, e course.Exercise, files map[string]File, record parcel.Record) error {
	skeleton, err := e.Skeleton()
	if err != nil {
		return err
	}
	folder := "exercises/" + e.Package
	main := folder + "/" + e.Package + ".go"
	here, err := goFiles(c.Root, folder)
	if err != nil {
		return err
	}
	begun, changed := false, false
	for file, f := range here {
		begun = begun || file != main || string(f.Text) != string(skeleton)
	}
	put := func(file string, text []byte) {
		now, there := here[file]
		a.Set.Seen[file] = ""
		if there {
			a.Set.Seen[file] = parcel.Digest(now.Text)
		}
		if !there || string(now.Text) != string(text) {
			a.Set.Write[file] = text
			changed = true
		}
	}
	for name, f := range files {
		file, text := folder+"/"+name, f.Text
		was := record.Skeletons[main]
		if file != main || was == "" || was == string(skeleton) {
			put(file, text)
			if f.Written.Year() > 1980 { // where a zip says nothing it is less
				a.Written[file] = f.Written
			}
			continue
		}
		if string(text) == was {
			continue // not begun
		}
		over, _, err := carry.Over([]byte(was), text, skeleton)
		if err != nil {
			beside := change.Beside(c.Root, main, "yours")
			put(beside, text)
			a.Apart = append(a.Apart, Apart{main, beside, err.Error()})
			continue
		}
		put(file, over)
	}
	for file := range here {
		if _, comes := files[path.Base(file)]; !comes && file != main {
			a.Set.Delete = append(a.Set.Delete, file) // of other code: it would be compiled with what comes
			a.Set.Seen[file] = parcel.Digest(here[file].Text)
			changed = true
		}
	}
	a.Exercises = append(a.Exercises, e.Name)
	if begun && changed {
		a.Replaced = append(a.Replaced, e.Name)
	}
	return nil
}
