package forkexec

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// descriptors are this process's for the time of one start. No program inherits them, and their numbers are out of the
// way of those that the new process gets.
type descriptors struct {
	least int // the lowest number
	open  []int
}

// above is another descriptor of the same file.
func (d *descriptors) above(fd int) (int, error) {
	copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, d.least)
	if err != nil {
		return 0, os.NewSyscallError("fcntl", err)
	}
	d.open = append(d.open, copied)
	return copied, nil
}

// pipe makes one whose ends block, unlike those of os.Pipe.
func (d *descriptors) pipe() (read, write int, err error) {
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		return 0, 0, os.NewSyscallError("pipe2", err)
	}
	defer syscall.Close(ends[0])
	defer syscall.Close(ends[1])
	if read, err = d.above(ends[0]); err != nil {
		return 0, 0, err
	}
	write, err = d.above(ends[1])
	return read, write, err
}

func (d *descriptors) closeOne(fd int) {
	for i, open := range d.open {
		if open == fd {
			syscall.Close(fd)
			d.open = append(d.open[:i], d.open[i+1:]...)
			return
		}
	}
}

func (d *descriptors) close() {
	for _, fd := range d.open {
		syscall.Close(fd)
	}
	d.open = nil
}
