package cli

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/cause"
	"cudalab/grader/desk/lsp"
	"cudalab/grader/desk/progress"
	"cudalab/grader/judge/check"
	"cudalab/grader/judge/run"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

func newLSP() *cobra.Command {
	var d lspDesk
	var parent int
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve an editor: findings at their lines whenever you save",
		Long: `Lsp is a language server: editors start it and speak with it over standard input and output. It checks an exercise when
one of its files is opened or saved, and has the editor show the findings at their lines. Hovering over one says why, and
the code actions there give the next hint or open a page with the picture of what goes wrong. README.md says how to have
Neovim and other editors start it.`,
		Example: `  cudalab lsp --device sim`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := validDevice(d.device); err != nil {
				return err
			}
			d.definition = cmd.Context().Value(definition{}).(course.Definition)
			root, err := cmd.Flags().GetString("root")
			if err != nil {
				return err
			}
			if root != "" {
				c, err := locateCourse(cmd)
				if err != nil {
					return err
				}
				d.only = c.Root
			}
			err = d.serve(cmd, parent)
			framing := (*lsp.FramingError)(nil)
			switch {
			case errors.Is(err, lsp.ErrGone):
				return &exitError{status: exitFailed} // as the protocol has it for an exit without a shutdown
			case errors.As(err, &framing):
				return &exitError{exitFailed, framing.Error() + ". An editor starts cudalab lsp; it is of no use in a terminal."}
			case err != nil && cmd.Context().Err() == nil:
				return &exitError{exitFailed, err.Error() + "."}
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&d.device, "device", "auto", "`KIND` is gpu, sim, or auto: the GPU where there is one, else the "+
		"simulator")
	// Some clients give every server the flags that the protocol recommends, under "Implementation Considerations".
	flags.Bool("stdio", true, "speak over standard input and output, which is the only way")
	flags.IntVar(&parent, "clientProcessId", 0, "end when the process `PID` does")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("device", devices))
	return cmd
}

// lspDesk checks what an editor has open, in whatever course it lies.
type lspDesk struct {
	definition course.Definition
	device     string
	only       string // the course that --root names; "": any
}

// serve serves the editor at the other end of standard input and output.
func (d *lspDesk) serve(cmd *cobra.Command, parent int) error {
	ctx, end := context.WithCancel(cmd.Context())
	defer end()
	return lsp.Run(ctx, cmd.InOrStdin(), cmd.OutOrStdout(), lsp.Options{Open: d.open, Parent: parent, Picture: d.picture,
		Check: d.check, Why: d.why})
}

// open is the course at a folder.
func (d *lspDesk) open(root string) (*course.Course, error) {
	if d.only != "" && !sameFolder(d.only, root) {
		return nil, course.ErrOutside
	}
	c, err := d.definition.Open(root)
	if err == nil {
		progress.Repair(c.Root) // what was damaged is put aside; nobody is there to read of it
	}
	return c, err
}

func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// request is a check of what the student has saved.
func (d *lspDesk) request(c *course.Course, e course.Exercise) (check.Request, error) {
	p, err := simulated(c, d.device, "")
	return ownCode(c, e, run.Options{Device: d.device, Profile: p}), err
}

func (d *lspDesk) check(ctx context.Context, c *course.Course, e course.Exercise, preparing func()) (verdict.Report,
	bool) {
	q, err := d.request(c, e)
	if err != nil {
		return verdict.Report{Exercise: e.Name, Status: verdict.Errored, Message: err.Error()}, false
	}
	q.Preparing = preparing
	seed := failingSeed(c.Root, e)
	r := checked(ctx, q)
	return r.Report, r.Report.Status == verdict.Passed && seed != 0 && r.Report.Seed == seed
}

func (d *lspDesk) why(ctx context.Context, c *course.Course, e course.Exercise) (string, error) {
	q, err := d.request(c, e)
	if err != nil {
		return "", err
	}
	answer, err := cause.Ask(ctx, q, checked)
	if text, unasked := cause.IsUnasked(err); unasked {
		return strings.ToUpper(text[:1]) + text[1:], nil
	}
	return strings.TrimSpace(answer.Text(func(text string) []string { return []string{text} })), err
}

// picture writes the page of a report. It is of the same workloads.
func (d *lspDesk) picture(ctx context.Context, c *course.Course, e course.Exercise, r verdict.Report) (string, error) {
	q, err := d.request(c, e)
	if err != nil {
		return "", err
	}
	q.Seed = r.Seed
	return drawPage(ctx, q, goTerms)
}
