package flips_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/machine/sandbox"
	"cudalab/grader/proof/flips"
	"cudalab/grader/suites/course"
)

var onDevice = flag.String("device", "sim", "the `device` on which programs are checked: sim or gpu")

// loadKind names the environment variable with which the test program is the load, on that kind of device.
const loadKind = "CUDALAB_FLIPS_LOAD"

// TestMain lets the test program be another process: the load on the machine, or the grader of a class.
func TestMain(m *testing.M) {
	var err error
	switch {
	case os.Getenv(loadKind) != "":
		err = loadMachine(os.Getenv(loadKind))
	case os.Getenv(gradeResults) != "":
		err = gradeClass()
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// loadMachine is the load, until the process that has started this one lets go of the standard input.
func loadMachine(kind string) error {
	stop := make(chan struct{})
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		close(stop)
	}()
	return flips.Load(kind, func() { fmt.Println("ready") }, stop)
}

// The environment with which TestMain grades: the submissions and the folder for the results.
const (
	gradeSubmissions = "CUDALAB_FLIPS_SUBMISSIONS"
	gradeResults     = "CUDALAB_FLIPS_RESULTS"
)

// gradeClass grades as the environment says, with as many jobs as there are processors to run on.
func gradeClass() error {
	c, err := course.Open("../../..")
	if err != nil {
		return err
	}
	_, err = class.Grade(context.Background(), class.Options{Root: c.Root, Exercises: c.Exercises,
		Submissions: os.Getenv(gradeSubmissions), Results: os.Getenv(gradeResults), Device: "sim", Seed: 7,
		Insecure: len(sandbox.Supported().Gaps()) > 0})
	return err
}

// startLoad puts other work on the machine until it is stopped.
func startLoad(t *testing.T, kind string) (stop func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), loadKind+"="+kind)
	cmd.Stderr = os.Stderr
	hold, err := cmd.StdinPipe()
	require.NoError(t, err)
	said, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err, "the load has not begun")
	require.Equal(t, "ready\n", line)
	return func() {
		require.NoError(t, hold.Close())
		require.NoError(t, cmd.Wait(), "the load has ended early")
	}
}

func openCourse(t *testing.T) *course.Course {
	t.Helper()
	c, err := course.Open("../../..")
	require.NoError(t, err)
	return c
}
