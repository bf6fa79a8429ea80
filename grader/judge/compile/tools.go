//go:build !js

package compile

import (
	"context"
	"time"

	"cudalab/grader/machine/child"
)

// hasGo says that there is a go command, and go build has the last word.
const hasGo = true

// How much time the compiler may take for one student's package, and one go build: by the clock, and of CPU time.
const (
	buildTime    = 5 * time.Minute
	compilerTime = 15 * time.Second
)

// build has go build make the runner; how it ended tells whether it is there, and said is what it says by package.
func (b *builder) build(ctx context.Context, _ []*submission) (r child.Result, said []output, err error) {
	// -trimpath gives every file the same name wherever the course lies; -s -w halve the time to link, and what noDWARF
	// leaves out need not be read for it. -e has the compiler list every error in the runner's main package, so that no
	// exercise's are left out for another's.
	limits := b.Limits
	limits.Output = maxOutput
	p, err := child.Start(ctx, child.Command{
		Path: b.tool,
		Args: []string{"build", "-json", "-o", b.slot.binary, "-overlay", b.work.overlay, "-trimpath", archiveFlag,
			"-gcflags=-e " + noDWARF,
			"-ldflags=-s -w", b.work.mainPath()},
		Dir:    b.Root,
		Env:    environment(b.slot.fallback),
		Limits: limits,
	})
	if err != nil {
		return child.Result{}, nil, err
	}
	r = p.Wait()
	return r, outputs(r.Stdout), nil
}
