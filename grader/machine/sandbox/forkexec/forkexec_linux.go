// Package forkexec starts a process that makes a list of system calls before it executes a program: those that take
// rights from it, which package syscall has no place for.
//
// The usual way to that is a helper, a program that takes its own rights and then executes the other one. A helper
// written in Go takes longer to start than all the rest. Nor is the parent's memory copied for the new process, as
// package syscall does where there are to be namespaces: that takes time for every page, and a fault on every page that
// the parent writes to next. The new process uses its parent's memory until it executes the program, as after vfork;
// only that the parent goes on meanwhile, so that it can do what takes the new process's id.
package forkexec

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Calls are what a new process does, in order. The last one has to be one that does not return.
type Calls struct {
	list []call
	what []string // by list
	held []any    // what arguments point to
}

// call is one system call, as the assembly reads it.
type call struct {
	number uintptr
	args   [6]uintptr
	least  int // a result below it is a failure
}

// failure is what the assembly leaves of a call that failed.
type failure struct {
	call  uintptr // its address; 0: none has
	errno uintptr
}

// Add adds a call; what it is for is told if it fails, as in "closing files". Arguments may come from Text, Texts and
// Pointer.
func (c *Calls) Add(what string, number int, args ...uintptr) { c.add(what, 0, number, args...) }

func (c *Calls) add(what string, least, number int, args ...uintptr) {
	next := call{number: uintptr(number), least: least}
	copy(next.args[:], args)
	c.list, c.what = append(c.list, next), append(c.what, what)
}

// Text is the argument for a string; one with a zero byte in it ends there.
func (c *Calls) Text(s string) uintptr { return Pointer(c, &append([]byte(s), 0)[0]) }

// Texts is the argument for a list of strings.
func (c *Calls) Texts(list []string) uintptr {
	pointers := make([]uintptr, len(list)+1) // the last is null
	for i, s := range list {
		pointers[i] = c.Text(s)
	}
	return Pointer(c, &pointers[0])
}

// Pointer is the argument for what p points to, which c keeps in its place in memory.
func Pointer[T any](c *Calls, p *T) uintptr {
	c.held = append(c.held, p)
	return uintptr(unsafe.Pointer(p))
}

// Options are what Start is to see to besides.
type Options struct {
	Files      []*os.File // the new process's descriptors 0, 1, 2 and so on
	Namespaces uintptr    // those it gets of its own: unix.CLONE_NEWUSER and others
	Cgroup     *os.File   // the folder of the one it is born in; nil: the parent's
	// Prepare is called before the process makes the first call; its error keeps it from that. nil: nothing to prepare.
	Prepare func(pid int) error
}

// Start starts a process, and returns when it has executed its program or ended by itself, as the calls would have it:
// the caller has to wait for it. If a call fails, that is the error. All signals have their default action in the
// process, and it is killed when the thread that called Start ends.
func (c *Calls) Start(o Options) (pid int, err error) {
	files := descriptors{least: len(o.Files)}
	defer files.close()
	gate, release, err := files.pipe() // the process waits at the gate
	if err != nil {
		return 0, err
	}
	over, ended, err := files.pipe() // nobody has its end open once the process executes its program
	if err != nil {
		return 0, err
	}
	var all, before uint64
	all = ^all
	start := &Calls{}
	start.Add("asking to die with the parent", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL))
	start.Add("closing a pipe", unix.SYS_CLOSE, uintptr(release))
	start.add("waiting for the parent", 1, unix.SYS_READ, uintptr(gate), Pointer(start, new(byte)), 1)
	for i, f := range o.Files {
		from, err := files.above(int(f.Fd()))
		if err != nil {
			return 0, err
		}
		start.Add("passing files on", unix.SYS_DUP3, uintptr(from), uintptr(i), 0)
	}
	start.resetSignals(&before)
	list := append(start.list, c.list...)
	end := &failure{}

	number, a1, a2 := start.clone(o)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// A signal must not find the new process with handlers that are made for this one.
	syscall.ForkLock.Lock()
	setMask(&all, &before)
	child, errno := fork(number, a1, a2, &list[0], end)
	setMask(&before, nil)
	syscall.ForkLock.Unlock()
	if errno != 0 {
		return 0, os.NewSyscallError("clone", syscall.Errno(errno))
	}
	pid = int(child)
	files.closeOne(gate)
	files.closeOne(ended)
	if o.Prepare != nil {
		if err := o.Prepare(pid); err != nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			reap(pid)
			return 0, err
		}
	}
	_, _ = syscall.Write(release, []byte{1}) // a process that is gone by now needs no release
	awaitClose(over)
	if end.call != 0 {
		reap(pid)
		at := int((end.call - uintptr(unsafe.Pointer(&list[0]))) / unsafe.Sizeof(list[0]))
		err = fmt.Errorf("%s: %w", append(start.what, c.what...)[at], syscall.Errno(end.errno))
	}
	runtime.KeepAlive(c)
	runtime.KeepAlive(start)
	return pid, err
}

// resetSignals gives every signal its default action, and what mask will hold as the mask.
func (c *Calls) resetSignals(mask *uint64) {
	action := Pointer(c, new([4]uint64)) // struct sigaction of the kernel
	for s := range unix.Signal(65) {
		if s != 0 && s != unix.SIGKILL && s != unix.SIGSTOP {
			c.Add("resetting signals", unix.SYS_RT_SIGACTION, uintptr(s), action, 0, unsafe.Sizeof(*mask))
		}
	}
	c.Add("unblocking signals", unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, Pointer(c, mask), 0, unsafe.Sizeof(*mask))
}

// clone is the system call that makes the process: clone3 where it is born into a cgroup, else clone, which sandboxes
// around cudalab are more likely to let through.
func (c *Calls) clone(o Options) (number, a1, a2 uintptr) {
	flags := unix.CLONE_VM | o.Namespaces
	if o.Cgroup == nil {
		return unix.SYS_CLONE, flags | uintptr(unix.SIGCHLD), 0
	}
	args := &struct {
		flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls, setTID, setTIDSize,
		cgroup uint64
	}{
		flags: uint64(flags) | unix.CLONE_INTO_CGROUP, exitSignal: uint64(unix.SIGCHLD), cgroup: uint64(o.Cgroup.Fd())}
	return unix.SYS_CLONE3, Pointer(c, args), unsafe.Sizeof(*args)
}

// setMask sets the thread's mask of signals and tells what it was.
func setMask(mask, before *uint64) {
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(mask)),
		uintptr(unsafe.Pointer(before)), unsafe.Sizeof(*mask), 0, 0)
}

// reap waits for a process that ends.
func reap(pid int) {
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// awaitClose waits until nobody has the other end of a pipe open, to which nobody writes.
func awaitClose(fd int) {
	for {
		if _, err := syscall.Read(fd, make([]byte, 1)); !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}
