//go:build unix

package child

import (
	"os"
	"os/exec"
	"syscall"
)

func passFiles(cmd *exec.Cmd, files []*os.File) error {
	cmd.ExtraFiles = files
	return nil
}

func askToQuit(p *os.Process) bool { return p.Signal(syscall.SIGQUIT) == nil }
