package self

import (
	"os"
	"strconv"
)

// File is the i-th of the Command.ExtraFiles that this process was started with. It is nil if there is no such file.
func File(i int) *os.File {
	f, err := os.OpenFile("/dev/fd/"+strconv.Itoa(3+i), os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	return f
}
