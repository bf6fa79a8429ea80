package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/class"
	"cudalab/grader/judge/visible"
	"cudalab/grader/report"
	pagelook "cudalab/grader/report/look"
)

func newGradeDiff() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say whose grade differs between two folders of results, by which check and why",
		Long: `Diff compares the results in two folders: who has another grade, by which checks, and what may be why: other files, another
seed, device, version of cudalab, the course or Go, or other weights.

The exit status is 0 if nobody's grade differs, 1 if somebody's does or is in only one of the two, and 2 if there is nothing to compare.`,
		Example: `  cudalab grade diff results-monday results-tuesday
  cudalab grade diff results-monday results-tuesday --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("name the two folders of results to compare, the older one first: cudalab grade diff OLD NEW.")
			}
			d, err := class.Diff(args[0], args[1])
			if err != nil {
				return gradeError(err)
			}
			if asJSON {
				err = visible.WriteJSON(cmd.OutOrStdout(), d)
			} else {
				err = showDifference(cmd.OutOrStdout(), d)
			}
			if err == nil && d.Grades() > 0 {
				err = &exitError{status: exitFailed}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the differences as JSON")
	return cmd
}

// showDifference says for a person what lies between two folders of results.
func showDifference(w io.Writer, d *class.Difference) error {
	var b strings.Builder
	if len(d.Causes) > 0 {
		fmt.Fprintln(&b, "Not the same for all:")
		for _, c := range d.Causes {
			if c.What == "weights" {
				fmt.Fprintln(&b, "  weights or exercises")
				continue
			}
			fmt.Fprintf(&b, "  %s: was %s, now %s\n", c.What, c.Old, c.New)
		}
		fmt.Fprintln(&b)
	}
	for _, c := range d.Students {
		change := fmt.Sprintf("was %s, now %s of %s points", grade(c.Old), grade(c.New), pagelook.Points(c.MaxScore))
		switch {
		case c.Kind == class.SameGrade:
			change = grade(c.New) + " points as before"
		case c.Kind == class.Added:
			change = "now " + grade(c.New)
		case c.Kind == class.Gone:
			change = "was " + grade(c.Old)
		}
		fmt.Fprintf(&b, "%s: %s; %s\n", report.Harmless(c.ID), change, c.Why)
		for _, e := range c.Exercises {
			fmt.Fprintf(&b, "  %s: %s\n", e.Exercise, became(string(e.OldStatus), string(e.NewStatus), e.Old, e.New))
			for _, k := range e.Checks {
				line := fmt.Sprintf("    %s: %s", k.ID, became(string(k.OldStatus), string(k.NewStatus), k.Old, k.New))
				if k.Finding != "" {
					line += "; " + report.Harmless(k.Finding)
				}
				fmt.Fprintln(&b, line)
			}
		}
	}
	if len(d.Students) > 0 {
		fmt.Fprintln(&b)
	}
	others := len(d.Students) - d.Grades()
	fmt.Fprintf(&b, "%s %s; %d the same", pagelook.Plural(d.Grades(), "grade"), map[bool]string{true: "differs",
		false: "differ"}[d.Grades() == 1], d.Same+others)
	if others > 0 {
		fmt.Fprintf(&b, ", of which %d of other files or by other checks", others)
	}
	fmt.Fprintln(&b, ".")
	_, err := io.WriteString(w, b.String())
	return err
}

func grade(score *float64) string {
	if score == nil {
		return "none"
	}
	return pagelook.Points(*score)
}

// became says what became of a status and its points.
func became(before, after string, old, now float64) string {
	text := cmp.Or(before, "not asked")
	if after != before {
		text += " → " + cmp.Or(after, "not asked")
	}
	if old != now {
		text += fmt.Sprintf(", %s → %s points", pagelook.Points(old), pagelook.Points(now))
	}
	return text
}
