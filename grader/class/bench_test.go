//go:build unix

package class

import (
	"context"
	"crypto/rand"
	"flag"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/intake"
	"cudalab/grader/judge/compile"
)

var benched = flag.String("of", "", "the `exercises` of BenchmarkClass's students, with commas between; none: the "+
	"course's")

// BenchmarkClass grades a class of -students with two workers, the exercise -of or all of the course, and compares that
// with what only building their runners takes, two at a time: half of that is done before and half after, so that a
// machine that is not quiet slows both down. Every build is of sources that the compiler has not seen. On a machine
// that others work on the CPU time tells more than the clock.
func BenchmarkClass(b *testing.B) {
	var grading, building time.Duration
	var gradingCPU, buildingCPU time.Duration
	for b.Loop() {
		dirs := [2]string{b.TempDir(), b.TempDir()}
		o := graded(b, dirs[0], strings.Split(*benched, ",")...)
		if o.Jobs = 2; *benched == "" {
			o.Exercises = openCourse(b).Exercises
		}
		for _, dir := range dirs {
			classroom(b, dir, rand.Text(), *students, packages(o)...)
		}
		before := cpuTime(b)
		building += buildAll(b, o, dirs[1], 0)
		buildingCPU -= before
		before = cpuTime(b)
		buildingCPU += before
		began := time.Now()
		_, err := Grade(context.Background(), o)
		require.NoError(b, err)
		grading += time.Since(began)
		after := cpuTime(b)
		gradingCPU += after - before
		building += buildAll(b, o, dirs[1], 1)
		buildingCPU += cpuTime(b) - after
	}
	b.ReportMetric(grading.Seconds()/float64(b.N), "s/graded")
	b.ReportMetric(building.Seconds()/float64(b.N), "s/built")
	b.ReportMetric(grading.Seconds()/building.Seconds(), "graded/built")
	b.ReportMetric(gradingCPU.Seconds()/float64(b.N), "cpu-s/graded")
	b.ReportMetric(buildingCPU.Seconds()/float64(b.N), "cpu-s/built")
	b.ReportMetric(gradingCPU.Seconds()/buildingCPU.Seconds(), "cpu-graded/built")
}

// cpuTime is what this process and those that it has waited for have computed.
func cpuTime(b *testing.B) (sum time.Duration) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		require.NoError(b, syscall.Getrusage(who, &used))
		sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return sum
}

// buildAll builds every second submission's runner, from the first or the second on, with two workers.
func buildAll(b *testing.B, o Options, submissions string, from int) time.Duration {
	b.Helper()
	in, err := intake.Open(submissions, packages(o), intake.Options{})
	require.NoError(b, err)
	defer in.Close()
	began := time.Now()
	next := make(chan intake.Submission)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for s := range next {
				var exercises []compile.Exercise
				for _, e := range o.Exercises {
					exercises = append(exercises, compile.Exercise{Package: e.Package, Dir: filepath.Join(s.Dir, e.Package),
						Main: e.Main(true), Solution: true})
				}
				built, err := compile.Build(context.Background(), compile.Course{Root: o.Root}, exercises...)
				if err != nil {
					b.Error(err)
					continue
				}
				built.Close()
			}
		})
	}
	for i, s := range in.Submissions() {
		if i%2 == from {
			next <- s
		}
	}
	close(next)
	workers.Wait()
	return time.Since(began)
}
