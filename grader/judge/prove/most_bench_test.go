package prove_test

import (
	"context"
	"testing"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/prove"
	"cudalab/grader/judge/run"
	"cudalab/grader/suites/course"
)

func BenchmarkMost(b *testing.B) {
	c, err := course.Open("../../..")
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"async-pipeline", "cross-stream-events", "overlap", "ring", "bug-clinic",
		"pool-config"} {
		e, _ := c.Find(name)
		r := check.Exercise(context.Background(), check.Request{
			Course: compile.Course{Root: c.Root}, Options: run.Options{Device: "sim", Seed: 42, NoTiming: true},
			Code: []check.Code{{Exercise: e, Dir: c.Root + "/" + e.SolutionFolder()}},
		})
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				prove.Most(r)
			}
		})
	}
}
