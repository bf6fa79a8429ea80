//go:build !windows && !js

package self

import (
	"os"
	"strconv"
	"syscall"
)

// File is the i-th of the Command.ExtraFiles that this process was started with. It is nil if there is no such file.
func File(i int) *os.File {
	fd := 3 + i
	var status syscall.Stat_t
	if syscall.Fstat(fd, &status) != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), "inherited file "+strconv.Itoa(i))
}
