package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/machine/sandbox"
	"cudalab/grader/report"
	"cudalab/grader/suites/course"
	"cudalab/kernels/probe"
	"cudalab/native/device"
	"cudalab/native/driver"
	"cudalab/native/profile"
	"cudalab/native/sim"
)

func newDoctor() *cobra.Command {
	report := false
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine has, what is missing and how to get it",
		Long: `Doctor looks for all that checks need: the course, Go, a place to build, an NVIDIA GPU; and for what confines the code
of others when a class is graded. It exits with 0 if checks can run, on the simulated device at least, and with 3 if
not.

--report writes all of this as ` + bugReport + `, with the versions of everything, for whoever is to mend a
fault of cudalab's. It shows the file first, and asks. No code, no name and no folder of yours is in it.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if report {
				return reportBug(cmd)
			}
			d := &doctor{screen: screenOf(cmd.OutOrStdout()), canCheck: true}
			return d.examine(cmd)
		},
	}
	cmd.Flags().BoolVar(&report, "report", false, "write what a maintainer of cudalab needs to know, after showing it")
	return cmd
}

// examine looks for all that there is to look for.
func (d *doctor) examine(cmd *cobra.Command) error {
	c, err := openCourse(cmd)
	if err != nil {
		d.missing("course", err.Error())
	} else {
		d.ok("course", c.Root)
	}
	if d.goTool(cmd.Context(), c) && c != nil {
		d.trialBuild(cmd.Context(), c, preparing(cmd, false))
	}
	gpu := d.gpu()
	d.simulator(c)
	if c == nil || c.Exercises[0].HasSolution(c.Root) { // nobody is graded in a handout
		d.confinement()
	}
	return d.conclude(gpu)
}

// doctor writes down what is there; able stays true while checks can run.
type doctor struct {
	screen
	canCheck bool
}

func (d *doctor) ok(what, text string) { d.line("ok", what, text) }

// optional is for what one can do without.
func (d *doctor) optional(what, text string) { d.line("none", what, text) }

// missing is for what one cannot do without.
func (d *doctor) missing(what, text string) {
	d.canCheck = false
	d.line("missing", what, text)
}

func (d *doctor) line(state, what, text string) {
	const indent = 21
	lead := fmt.Sprintf("%-7s  %-10s  ", state, what)
	for _, l := range report.Wrap(text, cmp.Or(d.width, 100)-indent) {
		fmt.Fprintln(d, lead+l)
		lead = strings.Repeat(" ", indent)
	}
}

// goTool looks for the go command and where it keeps what it has compiled, and reports whether a build can be tried.
func (d *doctor) goTool(ctx context.Context, c *course.Course) (fit bool) {
	root := ""
	if c != nil {
		root = c.Root
	}
	if err := compile.CheckGo(ctx, root); err != nil {
		d.missing("Go", err.Error()+" "+elsewhere)
		return false
	}
	path, env, err := compile.GoCommand(root)
	var found struct{ GOVERSION, GOCACHE string }
	if err == nil {
		ask := exec.CommandContext(ctx, path, "env", "-json", "GOVERSION", "GOCACHE")
		ask.Dir, ask.Env = root, env
		var said []byte
		if said, err = ask.Output(); err == nil {
			err = json.Unmarshal(said, &found)
		}
	}
	if err != nil {
		d.missing("Go", fmt.Sprintf("%s does not work: %v. Install Go from https://go.dev/dl.", path, err))
		return false
	}
	d.ok("Go", fmt.Sprintf("%s at %s", found.GOVERSION, path))
	if err := writable(found.GOCACHE); err != nil {
		d.optional("Go's cache", fmt.Sprintf("%v: the temporary folder is used instead. Set GOCACHE to a folder that you "+
			"may write to.", err))
		return true
	}
	d.ok("Go's cache", found.GOCACHE)
	return true
}

func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "cudalab-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	return f.Close()
}

// trialBuild builds the runner of a skeleton: whatever is needed for a build is there if that succeeds.
func (d *doctor) trialBuild(ctx context.Context, c *course.Course, preparing func()) {
	e := c.Exercises[0]
	if file := e.Changed(c.Root); file != "" {
		d.missing("cudalab", fmt.Sprintf("built from another version of the course: %s has changed since. %s", file,
			check.Rebuild(c.Root)))
		return
	}
	dir, err := skeletonFolder(e)
	if err != nil {
		d.missing("test build", fmt.Sprintf("a build needs a folder for temporary files: %v.", err))
		return
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	solution := e.HasSolution(c.Root)
	r, err := compile.Build(ctx, compile.Course{Root: c.Root, Preparing: preparing},
		compile.Exercise{Package: e.Package, Dir: dir, Main: e.Main(solution), Solution: solution})
	if err != nil {
		d.missing("test build", err.Error())
		return
	}
	defer r.Close()
	if built := &r.Exercises[0]; built.Err != nil {
		d.missing("test build", built.Err.Error())
		return
	} else if !built.OK() {
		d.missing("test build", fmt.Sprintf("the skeleton of %s does not build, though nobody has changed it; please report "+
			"it: %s", e.Name, whyNot(built)))
		return
	}
	d.ok("test build", fmt.Sprintf("%s builds, in %.1f s", e.Name, time.Since(began).Seconds()))
}

// whyNot is the first reason for which an exercise does not build.
func whyNot(l *compile.Linked) string {
	switch {
	case len(l.Refusals) > 0:
		return l.Refusals[0].Message
	case len(l.Errors) > 0:
		return l.Errors[0].Message
	}
	return "it is too large to be built with others."
}

// skeletonFolder is a temporary folder with an exercise as it was handed out.
func skeletonFolder(e course.Exercise) (string, error) {
	skeleton, err := e.Skeleton()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "cudalab-doctor-")
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, e.Package+".go"), skeleton, 0o600)
}

// gpu opens the GPU and loads every kernel; it reports whether checks can run there.
func (d *doctor) gpu() bool {
	g, err := driver.Open()
	if err != nil {
		d.optional("GPU", err.Error())
		d.optional("kernels", "checked on the simulator only: loading their PTX takes a GPU.")
		return false
	}
	defer g.Close() // nothing was left on it
	info := g.Info()
	d.ok("driver", "CUDA "+info.Driver)
	d.ok("GPU", describe(info))
	n, err := probe.Ready(g)
	if err != nil {
		d.optional("kernels", err.Error()+".")
		return false
	}
	d.ok("kernels", fmt.Sprintf("all %d load", n))
	return true
}

// simulator says what device is simulated, and where that is written.
func (d *doctor) simulator(c *course.Course) {
	var f *profile.File
	var err error
	if c != nil {
		f, err = course.Profile(c.Root)
	}
	if err != nil {
		d.missing("profile", fmt.Sprintf("%v. Without the file the simulated device is an %s.", err, sim.H200.Name))
		return
	}
	o, from := sim.Options{}, "built in; `cudalab calibrate` makes one of a GPU"
	if f != nil {
		o.Profile = &f.Profile
		from = fmt.Sprintf("%s, measured on %s; digest %s", course.ProfileFile, f.Date, profile.Digest(o.Profile))
	}
	s := sim.New(o)
	d.ok("simulator", describe(s.Info()))
	d.ok("profile", from)
	_ = s.Close() // gives memory back that was never touched
}

// confinement tells which walls there are around strangers' code, and whether they do for a class.
func (d *doctor) confinement() {
	r := sandbox.Supported()
	for _, p := range r.Parts {
		if p.InForce {
			d.ok(p.Name, p.Text)
		} else {
			d.optional(p.Name, p.Text)
		}
	}
	if gaps := r.Gaps(); len(gaps) > 0 {
		d.optional("class", "`cudalab grade` takes --insecure here: a submission's code could "+strings.Join(gaps, "; and ")+
			".")
		return
	}
	d.ok("class", "`cudalab grade` confines the submissions' code.")
}

func describe(i device.Info) string {
	return fmt.Sprintf("%s, %.0f GiB, %d multiprocessors, compute capability %d.%d",
		i.Name, float64(i.TotalMemory)/(1<<30), i.Multiprocessors, i.ComputeCapability[0], i.ComputeCapability[1])
}

func (d *doctor) conclude(gpu bool) error {
	verdict := "Checks can run here, on the simulated device."
	switch {
	case !d.canCheck:
		verdict = "Checks cannot run here until what is missing above is there."
	case gpu:
		verdict = "Checks can run here, on the GPU and on the simulated device."
	}
	if _, err := io.WriteString(d, "\n"+verdict+"\n"); err != nil {
		return errors.New(verdict)
	}
	if !d.canCheck {
		return &exitError{status: exitEnvironment}
	}
	return nil
}
