//go:build !linux && !js

package child

import (
	"os"
	"os/exec"
)

// awaitEnd waits for the end of a child. There is no way here to do so without reaping it; the error that Wait has
// for the caller's own call is of no interest.
func awaitEnd(cmd *exec.Cmd) { _ = cmd.Wait() }

// limitFiles does nothing: there is no way here to limit a process that runs already.
func limitFiles(pid int, size uint64) {}

// widen does nothing: only Linux lets a pipe's size be chosen.
func widen(*os.File) {}
