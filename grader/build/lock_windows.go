package build

import (
	"io/fs"
	"syscall"
)

// lock takes the lock of a file without waiting. It goes with the process if it is not released before.
func lock(path string) (unlock func(), err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	// Opened for no one else to share, the file cannot be opened a second time.
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS,
		syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, err
	}
	return func() { syscall.CloseHandle(h) }, nil
}

// ours is true on Windows, where every user has a temporary folder of their own.
func ours(fs.FileInfo) bool { return true }
