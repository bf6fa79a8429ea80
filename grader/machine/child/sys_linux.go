package child

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
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

// limitFiles bounds the files that a child, which has just begun, and its descendants write. Beyond that the kernel
// answers EFBIG. It fails only where the child has ended.
func limitFiles(pid int, size uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: size}, nil)
}

// askToQuit has a Go program print its stacks. The signal is for the program's first thread, which keeps what it is
// asked to do: of what runs on another thread than the one that gets it Go tells no line. One for the process goes to
// another where the first has a signal to see to already and waits for a processor, as it does now and then on a busy
// machine: Go interrupts by signals what runs for long.
func askToQuit(p *os.Process) bool { return unix.Tgkill(p.Pid, p.Pid, unix.SIGQUIT) == nil }

// pipeSize is the most that Linux lets anybody have by default, see pipe(7).
const pipeSize = 1 << 20

// widen gives a pipe more room than the usual 64 KiB. On a busy machine whoever fills a pipe waits for the reader's
// turn each time: code that prints much would be taken for code that does not end. Where it is not to be had the pipe
// stays as it is.
func widen(pipe *os.File) {
	if c, err := pipe.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
	}
}
