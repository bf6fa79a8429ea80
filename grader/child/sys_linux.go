package child

import (
	"os/exec"
	"syscall"
	"unsafe"
)

func groupOfItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitEnd waits for the end of a child without reaping it.
func awaitEnd(cmd *exec.Cmd) {
	const (
		byPID     = 1   // P_PID
		siginfoSz = 128 // sizeof(siginfo_t)
	)
	var info [siginfoSz / 8]uint64
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(cmd.Process.Pid),
			uintptr(unsafe.Pointer(&info)), syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}
