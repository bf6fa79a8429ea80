//go:build !linux

package sandbox

import "os/exec"

// Supported tells what of the sandbox is in force here.
func Supported() Report {
	return Report{Parts: []Part{{Name: "sandbox", Text: ErrNone.Error() + "."}}}
}

// Confined is a child that starts in the sandbox.
type Confined struct{}

// Confine answers ErrNone.
func (p *Policy) Confine(*exec.Cmd, uint64) (*Confined, error) { return nil, ErrNone }

// Started is for a child that there cannot be here; so are the others.
func (c *Confined) Started() error { return ErrNone }

// Kill does nothing.
func (c *Confined) Kill() {}

// Close does nothing.
func (c *Confined) Close() (outOfMemory bool) { return false }
