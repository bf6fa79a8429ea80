//go:build unix && !linux

package child

import (
	"os"
	"syscall"
)

// askToQuit has a Go program print its stacks.
func askToQuit(p *os.Process) bool { return p.Signal(syscall.SIGQUIT) == nil }
