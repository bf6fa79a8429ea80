package driver

import (
	"os"
	"path/filepath"
	"syscall"
)

// openLibrary loads the driver's library and returns a function that finds its symbols. The full path keeps a file of
// the same name in the working directory from being loaded instead.
func openLibrary() (lookup func(name string) uintptr, err error) {
	path := filepath.Join(os.Getenv("SystemRoot"), "System32", "nvcuda.dll")
	handle, err := syscall.LoadLibrary(path)
	if err != nil {
		return nil, noLibrary(path + ": " + err.Error())
	}
	return func(name string) uintptr {
		address, err := syscall.GetProcAddress(handle, name)
		if err != nil {
			return 0
		}
		return address
	}, nil
}
