package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/change"
	"cudalab/grader/desk/parcel"
	"cudalab/grader/desk/progress"
	"cudalab/grader/desk/renew"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/visible"
	"cudalab/grader/suites/course"
)

func newUpdate() *cobra.Command {
	dry := false
	cmd := &cobra.Command{
		Use:   "update [FOLDER]",
		Short: "Bring your course to that of a newer cudalab, your code included",
		Long: `Update brings a course that cudalab init has written to the one that this cudalab carries. What you have
not touched is replaced. Where the skeleton of an exercise has changed, what you have written goes on in the new one,
gap by gap; where that cannot be done, your code stays as it is, the new skeleton stands beside it, and you are told
why. A copy of everything that changes, and of all exercises, is kept under .cudalab/backup.

A folder that an instructor has handed out holds cudalab itself: it is brought to the newer one in FOLDER.

It may be stopped at any moment: either nothing has changed then, or the next command of cudalab makes the rest.
--dry-run shows what would happen.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("name one folder at most, that of a newer handout: cudalab update FOLDER.")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := openCourse(cmd)
			if err != nil {
				return err
			}
			p, err := newer(cmd, args)
			if err != nil {
				return err
			}
			was, err := recordToUpdate(c, p)
			if err != nil {
				return err
			}
			plan, err := renew.Make(c.Root, was, p)
			if err != nil {
				return &exitError{exitEnvironment, fmt.Sprintf("the course could not be read: %v. Nothing was changed.", err)}
			}
			out := screenOf(cmd.OutOrStdout())
			if len(plan.Set.Write)+len(plan.Set.Delete) == 0 {
				out.say(fmt.Sprintf("%s is the course of cudalab %s already.", c.Root, p.Version))
				return nil
			}
			if dry {
				out.say(fmt.Sprintf("This would bring %s from %s to %s:", c.Root, named(plan.From), named(plan.To)))
				out.items(plan.Items)
				return nil
			}
			return renewCourse(cmd, c, plan)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would happen, and change nothing")
	return cmd
}

// newer is the course to update to: what the program carries, or what is in a folder.
func newer(cmd *cobra.Command, folders []string) (*parcel.Parcel, error) {
	if len(folders) == 0 {
		return carried(cmd.Context().Value(definition{}).(course.Definition))
	}
	p, err := parcel.Folder(folders[0])
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usage("%s is no whole handout: %v. Nothing was changed.", folders[0], err)
	case err != nil:
		return nil, usage("%v. Nothing was changed.", err)
	}
	return p, nil
}

// recordToUpdate is the record of a course that can be updated to a parcel.
func recordToUpdate(c *course.Course, p *parcel.Parcel) (parcel.Record, error) {
	was, err := parcel.ReadRecord(c.Root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return was, usage("%s was not written by cudalab init. If it is a copy of a repository, `git pull` brings it up to "+
			"date; or begin a new course with `cudalab init DIR`, and take your work there: `cudalab import %[1]s`.", c.Root)
	case err != nil:
		return was, usage("%v. Begin a new course with `cudalab init DIR`, and take your work there: `cudalab import %s`.",
			err, c.Root)
	case was.Newer(p.Release):
		return was, usage("%s is the course of cudalab %s, and this is cudalab %s, which is older: get the newer one. "+
			"Nothing was changed.", c.Root, was.Version, p.Version)
	case was.Module != p.Module:
		return was, usage("%s is the course of module %s, and the other one is of module %s. Nothing was changed.", c.Root,
			was.Module, p.Module)
	case was.Builds() && !p.Record().Builds():
		return was, usage("%s holds what cudalab itself is built from, as what an instructor hands out does: name the "+
			"folder of the newer one, as in cudalab update ../newer. Nothing was changed.", c.Root)
	case !was.Builds() && p.Record().Builds():
		return was, usage("%s was written by cudalab init, and the other folder is a handout, with cudalab in it: build "+
			"that, and call its cudalab update here. Nothing was changed.", c.Root)
	case was.Handout != p.Handout:
		which := map[bool]string{true: "without", false: "with"}
		return was, usage("%s is a course %s solutions, and this cudalab carries one %s: use the one that the course is of, "+
			"or a newer one of its kind. Nothing was changed.", c.Root, which[was.Handout], which[p.Handout])
	}
	return was, nil
}

// named is a release in words.
func named(r parcel.Release) string {
	if r.Commit == "" {
		return r.Version
	}
	return fmt.Sprintf("%s (%s)", r.Version, r.Commit)
}

// renewCourse makes what a plan says.
func renewCourse(cmd *cobra.Command, c *course.Course, plan *renew.Plan) error {
	backup, aside, err := apply(cmd.Context(), c.Root, plan.Set, "update")
	if err != nil {
		return err
	}
	for _, old := range slices.Sorted(maps.Keys(plan.Renamed)) {
		// What cannot be written was not remembered either.
		_ = progress.Rename(cmd.Context(), c.Root, old, plan.Renamed[old])
	}
	out := screenOf(cmd.OutOrStdout())
	out.say(fmt.Sprintf("%s is now the course of cudalab %s; it was of %s.", c.Root, named(plan.To), named(plan.From)))
	out.items(plan.Items)
	out.aside(aside)
	if backup != "" {
		out.say("What was there before is kept in " + filepath.ToSlash(course.Relative(backup)) + ".")
	}
	if plan.Builds {
		out.say("Build its cudalab anew: go build -o bin/cudalab ./cmd/cudalab")
		return nil // this one may be older than the course
	}
	return compiles(cmd, c, c.Exercises)
}

// compiles tells which of the exercises that the student has begun do not compile as they are in the course now: what
// they have to be may have changed around code that has not, and code may have changed around what it needs.
func compiles(cmd *cobra.Command, c *course.Course, exercises []course.Exercise) error {
	var names, folders []string
	var begun []compile.Exercise
	for _, e := range exercises {
		skeleton, err := e.Skeleton()
		if err != nil {
			return err
		}
		dir := filepath.Join(c.Root, e.Folder())
		text, err := os.ReadFile(filepath.Join(dir, e.Package+".go"))
		files, _ := fs.Glob(os.DirFS(dir), "*.go")
		if len(files) == 0 || len(files) == 1 && err == nil && bytes.Equal(text, skeleton) {
			continue
		}
		names, folders = append(names, e.Name), append(folders, e.Folder())
		solution := e.HasSolution(c.Root)
		begun = append(begun, compile.Exercise{Package: e.Package, Dir: course.Relative(dir), Main: e.Main(solution),
			Solution: solution})
	}
	if len(begun) == 0 {
		return nil
	}
	out := screenOf(cmd.OutOrStdout())
	r, err := compile.Build(cmd.Context(), compile.Course{Root: c.Root, Preparing: preparing(cmd, false)}, begun...)
	if err != nil {
		out.say(fmt.Sprintf("Whether your code compiles here could not be tried: %v", err))
		return nil
	}
	defer r.Close()
	for i, built := range r.Exercises {
		if err := out.addTo(cmd, c, folders[i], built); err != nil {
			return err
		}
		if len(built.Errors) == 0 {
			continue
		}
		out.say(fmt.Sprintf("Your code of %s does not compile in this course:", names[i]))
		for _, p := range built.Errors[:min(len(built.Errors), 3)] {
			out.point("%s:%d: %s", filepath.ToSlash(p.File), p.Line, visible.Line(p.Message+" "+p.Plain))
		}
		out.say(fmt.Sprintf("Mend it there; `cudalab check %s` tells more.", names[i]))
	}
	return nil
}

// addTo writes the arguments into the files of an exercise's folder that their calls have come to lack, and says which.
func (s screen) addTo(cmd *cobra.Command, c *course.Course, folder string, built compile.Linked) error {
	set := change.Set{Write: map[string][]byte{}, Seen: map[string]string{}}
	for file, text := range built.Mended {
		was, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		below := path.Join(filepath.ToSlash(folder), filepath.Base(file))
		set.Write[below], set.Seen[below] = text, parcel.Digest(was)
	}
	if len(set.Write) == 0 {
		return nil
	}
	if _, _, err := apply(cmd.Context(), c.Root, set, "update"); err != nil {
		return err
	}
	for _, a := range built.Added {
		s.say(visible.Line(a.String()))
	}
	return nil
}

// apply makes changes, and says after an error what has become of them.
func apply(ctx context.Context, root string, s change.Set, name string) (backup string, aside []string, err error) {
	backup, aside, begun, err := change.Apply(ctx, root, s, name, time.Now())
	switch {
	case err == nil:
		return backup, aside, nil
	case begun:
		return "", nil, &exitError{exitEnvironment, fmt.Sprintf("not all could be written: %v. The rest waits, and the next "+
			"command of cudalab goes on with it; your files are copied to .cudalab/backup.", err)}
	}
	return "", nil, &exitError{exitEnvironment,
		fmt.Sprintf("the changes could not be prepared: %v. Nothing was changed.", err)}
}

// resume makes the rest of what an earlier command was stopped at.
func resume(cmd *cobra.Command, c *course.Course) error {
	resumed, aside, err := change.Resume(cmd.Context(), c.Root)
	if err != nil {
		return &exitError{exitEnvironment, fmt.Sprintf("an update was stopped before it was done, and cannot go on: %v. "+
			"What it began with is in .cudalab/backup.", err)}
	}
	if resumed {
		out := screenOf(cmd.ErrOrStderr())
		out.say("An update was stopped before it was done; now it is.")
		out.aside(aside)
	}
	return nil
}

// aside tells of files that have come to stand beside their places.
func (s screen) aside(files []string) {
	for _, file := range files {
		s.say(fmt.Sprintf("You have written to the file in the meantime, and the new one stands beside it: %s.", file))
	}
}

// items tells what becomes of files: of those that the student may care for, one by one, and of the others how many.
func (s screen) items(all []renew.Item) {
	count := map[renew.Kind]int{}
	for _, i := range all {
		switch i.Kind {
		case renew.Apart:
			s.point("%s and %s stand side by side: %s.", i.File, i.To, i.Why)
		case renew.Stays:
			s.point("%s stays: %s.", i.File, i.Why)
		case renew.Carried:
			what := "your code goes on"
			if len(i.Gaps) > 0 {
				what = "your code goes on in " + strings.Join(i.Gaps, ", ")
			}
			if i.From != "" {
				what += ", from " + i.From
			}
			s.point("%s: %s.", i.File, what)
		case renew.Moved:
			s.point("%s comes from %s.", i.File, i.From)
		default:
			count[i.Kind]++
		}
	}
	if len(count) > 0 {
		s.point("The course's own files: %d replaced, %d new, %d gone.",
			count[renew.Replaced], count[renew.Added], count[renew.Removed])
	}
}

// point is an item of a list.
func (s screen) point(format string, args ...any) {
	for i, line := range s.wrap(fmt.Sprintf(format, args...)) {
		if i == 0 {
			fmt.Fprintln(s, "  "+line)
		} else {
			fmt.Fprintln(s, "    "+line)
		}
	}
}
