package class

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suites/course"
)

var kills = flag.Int("kills", 3, "how `often` TestKilledAtAnyMoment kills the grader")

// The environment with which TestMain grades: the submissions and the folder for the results.
const (
	killSubmissions = "CLASS_TEST_SUBMISSIONS"
	killResults     = "CLASS_TEST_RESULTS"
)

// killed is the grader that is going to be killed.
func killed() error {
	c, err := course.Open("../..")
	if err != nil {
		return err
	}
	slab, err := c.Find("slab")
	if err != nil {
		return err
	}
	_, err = Grade(context.Background(), Options{Root: c.Root, Exercises: []course.Exercise{slab},
		Submissions: os.Getenv(killSubmissions),
		Results:     os.Getenv(killResults), Device: "sim", Seed: 42, Jobs: 2, Resume: true,
		Pages: []Page{plainPage(true)}, Say: func(sentence string) { fmt.Println(sentence) }})
	return err
}

// TestKilledAtAnyMoment kills a grader again and again and goes on with what it has left: no result is lost or made
// twice, and in the end they are those of a grader that nobody disturbed.
func TestKilledAtAnyMoment(t *testing.T) {
	dir := small(t)
	right := program(t, "solutions/slab/slab.go")
	for i := range *kills { // so that there is something left to do until the last
		handIn(t, dir, fmt.Sprintf("more-%02d/slab/slab.go", i), right+fmt.Sprintf("\n// %d\n", i))
	}
	whole := graded(t, dir, "slab")
	whole.Pages = []Page{plainPage(true)}
	began := time.Now()
	want := len(grade(t, whole).Students)
	each := time.Since(began) / time.Duration(want)

	o := graded(t, dir, "slab")
	done := 0
	for n := 0; n < *kills; {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killSubmissions+"="+dir, killResults+"="+o.Results)
		require.NoError(t, cmd.Start())
		after := time.Duration(rand.Int64N(int64(6 * each)))
		time.Sleep(after)
		_ = cmd.Process.Kill() // which comes too late if it is done already
		if cmd.Wait() == nil {
			require.Equal(t, promised(t, whole.Results), promised(t, o.Results))
			o.Results, done = filepath.Join(t.TempDir(), "again"), 0
			continue
		}
		n++
		graded := gradedIn(t, o.Results)
		t.Logf("killed after %v with %d results", after.Round(time.Millisecond), graded)
		require.GreaterOrEqual(t, graded, done, "a result is lost")
		done = graded
	}
	o.Resume, o.Pages = true, []Page{plainPage(true)}
	total := 0
	o.Progress = func(p Progress) {
		if !p.Pages {
			total = p.Total
		}
	}
	grade(t, o)
	require.Equal(t, want-done, total, "a result is made twice")
	require.Equal(t, promised(t, whole.Results), promised(t, o.Results))
}

// gradedIn is how many grades there are. A submission that could not be graded is tried again, and so is none of them.
func gradedIn(t *testing.T, dir string) (n int) {
	found, err := results(dir)
	require.NoError(t, err)
	for id, s := range found {
		if s.Status == Graded {
			n++
		} else {
			t.Logf("%s could not be graded: %s", id, s.Problem)
		}
	}
	return n
}
