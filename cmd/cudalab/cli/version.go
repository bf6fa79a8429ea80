package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/parcel"
	"cudalab/grader/suites/course"
	"cudalab/lessons"
)

// version is this program's.
func version() string { return lessons.Version(lessons.Texts) }

// versions say what this program is: its version, the commit, the Go that built it, the course that it asks about.
func versions(d course.Definition) string {
	commit, carries := "", "none, as it was built without one"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	if p, err := parcel.Own(); err == nil {
		commit = cmp.Or(p.Commit, commit)
		carries = "for `cudalab init`, with the solutions"
		if p.Handout {
			carries = "for `cudalab init`, without the solutions"
		}
	}
	return fmt.Sprintf("cudalab  %s\ncommit   %s\nGo       %s, %s/%s\ncourse   %s, of module %s\ncarried  %s\n", version(),
		cmp.Or(commit, "not known"), runtime.Version(), runtime.GOOS, runtime.GOARCH, d.Digest(), d.Module, carries)
}

// bugReport is what `doctor --report` writes.
const bugReport = "cudalab-report.txt"

// reportBug shows what a maintainer needs, and writes it if it may.
func reportBug(cmd *cobra.Command) error {
	var text bytes.Buffer
	definition := cmd.Context().Value(definition{}).(course.Definition)
	fmt.Fprintf(&text, "%sCPUs     %d\n\n", versions(definition), runtime.NumCPU())
	root := ""
	if c, err := locateCourse(cmd); err == nil {
		root = c.Root
		text.WriteString(courseState(c) + "\n")
	}
	d := &doctor{screen: screen{Writer: &text}, canCheck: true}
	verdict := d.examine(cmd) // which is in the report
	report := []byte(unnamed(text.String(), root))
	out := screenOf(cmd.OutOrStdout())
	fmt.Fprintf(out, "%s\n", report)
	yes, err := confirm(cmd, fmt.Sprintf("Write this to %s?", bugReport), true)
	if err != nil || !yes {
		return err
	}
	if err := writeNew(bugReport, report); err != nil {
		return err
	}
	out.say("It is in " + bugReport + ". Send it with the words that cudalab had for the fault, and what you did before.")
	return verdict
}

// courseState is what a maintainer should know of a course: which it is of, and what of its own files has changed.
func courseState(c *course.Course) string {
	was, err := parcel.ReadRecord(c.Root)
	if err != nil {
		return "The course is a copy of the repository.\n"
	}
	var changed []string
	skeletons := map[string]bool{}
	for _, e := range was.Exercises {
		skeletons[e.File()] = true
	}
	for _, file := range slices.Sorted(maps.Keys(was.Files)) {
		digest := was.Files[file]
		if skeletons[file] {
			continue
		}
		if text, err := os.ReadFile(filepath.Join(c.Root, filepath.FromSlash(file))); err != nil {
			changed = append(changed, file+" (missing)")
		} else if parcel.Digest(text) != digest {
			changed = append(changed, file)
		}
	}
	text := "The course was written by cudalab init, of " + named(was.Release) + "."
	if was.Builds() {
		text = "The course is a handout, of " + named(was.Release) + "."
	}
	if len(changed) > 0 {
		text += " These files of it have changed: " + strings.Join(changed, ", ") + "."
	}
	return text + "\n"
}

// unnamed is a text without what says whose it is: folders, the user, the machine.
func unnamed(text, root string) string {
	hide := func(what, with string) {
		if len(what) > 2 {
			text = strings.ReplaceAll(text, what, with)
		}
	}
	hide(root, "COURSE")
	if home, err := os.UserHomeDir(); err == nil {
		hide(home, "HOME")
	}
	if wd, err := os.Getwd(); err == nil {
		hide(wd, "HERE")
	}
	hide(filepath.Clean(os.TempDir()), "TEMP")
	if u, err := user.Current(); err == nil && u.Username != "root" {
		hide(u.Username, "USER")
	}
	if host, err := os.Hostname(); err == nil {
		hide(host, "HOST")
	}
	return text
}
