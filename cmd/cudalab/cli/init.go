package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/parcel"
	"cudalab/grader/judge/compile"
	"cudalab/grader/suites/course"
)

func newInit() *cobra.Command {
	repository := false
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write the course into a folder, and begin",
		Long: `Init writes the course that this cudalab carries into the folder DIR, or into the working directory if
that is empty: the exercises, the chapters, and all that checks are built from, so that no network is needed. It
overwrites nothing: the folder has to be new, or empty but for hidden files.

--git makes the folder a git repository with the course as its first commit.`,
		Example: `  cudalab init cuda
  cudalab init cuda --git`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("name one folder at most: cudalab init DIR.")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := os.Getwd()
			if len(args) == 1 {
				dir, err = filepath.Abs(args[0])
			}
			if err != nil {
				return err
			}
			d := cmd.Context().Value(definition{}).(course.Definition)
			p, err := carried(d)
			if err != nil {
				return err
			}
			if err := vacantForCourse(d, p, dir); err != nil {
				return err
			}
			resumed, err := unpack(cmd.Context(), p, dir)
			if err != nil {
				return err
			}
			c, err := d.Open(dir)
			if err != nil {
				return err
			}
			if resumed {
				screenOf(cmd.ErrOrStderr()).say("An init was stopped here before it was done; what it left was used or deleted.")
			}
			out := screenOf(cmd.OutOrStdout())
			out.say(fmt.Sprintf("The course is in %s: %d lessons, of cudalab %s.", dir, len(c.Exercises), p.Version))
			if repository {
				if err := firstCommit(cmd, dir); err != nil {
					return err
				}
			}
			out.nextSteps(c)
			if err := compile.CheckGo(cmd.Context(), dir); err != nil {
				out.say("\nBefore the first check: " + err.Error() + " " + elsewhere)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&repository, "git", false, "make the folder a git repository, with a first commit")
	return cmd
}

// elsewhere is where to go without Go.
const elsewhere = "The course runs in a browser as well, with nothing installed, wherever somebody has put the site " +
	"on the web that `cudalab browser` makes."

// carried is the course that this program carries.
func carried(d course.Definition) (*parcel.Parcel, error) {
	p, err := parcel.Own()
	if errors.Is(err, parcel.ErrNone) || err == nil && p.Module != d.Module {
		return nil, usage("%v. In cudalab's repository `make build` puts it in; or work in a copy of the repository, which "+
			"is the course as well.", parcel.ErrNone)
	}
	return p, err
}

// vacantForCourse says, if so, why a folder cannot become a course.
func vacantForCourse(d course.Definition, p *parcel.Parcel, dir string) error {
	c, err := d.OpenAround(dir)
	switch {
	case err == nil && c.Root == dir:
		return usage("%s is a course already. `cudalab update` brings it up to date; for a second one name another "+
			"folder.", dir)
	case err == nil:
		return usage("%s lies within the course at %s: name a folder outside of it.", dir, c.Root)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return usage("%s cannot be read: %v.", dir, plainly(err))
	}
	begun := p.Begun(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(begun, e.Name()) {
			return usage("%s is not empty, there is %s: name a new folder, as in cudalab init cuda.", dir, e.Name())
		}
	}
	return nil
}

// unpack writes a parcel into a folder.
func unpack(ctx context.Context, p *parcel.Parcel, dir string) (resumed bool, err error) {
	resumed, err = p.Unpack(ctx, dir)
	var taken *parcel.Taken
	switch {
	case errors.As(err, &taken):
		return false, usage("%v, and nothing is overwritten: name a new folder, as in cudalab init cuda.", taken)
	case err != nil:
		return false, &exitError{exitEnvironment, fmt.Sprintf("the course could not be written to %s: %v. Nothing was left "+
			"there.", dir, plainly(err))}
	}
	return resumed, nil
}

// plainly is an error of the file system without the path that it happened at, where that is one of a folder to be
// renamed.
func plainly(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}

// nextSteps are what to do first in a new course.
func (s screen) nextSteps(c *course.Course) {
	cudalab := "cudalab"
	if _, err := exec.LookPath(cudalab); err != nil {
		if own, err := os.Executable(); err == nil {
			cudalab = own
		}
	}
	first := c.Exercises[0]
	s.say("\nWhat comes next:")
	n := 1
	step := func(command, what string) {
		fmt.Fprintf(s, "  %d. %s\n", n, command)
		for _, line := range s.wrap(what) {
			fmt.Fprintln(s, "       "+line)
		}
		n++
	}
	if wd, err := os.Getwd(); err != nil || wd != c.Root {
		step("cd "+quotedIfNeeded(course.Relative(c.Root)), "and open this folder in your editor")
	} else {
		step("open this folder in your editor", "")
	}
	step(cudalab+" lesson", "the first chapter: "+first.Title)
	step(cudalab+" watch", fmt.Sprintf("checks %s whenever you save it",
		filepath.ToSlash(filepath.Join(first.Folder(), first.Package+".go"))))
	if cudalab != "cudalab" {
		s.say("\nThe tasks for VS Code want cudalab in your PATH: move it to a folder that is, or add its own.")
	}
}

// quotedIfNeeded is a path as a shell takes it.
func quotedIfNeeded(path string) string {
	if strings.ContainsAny(path, " '\"$()&;[]*?") {
		return `"` + path + `"`
	}
	return path
}

// firstCommit makes a course a repository. Where git has no name for the student, the commit has cudalab's.
func firstCommit(cmd *cobra.Command, dir string) error {
	git := func(args ...string) error {
		c := exec.CommandContext(cmd.Context(), "git", args...)
		c.Dir = dir
		said, err := c.CombinedOutput()
		if err != nil {
			return &exitError{exitEnvironment, fmt.Sprintf("the course is there, but is no git repository: git %s: %v. %s",
				args[0], err, bytes.TrimSpace(said))}
		}
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		if err := git("init", "--quiet"); err != nil {
			return err
		}
	}
	if err := git("add", "--all"); err != nil {
		return err
	}
	commit := []string{"commit", "--quiet", "--message", "The course as it was handed out"}
	if git("config", "user.email") != nil {
		commit = append([]string{"-c", "user.name=cudalab", "-c", "user.email=cudalab@localhost"}, commit...)
	}
	return git(commit...)
}
