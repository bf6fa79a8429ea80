// Package change makes many changes to a course's files at once: after being stopped at any moment, by kill -9 too,
// either none of them has been made, or the next command of cudalab makes the rest. What was there before is copied
// aside first.
//
// Everything is written below .cudalab/change; then the list of what goes where gets its name, and from there on there
// is no way back, only on. Each file's place is taken by a rename, if it still holds what it was seen to hold.
package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"cudalab/grader/desk/parcel"
	"cudalab/grader/desk/progress"
	"cudalab/grader/machine/lock"
)

// Set is what is to become of files, by their paths below the course's root, with slashes.
type Set struct {
	Write  map[string][]byte
	Delete []string
	// Seen are the digests of what was there when the changes were thought out, by path; "" for nothing. Where that is no
	// longer so nothing is changed.
	Seen map[string]string
	// Keep are files to be copied aside beside those that are written or deleted.
	Keep []string
}

// step is one entry of the list of what goes where.
type step struct {
	Path   string
	Before string // the digest of what was there; "" for nothing
	After  string // of what is to be there; "" for nothing
}

const (
	stage = progress.Folder + "/change" // the folder
	list  = stage + "/list.json"
	guard = progress.Folder + "/change.lock"
)

// staged is where the new content of a file waits.
func staged(file string) string { return path.Join(stage, "files", file) }

// tree is a course's files.
type tree struct{ root string }

func (t tree) at(file string) string { return filepath.Join(t.root, filepath.FromSlash(file)) }

// digest is a file's; "" where there is none.
func (t tree) digest(file string) (string, error) {
	text, err := os.ReadFile(t.at(file))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return parcel.Digest(text), err
}

func (t tree) put(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(t.at(file)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(t.at(file), text, 0o644)
}

// Apply makes the changes in the course at root. Copies of what was there are in the folder backup afterwards, "" where
// there was nothing to copy; aside are new files that stand beside their places, because somebody has written there in
// the meantime. With begun false nothing has changed after an error; with begun true the next command goes on.
func Apply(ctx context.Context, root string, s Set, name string, now time.Time) (
	backup string, aside []string, begun bool, err error) {
	t := tree{root}
	if err := os.MkdirAll(t.at(progress.Folder), 0o755); err != nil {
		return "", nil, false, err
	}
	release, err := lock.Acquire(ctx, t.at(guard))
	if err != nil {
		return "", nil, false, err
	}
	defer release()
	if _, err := os.Stat(t.at(list)); err == nil {
		if _, err := t.goOn(); err != nil {
			return "", nil, true, err
		}
	}
	if backup, err = t.prepare(s, name, now); err != nil {
		os.RemoveAll(t.at(stage))
		if backup != "" {
			os.RemoveAll(backup)
		}
		return "", nil, false, err
	}
	aside, err = t.goOn()
	return backup, aside, true, err
}

// Resume makes the rest of the changes that somebody was stopped at, and reports whether there were any.
func Resume(ctx context.Context, root string) (resumed bool, aside []string, err error) {
	t := tree{root}
	if _, err := os.Stat(t.at(list)); err != nil {
		return false, nil, nil
	}
	release, err := lock.Acquire(ctx, t.at(guard))
	if err != nil {
		return false, nil, err
	}
	defer release()
	if _, err := os.Stat(t.at(list)); err != nil { // the one that we have waited for has done it
		return false, nil, nil
	}
	aside, err = t.goOn()
	return true, aside, err
}

// prepare writes all that is to be there, copies what is there, and last the list.
func (t tree) prepare(s Set, name string, now time.Time) (backup string, err error) {
	if err := os.RemoveAll(t.at(stage)); err != nil { // of one that was stopped before it had a list
		return "", err
	}
	var steps []step
	add := func(file, after string) error {
		before, err := t.digest(file)
		if seen, ok := s.Seen[file]; ok && err == nil && seen != before {
			err = fmt.Errorf("%s has changed in the meantime", file)
		}
		steps = append(steps, step{file, before, after})
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(s.Write)) {
		text := s.Write[file]
		if err := errors.Join(t.put(staged(file), text), add(file, parcel.Digest(text))); err != nil {
			return "", err
		}
	}
	for _, file := range s.Delete {
		if err := add(file, ""); err != nil {
			return "", err
		}
	}
	if backup, err = t.copyAside(steps, s.Keep, name, now); err != nil {
		return backup, err
	}
	text, err := json.Marshal(steps)
	if err == nil {
		err = t.put(list+".new", text)
	}
	if err == nil {
		err = os.Rename(t.at(list+".new"), t.at(list))
	}
	return backup, err
}

// copyAside copies what is there to a new folder below .cudalab/backup.
func (t tree) copyAside(steps []step, keep []string, name string, now time.Time) (backup string, err error) {
	files := slices.Clone(keep)
	for _, s := range steps {
		if s.Before != "" {
			files = append(files, s.Path)
		}
	}
	slices.Sort(files)
	if files = slices.Compact(files); len(files) == 0 {
		return "", nil
	}
	folder := progress.Folder + "/backup/" + name + "-" + now.Format("2006-01-02-150405")
	if err := os.MkdirAll(filepath.Dir(t.at(folder)), 0o755); err != nil {
		return "", err
	}
	for n := 2; ; n++ {
		if err = os.Mkdir(t.at(folder), 0o755); !errors.Is(err, fs.ErrExist) {
			break
		}
		folder = fmt.Sprintf("%s/backup/%s-%s-%d", progress.Folder, name, now.Format("2006-01-02-150405"), n)
	}
	for _, file := range files {
		var text []byte
		if text, err = os.ReadFile(t.at(file)); err == nil {
			err = t.put(folder+"/"+file, text)
		}
		if err != nil {
			break
		}
	}
	return t.at(folder), err
}

// goOn takes the steps that are not yet taken, and puts list and stage away.
func (t tree) goOn() (aside []string, err error) {
	text, err := os.ReadFile(t.at(list))
	if err != nil {
		return nil, err
	}
	var steps []step
	if err := json.Unmarshal(text, &steps); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", list, err)
	}
	for _, s := range steps {
		beside, err := t.take(s)
		if err != nil {
			return aside, err
		}
		if beside != "" {
			aside = append(aside, beside)
		}
	}
	if err := os.Remove(t.at(list)); err != nil {
		return aside, err
	}
	return aside, os.RemoveAll(t.at(stage))
}

// take takes a step. Where somebody has written in the meantime that stays, and the new file comes to stand beside it.
func (t tree) take(s step) (beside string, err error) {
	now, err := t.digest(s.Path)
	waits, missing := os.Stat(t.at(staged(s.Path)))
	switch {
	case err != nil:
		return "", err
	case now == s.After && (missing != nil || s.After == ""):
		return "", nil // taken already
	case s.After == "":
		if now != s.Before {
			return "", nil
		}
		err := os.Remove(t.at(s.Path))
		t.prune(path.Dir(s.Path))
		return "", err
	case missing != nil:
		return "", nil // it was taken, and has been written to since
	case waits.IsDir():
		return "", fmt.Errorf("%s is a folder", staged(s.Path))
	}
	to := s.Path
	if now != s.Before && now != s.After {
		to = t.beside(s.Path, "new")
		beside = to
	}
	if err := os.MkdirAll(filepath.Dir(t.at(to)), 0o755); err != nil {
		return "", err
	}
	return beside, os.Rename(t.at(staged(s.Path)), t.at(to))
}

// prune removes folders that are empty now.
func (t tree) prune(folder string) {
	for folder != "." && os.Remove(t.at(folder)) == nil {
		folder = path.Dir(folder)
	}
}

// beside is a free name beside a file.
func (t tree) beside(file, ending string) string {
	for n := 1; ; n++ {
		name := file + "." + ending
		if n > 1 {
			name = fmt.Sprintf("%s%d", name, n)
		}
		if _, err := os.Lstat(t.at(name)); err != nil {
			return name
		}
	}
}

// Beside is a free name beside a file's in the course at root: slab.go.new, slab.go.new2 and so on.
func Beside(root, file, ending string) string { return tree{root}.beside(file, ending) }
