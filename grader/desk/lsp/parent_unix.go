//go:build unix

package lsp

import (
	"errors"
	"syscall"
)

// alive reports whether there is such a process, also if it is somebody else's.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
