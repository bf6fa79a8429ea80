package check

import (
	"context"
	"fmt"
	"path/filepath"

	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
	"cudalab/native/device"
	"cudalab/native/sim"
)

// Paces races the solution of an exercise against its baseline on a simulated device, nil being the built-in one, and
// puts what came out into text, that of the exercise's paces.txt. It stays as it is where the exercise has no race.
func Paces(ctx context.Context, root string, e course.Exercise, p *sim.Profile, text string) (string, error) {
	q := Request{Course: compile.Course{Root: root}, Options: run.Options{Device: string(device.Sim), Profile: p},
		Code: []Code{{Exercise: e, Dir: filepath.Join(root, e.SolutionFolder())}}}
	built, err := build(ctx, q)
	if err != nil {
		return "", err
	}
	defer built.Close()
	linked := &built.Exercises[0]
	if !linked.OK() {
		return "", fmt.Errorf("the solution of %s does not build; `cudalab check %[1]s --solution` says why", e.Name)
	}
	runner := run.NewRunner(built.Binary, q.Options)
	defer runner.Close()
	var noted []map[string][]int64
	var on verdict.Device
	for seed := range uint64(suite.PaceSeeds) {
		runner.Seed = seed + 1
		cases, d, err := runner.Race(ctx, run.Code{Suite: e.Suite, Package: linked.ImportPath, Name: nameIn(linked)})
		if err != nil {
			return "", err
		}
		on = d
		for _, c := range cases {
			noted = append(noted, c.Samples)
		}
	}
	return suite.AddPaces(text, e.Suite.PacesOf(on, noted))
}
