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

// Paces races the solution of an exercise against its baseline on a simulated device, nil being the built-in one, and puts
// what came out into text, that of the exercise's paces.txt. It stays as it is where the exercise has no race.
func Paces(ctx context.Context, root string, e course.Exercise, p *sim.Profile, text string) (string, error) {
	if err := outdated(root, e); err != nil {
		return "", err
	}
	tested := part{e, filepath.Join(root, e.SolutionFolder())}
	built, err := compile.Build(ctx, compile.Request{Root: root, Exercises: []compile.Exercise{tested.build(root)}})
	if err != nil {
		return "", err
	}
	defer built.Close()
	linked := &built.Exercises[0]
	if !linked.OK() {
		return "", fmt.Errorf("the solution of %s does not build; `cudalab check %[1]s --solution` says why", e.Name)
	}
	runner := run.NewRunner(run.Options{Binary: built.Binary, Device: string(device.Sim), Profile: p})
	defer runner.Close()
	var noted []map[string][]int64
	var on verdict.Device
	for seed := range uint64(suite.PaceSeeds) {
		cases, d, err := run.Race(ctx, run.Request{Suite: e.Suite, Runner: runner, Package: linked.ImportPath, Seed: seed + 1,
			Name: nameIn(linked)})
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
