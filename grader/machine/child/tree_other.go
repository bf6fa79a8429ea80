//go:build !linux && !js

package child

import "time"

// tree is the child's process group on macOS, and what taskkill finds below the child on Windows. What it takes is
// not measured.
type tree struct{ root int }

type usage struct {
	memory    uint64
	cpu       time.Duration
	processes int
}

func newTree(root int) *tree { return &tree{root} }

// measured says whether sample measures CPU time.
const measured = false

func (t *tree) asleep() bool { return false }

func (t *tree) sample() usage { return usage{} }

func (t *tree) kill() { killGroup(t.root) }
