package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/course"
	"cudalab/grader/gaps"
	"cudalab/grader/progress"
	"cudalab/grader/suite"
)

// listed is one exercise as `list` shows it.
type listed struct {
	Exercise string          `json:"exercise"`
	Title    string          `json:"title"`
	Points   int             `json:"points"`
	TODOs    []string        `json:"todos"` // what is still to be written, in order
	Last     *progress.Entry `json:"last"`  // the last check's verdict; null before the first
	Next     string          `json:"next,omitempty"`
}

func newList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the exercises, how far you are, and what comes next",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
				rows = append(rows, row)
			}
			if asJSON {
				out := json.NewEncoder(cmd.OutOrStdout())
				out.SetIndent("", "  ")
				return out.Encode(rows)
			}
			writeList(cmd.OutOrStdout(), rows)
			return nil
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
		return listed{}, usage("%v. `git checkout -- %s` brings the skeleton back.", err, filepath.ToSlash(e.Folder()))
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
	last, checked := remembered[e.Name]
	if checked {
		row.Last = &last
	}
	switch {
	case len(left) > 0:
		row.Next = fmt.Sprintf("write TODO(%s) in %s:%d, then `cudalab check %s`", left[0].ID, left[0].File, left[0].Line, e.Name)
	case last.Status != suite.Passed:
		row.Next = fmt.Sprintf("`cudalab check %s`", e.Name)
	}
	return row, nil
}

func writeList(w io.Writer, rows []listed) {
	name, title := 0, 0
	for _, r := range rows {
		name, title = max(name, len(r.Exercise)), max(title, len(r.Title))
	}
	for i, r := range rows {
		fmt.Fprintf(w, "%2d  %-*s  %-*s  %3d points  %s\n", i+1, name, r.Exercise, title, r.Title, r.Points, state(r))
	}
	for _, r := range rows {
		if r.Next != "" {
			fmt.Fprintf(w, "\nNext: %s\n", r.Next)
			return
		}
	}
	fmt.Fprintln(w, "\nAll exercises have passed.")
}

// state is how far an exercise is, in a few words.
func state(r listed) string {
	var words []string
	if r.Last != nil && r.Last.Status != suite.NotStarted {
		words = append(words, fmt.Sprintf("last check: %s, %g/%g on %s", r.Last.Status, r.Last.Score, r.Last.MaxScore, r.Last.Device))
	}
	switch n := len(r.TODOs); {
	case n == 1:
		words = append(words, "1 TODO left")
	case n > 1:
		words = append(words, fmt.Sprintf("%d TODOs left", n))
	case r.Last == nil:
		words = append(words, "not checked yet")
	}
	return strings.Join(words, "; ")
}
