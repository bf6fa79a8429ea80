//go:build unix

package child

import (
	"os"
	"os/exec"
)

func passFiles(cmd *exec.Cmd, files []*os.File) error {
	cmd.ExtraFiles = files
	return nil
}
