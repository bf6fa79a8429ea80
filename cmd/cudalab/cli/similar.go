package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/class"
	"cudalab/grader/class/intake"
	"cudalab/grader/class/similar"
	"cudalab/grader/report/similarpage"
	"cudalab/grader/suites/course"
)

// similarFlags are what `grade similar` can be told.
type similarFlags struct {
	output    string
	exercises []string
	threshold int
	exports   []string
}

// The programs that `grade similar --export` writes folders for.
const (
	jplag = "jplag"
	moss  = "moss"
)

var exports = []string{jplag, moss}

// mossNames is which number of a folder is whose.
const mossNames = "moss-names.txt"

// similarFile says to whoever finds the folder again that this command made it.
const similarFile = "similar.json"

func newGradeSimilar() *cobra.Command {
	var f similarFlags
	cmd := &cobra.Command{
		Use:   "similar SUBMISSIONS -o FOLDER",
		Short: "Find submissions that are alike",
		Long: `Similar compares everyone's code for an exercise with everyone else's, and writes what is alike into FOLDER:
  similar.html   the pairs, the most alike first, with their passages side by side, and groups
  similar.json   the same pairs, for programs

SUBMISSIONS is what grade takes. Names, literals, comments, layout and the order of functions count for nothing, and what
everybody was given is taken out: the skeleton, the code in the chapter and the hints. What stands in the solution, and
what many submissions share, is told by itself. A pair is listed where one of the two shares --threshold percent of its
own code with the other. That is a reason to read both, and no proof of anything. Nothing leaves this machine.

--export jplag and --export moss write folders for those programs, which you may run yourself. MOSS sends files to a server of
Stanford's: its folders are numbered, and moss-names.txt, which stays here, says who is who.`,
		Example: `  cudalab grade similar submissions -o alike
  cudalab grade similar submissions.zip -o alike --exercise slab --threshold 50
  cudalab grade similar submissions -o alike --export jplag`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault // submissions are files
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "", "the folder for what is found, `FOLDER`")
	flags.StringSliceVar(&f.exercises, "exercise", nil,
		"compare only the exercise `NAME`; may be given again; default: all of the course")
	flags.IntVar(&f.threshold, "threshold", int(100*similar.DefaultThreshold),
		"list pairs of which one shares `PERCENT` of its own code with the other")
	flags.StringSliceVar(&f.exports, "export", nil, "write folders for `PROGRAM` as well: "+strings.Join(exports, ", "))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("exercise", exerciseNames))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("export", names(exports)))
	return cmd
}

func (f *similarFlags) run(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) != 1:
		return usage("name the folder or archive that holds the submissions, and one only: cudalab grade similar " +
			"SUBMISSIONS -o FOLDER.")
	case f.output == "":
		return usage("name the folder for what is found with -o.")
	case f.threshold < 1 || f.threshold > 100:
		return usage("--threshold is a share in percent, from 1 to 100: %d is none.", f.threshold)
	}
	for _, name := range f.exports {
		if !slices.Contains(exports, name) {
			return usage("there is no export %q: choose among %s.", name, strings.Join(exports, ", "))
		}
	}
	c, err := locateCourse(cmd)
	if err != nil {
		return err
	}
	exercises := c.Exercises
	if len(f.exercises) > 0 {
		if exercises, err = inOrder(c, f.exercises); err != nil {
			return err
		}
	}
	for _, e := range exercises {
		if err := noSolutions(c, e,
			"what everybody could take from them cannot be told from what two have in common"); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(args[0], "journal.jsonl")); err == nil {
		return usage("%s holds results, which keep no one's code: name the submissions that they were made from.", args[0])
	}
	if err := f.prepare(); err != nil {
		return err
	}
	return f.compare(cmd, c, exercises, args[0])
}

// prepare makes the folder for what is found. Of one that is there already only what this command wrote is written
// anew.
func (f *similarFlags) prepare() error {
	if err := os.MkdirAll(f.output, 0o700); err != nil { // code and names are not for everyone to read
		return usage("the folder for what is found cannot be made: %v.", err)
	}
	entries, err := os.ReadDir(f.output)
	if err != nil {
		return usage("the folder for what is found cannot be read: %v.", err)
	}
	_, err = os.Stat(filepath.Join(f.output, similarFile))
	switch {
	case len(entries) > 0 && errors.Is(err, fs.ErrNotExist):
		return usage("%s holds something else, %s: name an empty folder with -o.", f.output, entries[0].Name())
	case err != nil && len(entries) > 0:
		return usage("the folder for what is found cannot be read: %v.", err)
	}
	for _, name := range append([]string{mossNames}, exports...) { // who has left the class since is not to stay in it
		if err := os.RemoveAll(filepath.Join(f.output, name)); err != nil {
			return err
		}
	}
	return nil
}

func (f *similarFlags) compare(cmd *cobra.Command, c *course.Course, exercises []course.Exercise,
	submissions string) error {
	var packages []string
	for _, e := range exercises {
		packages = append(packages, e.Package)
	}
	in, err := intake.Open(submissions, packages, intake.Options{})
	if err != nil {
		return usage("%v", err)
	}
	defer in.Close()
	view := newProgressView(screenOf(cmd.ErrOrStderr()))
	defer view.close()
	notes := slices.Clone(in.Notes())
	for _, s := range in.Submissions() {
		if s.Problem != "" {
			notes = append(notes, s.ID+": "+s.Problem)
		}
	}
	for _, note := range notes {
		view.say(note)
	}
	var found []similarpage.Exercise
	numbers := ""
	for _, e := range exercises {
		programs, err := similar.HandedIn(in.Submissions(), e.Package)
		if err != nil {
			return err
		}
		given, err := similar.GivenFor(c.Root, e)
		if err != nil {
			return err
		}
		if len(programs) == 0 {
			continue
		}
		result, err := similar.Compare(cmd.Context(), programs, given.Base(),
			similar.Options{Threshold: float64(f.threshold) / 100})
		if err != nil {
			return err
		}
		found = append(found, similarpage.Exercise{Name: e.Name, Title: e.Title, Result: result})
		if slices.Contains(f.exports, jplag) {
			if err := similar.ExportJPlag(filepath.Join(f.output, jplag), e.Package, programs, given); err != nil {
				return err
			}
		}
		if slices.Contains(f.exports, moss) {
			who, err := similar.ExportMOSS(filepath.Join(f.output, moss), e.Package, programs, given)
			if err != nil {
				return err
			}
			numbers += who
		}
	}
	if err := f.write(found, notes, numbers); err != nil {
		return err
	}
	f.summarise(cmd, found)
	return nil
}

func (f *similarFlags) write(found []similarpage.Exercise, notes []string, numbers string) error {
	var page, list bytes.Buffer
	if err := similarpage.Write(&page, found, notes); err != nil {
		return err
	}
	encoder := json.NewEncoder(&list)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(similarpage.List(found)); err != nil {
		return err
	}
	if err := class.WriteFile(filepath.Join(f.output, similarFile), list.Bytes()); err != nil {
		return err
	}
	if numbers != "" {
		if err := class.WriteFile(filepath.Join(f.output, mossNames), []byte(numbers)); err != nil {
			return err
		}
	}
	return class.WriteFile(filepath.Join(f.output, "similar.html"), page.Bytes())
}

func (f *similarFlags) summarise(cmd *cobra.Command, found []similarpage.Exercise) {
	out := cmd.OutOrStdout()
	for _, e := range found {
		short, solution := 0, 0
		for _, p := range e.Programs {
			switch {
			case p.AsSolution():
				solution++
			case p.TooLittle():
				short++
			}
		}
		fmt.Fprintf(out, "%s: compared %d, pairs %d", e.Name, len(e.Programs)-short, len(e.Pairs))
		if solution > 0 {
			fmt.Fprintf(out, ", much as the solution %d", solution)
		}
		if short > 0 {
			fmt.Fprintf(out, ", too short to compare %d", short)
		}
		fmt.Fprintln(out, ".")
		for _, s := range e.Shared {
			fmt.Fprintf(out, "  One text of %d tokens stands in %d submissions.\n", s.Tokens, len(s.In))
		}
	}
	if len(found) == 0 {
		fmt.Fprintln(out, "No submission holds any of the exercises.")
	}
	fmt.Fprintf(out, "Likeness is no proof of copying: read the passages in %s.\n",
		filepath.ToSlash(course.Relative(filepath.Join(f.output, "similar.html"))))
}
