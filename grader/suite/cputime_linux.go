package suite

import (
	"syscall"
	"unsafe"
)

// clockThreadCPU is CLOCK_THREAD_CPUTIME_ID of clock_gettime(2).
const clockThreadCPU = 3

// ThreadTime is the CPU time that this thread has taken so far, in nanoseconds: what others on the machine take is not
// in it. The goroutine must be locked to its thread.
func ThreadTime() int64 {
	var t syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPU, uintptr(unsafe.Pointer(&t)), 0)
	if errno != 0 {
		return monotonic()
	}
	return t.Nano()
}
