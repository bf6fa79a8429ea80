//go:build !linux

package sandbox

import "os/exec"

// Supported tells what of the sandbox is in force here.
func Supported() Report {
	return Report{Parts: []Part{{Name: "sandbox", Text: ErrNone.Error() + "."}}}
}

// Confined is a child that there cannot be here.
type Confined struct{}

// Start answers ErrNone.
func (p *Policy) Start(*exec.Cmd, uint64) (*Confined, error) { return nil, ErrNone }

// Kill does nothing.
func (c *Confined) Kill() {}

// Close does nothing.
func (c *Confined) Close() (outOfMemory bool) { return false }
