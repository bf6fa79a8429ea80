// Package cli is the command line: the commands of cudalab, for whatever course a program is built with.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"cudalab/grader/desk/progress"
	"cudalab/grader/machine/self"
	"cudalab/grader/suites/course"
)

// The exit statuses. Scripts rely on them.
const (
	exitPassed      = 0
	exitFailed      = 1   // a check did not pass
	exitUsage       = 2   // bad usage or input
	exitEnvironment = 3   // something on this machine is missing: Go, the device
	exitFault       = 4   // a fault of cudalab's own
	exitInterrupted = 130 // Ctrl-C
)

// Main is the whole program for a course, and ends it.
func Main(d course.Definition) {
	self.Hasten()
	os.Exit(cudalab(d, os.Args[1:], os.Stdout, os.Stderr))
}

// cudalab is the whole program; it returns the exit status.
func cudalab(d course.Definition, args []string, stdout, stderr io.Writer) (status int) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(stderr, "cudalab: %s: %v\n\n%s", ownFault, v, debug.Stack())
			status = exitFault
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second Ctrl-C ends cudalab at once
	defer stop()

	root := newRoot()
	root.Version = version()
	root.SetVersionTemplate(versions(d))
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(context.WithValue(ctx, definition{}, d))
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "cudalab: stopped.")
		return exitInterrupted
	}
	if err == nil {
		return exitPassed
	}
	var e *exitError
	if !errors.As(err, &e) {
		e = &exitError{exitFault, ownFault + ": " + err.Error()}
	}
	if e.message != "" {
		screenOf(stderr).say("cudalab: " + e.message)
	}
	return e.status
}

// ownFault begins the message of a fault that is no student's.
const ownFault = "this is a fault of cudalab's own, please report it, with what `cudalab doctor --report` writes"

// exitError ends cudalab with a status, and with a message where the report has not said everything already.
type exitError struct {
	status  int
	message string // one or two plain sentences
}

func (e *exitError) Error() string { return e.message }

func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Sprintf(format, args...)}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "cudalab",
		Short: "Learn CUDA memory management by doing",
		Long: `cudalab checks the exercises of a course on CUDA memory management. Edit a skeleton in exercises/, check it,
and read which line breaks which rule of CUDA and why. It runs on an NVIDIA GPU, and without one on a simulated
device. Begin with cudalab lesson, and keep cudalab watch open beside your editor.

Exit status: 0 all passed, 1 a check failed, 2 bad usage or input, 3 something is missing on this machine,
4 a fault of cudalab's own, 130 interrupted.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			message := fmt.Sprintf("there is no command %q.", args[0])
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return usage("%s Did you mean %s?", message, strings.Join(near, " or "))
			}
			return usage("%s See `cudalab --help`.", message)
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.PersistentFlags().String("root", os.Getenv("CUDALAB_ROOT"),
		"the course's folder; default: CUDALAB_ROOT, else the one that the working directory lies in")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%v. See `%s --help`.", err, cmd.CommandPath())
	})
	cobra.EnableCommandSorting = false // they are listed in the order in which they are needed
	addGroup(root, "Learning:", newInit(), newList(), newLesson(), newWatch(), newLSP(), newCheck(), newProve(), newWhy(),
		newHint(), newSolution(), newReset(), newBench(), newUpdate(), newExport(), newImport())
	addGroup(root, "Teaching:", newGrade(), newHandout(), newBrowser(), newCalibrate())
	addGroup(root, "This machine:", newDoctor(), newCompletion())
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommandGroupID("This machine:")
	return root
}

// addGroup adds commands that help lists under one title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// openCourse finds the course that a command works on, and says so if the progress kept with it is damaged.
func openCourse(cmd *cobra.Command) (*course.Course, error) {
	c, err := locateCourse(cmd)
	if err != nil {
		return nil, err
	}
	if err := resume(cmd, c); err != nil {
		return nil, err
	}
	if damage := progress.Repair(c.Root); damage != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "cudalab: "+damage)
	}
	return c, nil
}

// definition is what a command's context holds the course.Definition by.
type definition struct{}

// locateCourse finds the course that a command works on.
func locateCourse(cmd *cobra.Command) (*course.Course, error) {
	root, err := cmd.Flags().GetString("root")
	if err != nil {
		return nil, err
	}
	c, err := cmd.Context().Value(definition{}).(course.Definition).Open(root)
	if errors.Is(err, course.ErrOutside) {
		return nil, usage("%v. Change into the folder that you cloned or unpacked, or name it with --root.", err)
	}
	return c, err
}
