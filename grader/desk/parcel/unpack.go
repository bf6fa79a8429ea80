package parcel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/machine/lock"
)

// Taken is the error of Unpack for a folder that has something in the way of the course.
type Taken struct {
	Dir  string
	Name string // what is there already: of the course's own files and folders the first
}

func (t *Taken) Error() string { return fmt.Sprintf("%s has %s already", t.Dir, t.Name) }

// While a course is written it lies in a folder of such a name, until it gets its own; who writes holds the lock.
const (
	unfinished = ".cudalab-init-"
	guard      = ".cudalab-init.lock"
)

// Unpack writes the course into a folder, which is made if it is not there. Nothing that is there is overwritten or
// mixed with the course: after an error, a *Taken or one of writing files, the folder is as it was. Stopped at any
// moment, by kill -9 too, it leaves no course, but what the next one goes on with or deletes; found reports that there
// was such a thing.
func (p *Parcel) Unpack(ctx context.Context, dir string) (found bool, err error) {
	if _, err := p.room(dir); err != nil {
		return false, err
	}
	_, err = os.Stat(dir)
	fresh := errors.Is(err, fs.ErrNotExist)
	within := dir
	if fresh {
		within = filepath.Dir(dir)
	}
	if err := os.MkdirAll(within, 0o755); err != nil {
		return false, err
	}
	release, err := lock.Acquire(ctx, filepath.Join(within, guard))
	if err != nil {
		return false, err
	}
	defer os.Remove(filepath.Join(within, guard)) // which Windows does not do while it is held
	defer release()
	// All are of somebody who was stopped: nobody else holds the lock. What cannot be deleted is in nobody's way.
	left, _ := fs.Glob(os.DirFS(within), unfinished+"*")
	for _, folder := range left {
		_ = os.RemoveAll(filepath.Join(within, folder))
	}
	temp, err := os.MkdirTemp(within, unfinished)
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temp) // fails to find it once it has its name
	if err := errors.Join(os.Chmod(temp, 0o755), p.fill(temp)); err != nil {
		return false, err
	}
	if fresh {
		return len(left) > 0, os.Rename(temp, dir)
	}
	begun, err := p.moveIn(temp, dir)
	return begun || len(left) > 0, err
}

// room says, if so, what is in the way; begun is what is there already of this very course, as one leaves it who is
// stopped while it gets its names.
func (p *Parcel) room(dir string) (begun []string, err error) {
	for _, name := range p.top() {
		switch _, err := os.Lstat(filepath.Join(dir, name)); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case name != goMod && p.wrote(dir, name):
			begun = append(begun, name)
		default:
			return nil, &Taken{dir, name}
		}
	}
	return begun, nil
}

// Begun are the names in a folder that are of this very course, which is not whole there.
func (p *Parcel) Begun(dir string) []string {
	begun, _ := p.room(dir)
	return begun
}

// wrote reports whether what a folder has under a name of the course's is the course's, all of it and nothing else.
func (p *Parcel) wrote(dir, name string) bool {
	seen := 0
	of := p.written()
	err := filepath.WalkDir(filepath.Join(dir, name), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		file, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if want, ours := of[filepath.ToSlash(file)]; err == nil && (!ours || !bytes.Equal(text, want)) {
			err = fs.ErrExist
		}
		seen++
		return err
	})
	for file := range of {
		if top, _, _ := strings.Cut(file, "/"); top == name {
			seen--
		}
	}
	return err == nil && seen == 0
}

// written are all files of a course that is written: the parcel's, and the record.
func (p *Parcel) written() map[string][]byte {
	all := maps.Clone(p.Files)
	all[RecordFile] = p.Record().Text()
	return all
}

// goMod makes a folder a course, and comes last for that.
const goMod = "go.mod"

// top are the names of what the course has at its root.
func (p *Parcel) top() []string {
	names := []string{filepath.Dir(filepath.FromSlash(RecordFile))}
	for file := range p.Files {
		name, _, _ := strings.Cut(file, "/")
		names = append(names, name)
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == goMod })
	return append(names, goMod)
}

// fill writes all files into an empty folder.
func (p *Parcel) fill(dir string) error {
	all := p.written()
	files := slices.DeleteFunc(slices.Collect(maps.Keys(all)), func(file string) bool { return file == goMod })
	if all[goMod] != nil {
		files = append(files, goMod)
	}
	for _, file := range files {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, all[file], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// moveIn gives what is in temp its names in dir. What has come there meanwhile stays, and what was moved goes again.
// Begun reports that some of it was there already.
func (p *Parcel) moveIn(temp, dir string) (begun bool, err error) {
	var moved []string
	defer func() {
		if err != nil {
			for _, name := range moved {
				os.RemoveAll(name)
			}
		}
	}()
	for _, name := range p.top() {
		from, to := filepath.Join(temp, name), filepath.Join(dir, name)
		if _, err := os.Lstat(to); err == nil { // a rename would replace a file
			if begun = true; name == goMod || !p.wrote(dir, name) {
				return false, &Taken{dir, name}
			}
			continue
		}
		if err := os.Rename(from, to); err != nil {
			return false, err
		}
		moved = append(moved, to)
	}
	return begun, nil
}
