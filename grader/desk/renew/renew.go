// Package renew brings a course to the state of a newer one. Files that the student has not touched are replaced; code
// in exercises is carried over into changed skeletons; where that cannot be done both stand side by side. What has to
// change is thought out first, so that it can be shown, and is made by package change.
package renew

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cudalab/grader/desk/carry"
	"cudalab/grader/desk/change"
	"cudalab/grader/desk/parcel"
)

// Kind is what becomes of a file.
type Kind int

// The kinds, those first that a student should read.
const (
	Apart    Kind = iota // the student's and the course's stand side by side
	Stays                // the student's stays, though the course has no such file any more
	Carried              // the student's code goes on in the new skeleton
	Moved                // a file of the student's goes along with its exercise
	Added                // new in the course
	Replaced             // the course's, untouched
	Removed              // the same, and gone
)

// Item is what becomes of one file, by its path below the course's root, with slashes.
type Item struct {
	File string
	Kind Kind
	From string   // of what is carried over or moved: where it was, if that is elsewhere
	To   string   // of what stands apart: the other file
	Why  string   // half a sentence
	Gaps []string // of what is carried over
}

// Plan is what an update comes to.
type Plan struct {
	From, To parcel.Release
	Builds   bool   // the course holds what cudalab itself is built from
	Items    []Item // by kind, then by file
	Renamed  map[string]string
	Set      change.Set
}

// plan is a Plan while it is made.
type plan struct {
	Plan
	root string
	was  parcel.Record
	now  *parcel.Parcel
	// begun are the skeletons that files were begun from which could not be brought to the new one.
	begun map[string]string
}

// Make thinks out what brings the course at root, which was written as was says, to the state of now. Nothing is
// written.
func Make(root string, was parcel.Record, now *parcel.Parcel) (*Plan, error) {
	p := &plan{root: root, was: was, now: now, begun: map[string]string{}}
	p.From, p.To, p.Renamed = was.Release, now.Release, map[string]string{}
	p.Set = change.Set{Write: map[string][]byte{}, Seen: map[string]string{}}
	exercises := map[string]bool{}
	for _, e := range now.Exercises {
		exercises[e.File()] = true
		if err := p.exercise(e, exercises); err != nil {
			return nil, err
		}
	}
	files := maps.Clone(was.Files)
	if files == nil {
		files = map[string]string{}
	}
	for file := range now.Files {
		files[file] = ""
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if !exercises[file] {
			if err := p.file(file); err != nil {
				return nil, err
			}
		}
	}
	record := now.Record()
	p.Builds = record.Builds()
	maps.Copy(record.Skeletons, p.begun)
	if has, found, err := p.read(parcel.RecordFile); err != nil {
		return nil, err
	} else if !found || string(has) != string(record.Text()) {
		p.write(parcel.RecordFile, record.Text())
	}
	if err := p.keepExercises(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(p.Items, func(a, b Item) int { return int(a.Kind) - int(b.Kind) })
	return &p.Plan, nil
}

// read is a file of the course as it is; found says whether it is there.
func (p *plan) read(file string) (text []byte, found bool, err error) {
	text, err = os.ReadFile(filepath.Join(p.root, filepath.FromSlash(file)))
	if errors.Is(err, fs.ErrNotExist) {
		p.Set.Seen[file] = ""
		return nil, false, nil
	}
	p.Set.Seen[file] = parcel.Digest(text)
	return text, err == nil, err
}

func (p *plan) add(i Item) { p.Items = append(p.Items, i) }

// write and remove are changes to come.
func (p *plan) write(file string, text []byte) { p.Set.Write[file] = text }

func (p *plan) remove(file string) { p.Set.Delete = append(p.Set.Delete, file) }

// beside puts a text beside a file, and says that they stand apart, unless it stands there already.
func (p *plan) beside(file, ending string, text []byte, why string) {
	there, _ := filepath.Glob(filepath.Join(p.root, filepath.FromSlash(file)) + "." + ending + "*")
	for _, one := range there {
		if has, err := os.ReadFile(one); err == nil && string(has) == string(text) {
			return
		}
	}
	to := change.Beside(p.root, file, ending)
	p.write(to, text)
	p.add(Item{File: file, Kind: Apart, To: to, Why: why})
}

// waits puts a new skeleton beside the student's file, which goes on being one that was begun from the old.
func (p *plan) waits(file string, was string, why string) {
	p.beside(file, "new", p.now.Files[file], why)
	p.begun[file] = was
}

// file is about one that is no exercise's.
func (p *plan) file(file string) error {
	mine, found, err := p.read(file)
	if err != nil {
		return err
	}
	next, wanted := p.now.Files[file]
	before := p.was.Files[file]
	untouched := found && parcel.Digest(mine) == before
	switch {
	case wanted && !found:
		p.write(file, next)
		p.add(Item{File: file, Kind: Added})
	case wanted && string(mine) == string(next), !wanted && !found:
	case wanted && untouched:
		p.write(file, next)
		p.add(Item{File: file, Kind: Replaced})
	case wanted && parcel.Digest(next) == before:
		// Only the student has changed it.
	case wanted:
		p.write(file, next)
		p.beside(file, "yours", mine, "it is the course's, and both you and the course have changed it")
	case untouched:
		p.remove(file)
		p.add(Item{File: file, Kind: Removed})
	case strings.HasPrefix(file, "exercises/"):
		p.add(Item{File: file, Kind: Stays, Why: "the course has this exercise no more"})
	default: // in a package it would be compiled with the others
		p.remove(file)
		p.beside(file, "yours", mine, "the course has it no more, and you have changed it")
	}
	return nil
}

// exercise is about the file of an exercise, which may have had another name.
func (p *plan) exercise(e parcel.Exercise, done map[string]bool) error {
	file, next := e.File(), p.now.Files[e.File()]
	from, was := e, p.was.Skeletons[file]
	if was == "" {
		from, was = p.former(e)
	}
	old := from.File()
	renamed := old != file
	mine, found, err := p.read(old)
	if err != nil {
		return err
	}
	if renamed {
		done[old] = true
		if _, taken, err := p.read(file); err != nil {
			return err
		} else if taken {
			renamed, old = false, file
			if mine, found, err = p.read(file); err != nil {
				return err
			}
			was = ""
		}
	}
	others, err := p.others(from)
	if err != nil {
		return err
	}
	switch {
	case !found && len(others) > 0: // all is in files of other names
		if was != string(next) {
			p.waits(file, string(next), "your code is in "+strings.Join(others, ", "))
		}
		return p.leave(renamed, from, e, others)
	case !found:
		p.write(file, next)
		p.add(Item{File: file, Kind: Added})
		return nil
	case string(mine) == string(next):
		return nil
	case !renamed && was == string(next):
		return nil // only the student has changed it
	case string(mine) == was && len(others) == 0:
		p.write(file, next)
		p.add(Item{File: file, Kind: Replaced})
		return p.leave(renamed, from, e, nil)
	}
	if was == "" {
		p.waits(file, "", "there was a file of yours in the place of a new exercise")
		return nil
	}
	text, gaps, err := carry.Over([]byte(was), mine, next)
	switch {
	case err == nil && string(text) == string(mine) && !renamed:
		return nil
	case err == nil:
		p.write(file, text)
		item := Item{File: file, Kind: Carried, Gaps: gaps}
		if renamed {
			item.From = old
		}
		p.add(item)
		return p.leave(renamed, from, e, others)
	case renamed:
		p.write(file, next)
		p.add(Item{File: old, Kind: Apart, To: file, Why: err.Error()})
		return nil
	default:
		p.waits(file, was, err.Error())
		return nil
	}
}

// former is the exercise that e once was, and its skeleton; e itself where it is new.
func (p *plan) former(e parcel.Exercise) (parcel.Exercise, string) {
	for _, name := range e.Formerly {
		for _, old := range p.was.Exercises {
			if was := p.was.Skeletons[old.File()]; old.Name == name && was != "" {
				return old, was
			}
		}
	}
	return e, ""
}

// others are the student's own Go files of an exercise, beside the skeleton's.
func (p *plan) others(e parcel.Exercise) (files []string, err error) {
	folder := path.Dir(e.File())
	entries, err := os.ReadDir(filepath.Join(p.root, filepath.FromSlash(folder)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		if file := folder + "/" + entry.Name(); path.Ext(file) == ".go" && !entry.IsDir() && file != e.File() {
			files = append(files, file)
		}
	}
	return files, nil
}

var packageClause = regexp.MustCompile(`(?m)^package \w+`)

// leave has an exercise's other files follow it to its new name.
func (p *plan) leave(renamed bool, from, to parcel.Exercise, others []string) error {
	if !renamed {
		return nil
	}
	p.Renamed[from.Name] = to.Name
	p.remove(from.File())
	for _, file := range others {
		text, _, err := p.read(file)
		if err != nil {
			return err
		}
		at := path.Join(path.Dir(to.File()), path.Base(file))
		p.write(at, packageClause.ReplaceAll(text, []byte("package "+to.Package)))
		p.remove(file)
		p.add(Item{File: at, Kind: Moved, From: file})
	}
	return nil
}

// keepExercises has all that lies in the exercises' folders copied aside, whatever becomes of it.
func (p *plan) keepExercises() error {
	err := fs.WalkDir(os.DirFS(p.root), "exercises", func(file string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			p.Set.Keep = append(p.Set.Keep, file)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
