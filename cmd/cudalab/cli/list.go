package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/progress"
	"cudalab/grader/desk/watch"
	"cudalab/grader/judge/visible"
	"cudalab/grader/report"
	"cudalab/grader/suite/gaps"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// listed is one exercise as `list` shows it.
type listed struct {
	Exercise string          `json:"exercise"`
	Title    string          `json:"title"`
	Points   int             `json:"points"`
	TODOs    []string        `json:"todos"` // what is still to be written, in order
	Last     *progress.Entry `json:"last"`  // the last check's verdict; null before the first
	Best     *progress.Best  `json:"best"`  // of all checks; null where none had a point
	// Edited says that a file has changed since the last check.
	Edited  bool   `json:"edited"`
	Current bool   `json:"current"` // this is where the student is
	Next    string `json:"next,omitempty"`

	at string // where the first TODO is
}

func newList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the exercises, how far you are, and what comes next",
		Long: `List shows every exercise with its last verdict: the points, the device, when it was, and whether a file has changed
since. Where an earlier check went better, that comes first, and its points count: trying things out costs nothing. The
exercise that you are at is marked with an arrow; it is the one that commands mean when you name none.`,
		Example: `  cudalab list
  cudalab list --json`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := openCourse(cmd)
			if err != nil {
				return err
			}
			var rows []listed
			remembered := progress.Load(c.Root)
			for _, e := range c.Exercises {
				row, err := look(c, e, remembered)
				if err != nil {
					return err
				}
				row.Current = e.Name == current(c, remembered)
				rows = append(rows, row)
			}
			if asJSON {
				return visible.WriteJSON(cmd.OutOrStdout(), rows)
			}
			return writeList(screenOf(cmd.OutOrStdout()), rows, time.Now())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the list as JSON")
	return cmd
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("`%s` takes no arguments, but was given %q.", cmd.CommandPath(), args[0])
	}
	return nil
}

func look(c *course.Course, e course.Exercise, remembered progress.Progress) (listed, error) {
	dir := course.Relative(filepath.Join(c.Root, e.Folder()))
	if err := course.Exists(dir); err != nil {
		return listed{}, usage("%v. `cudalab reset %s` brings the skeleton back.", err, e.Name)
	}
	left, err := gaps.Find(dir)
	if err != nil {
		return listed{}, usage("the exercise %s cannot be read: %v.", e.Name, err)
	}
	row := listed{Exercise: e.Name, Title: e.Title, TODOs: []string{}}
	for _, points := range e.Points {
		row.Points += points
	}
	for _, g := range left {
		row.TODOs = append(row.TODOs, g.ID)
	}
	last := remembered[e.Name]
	row.Best, last.Best = last.Best, nil
	if last.Checked() {
		row.Last = &last
		row.Edited = watch.Changed(dir).After(last.When)
	}
	switch {
	case len(left) > 0:
		row.at = fmt.Sprintf("%s:%d", left[0].File, left[0].Line)
		row.Next = fmt.Sprintf("write TODO(%s) in %s, then `cudalab check %s`", left[0].ID, row.at, e.Name)
	case last.Status != verdict.Passed:
		row.Next = fmt.Sprintf("`cudalab check %s`", e.Name)
	}
	return row, nil
}

// writeList writes the exercises in columns, or, where the screen is too narrow for that, each in two lines or more.
func writeList(s screen, rows []listed, now time.Time) error {
	name, title, widest := 0, 0, 0
	for _, r := range rows {
		name = max(name, len(r.Exercise))
		title = max(title, utf8.RuneCountInString(r.Title))
		widest = max(widest, utf8.RuneCountInString(state(r, now)))
	}
	const lead = len("> 1  ")
	narrow := s.width > 0 && lead+name+2+title+2+widest > s.width
	var b strings.Builder
	score, points, next := 0.0, 0, ""
	for i, r := range rows {
		mark := " "
		if r.Current {
			mark = ">"
			next = r.Next
		}
		if r.Best != nil {
			score += r.Best.Score
		}
		points += r.Points
		if !narrow {
			fmt.Fprintf(&b, "%s%2d  %-*s  %-*s  %s\n", mark, i+1, name, r.Exercise, title, r.Title, state(r, now))
			continue
		}
		fmt.Fprintf(&b, "%s%2d  %s\n", mark, i+1, r.Exercise)
		for _, line := range report.Wrap(r.Title+"\n"+state(r, now), max(s.width-lead, 20)) {
			fmt.Fprintf(&b, "%*s%s\n", lead, "", line)
		}
	}
	fmt.Fprintf(&b, "\n%g of %d points\n", score, points)
	if next == "" {
		b.WriteString("\nAll exercises have passed.\n")
	} else {
		b.WriteString("\n" + strings.Join(s.wrap("Next: "+next), "\n") + "\n")
	}
	_, err := io.WriteString(s, b.String())
	return err
}

// state is how far an exercise is, in a few words.
func state(r listed, now time.Time) string {
	var words []string
	if was := before(r, now); was != "" {
		words = append(words, was)
	}
	if r.Last != nil && r.Last.Status != verdict.NotStarted {
		said := string(r.Last.Status)
		if r.Last.Status == verdict.Failed && len(r.Last.Findings) == 0 && len(r.TODOs) > 0 {
			said = "unfinished" // nothing was found wrong with what is written so far
		}
		if len(words) > 0 {
			said = "now " + said
		}
		words = append(words, fmt.Sprintf("%s, %g/%g on %s, %s", said, r.Last.Score, r.Last.MaxScore, r.Last.Device,
			date(r.Last.When, now)))
	}
	switch n := len(r.TODOs); {
	case n == 1:
		words = append(words, "1 TODO left")
	case n > 1:
		words = append(words, fmt.Sprintf("%d TODOs left", n))
	case r.Last == nil:
		words = append(words, "not checked yet")
	}
	if r.Edited {
		words = append(words, "edited since")
	}
	return strings.Join(words, "; ")
}

// before is what the exercise has come to, where it is not as far now.
func before(r listed, now time.Time) string {
	switch {
	case r.Best == nil, r.Last != nil && r.Last.Score >= r.Best.Score:
		return ""
	case r.Best.Score == r.Best.MaxScore:
		return "passed " + date(r.Best.When, now)
	}
	return fmt.Sprintf("best %g/%g, %s", r.Best.Score, r.Best.MaxScore, date(r.Best.When, now))
}

// date is when something was, as exactly as it matters now.
func date(when, now time.Time) string {
	when = when.In(now.Location())
	if when.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return "today " + when.Format("15:04")
	}
	return when.Format(time.DateOnly)
}
