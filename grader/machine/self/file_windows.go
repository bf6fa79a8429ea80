package self

import (
	"os"
	"strconv"
	"strings"
)

// File is the i-th of the Command.ExtraFiles that this process was started with. It is nil if there is no such file.
func File(i int) *os.File {
	handles := strings.Split(os.Getenv(HandlesVariable), ",")
	if i >= len(handles) {
		return nil
	}
	h, err := strconv.ParseUint(handles[i], 10, 64)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(h), "inherited file "+strconv.Itoa(i))
}
