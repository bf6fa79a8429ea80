//go:build !linux

package sandbox

import "os/exec"

// Supported tells what of the sandbox is in force here.
func Supported() Report {
	return Report{Parts: []part{{Name: "sandbox", Text: errNone.Error() + "."}}}
}

// Confined is a child that there cannot be here.
type Confined struct{}

// Start answers errNone.
func (p *Policy) Start(*exec.Cmd, uint64) (*Confined, error) { return nil, errNone }

// Kill does nothing.
func (c *Confined) Kill() {}

// Close does nothing.
func (c *Confined) Close() (outOfMemory bool) { return false }
