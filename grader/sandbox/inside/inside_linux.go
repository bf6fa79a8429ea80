package inside

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// failed is the exit status of a helper that did not turn into the program.
const failed = 125

func init() {
	if len(os.Args) != 2 || os.Args[0] != Name {
		return
	}
	// Initialisation keeps to the process's first thread, so what follows holds for the thread that becomes the program.
	var o Order
	err := json.Unmarshal([]byte(os.Args[1]), &o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "This is a part of cudalab's sandbox, which only cudalab starts.")
		os.Exit(failed)
	}
	var a Answer
	if o.Trial {
		a = try(o)
	} else {
		a.Failure = become(o).Error()
	}
	text, err := json.Marshal(a)
	if err == nil {
		_, err = syscall.Write(3+o.Inherit, text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, a.Failure)
	}
	os.Exit(failed)
}

// try takes all rights and tells what this system did not let it take.
func try(o Order) (a Answer) {
	if err := restrictFiles(o); err != nil {
		a.Landlock = err.Error()
	}
	if err := restrictCalls(o); err != nil {
		a.Seccomp = err.Error()
	}
	return a
}

// become turns this process into the program; it returns only if that fails.
func become(o Order) error {
	if err := keepDescriptors(3 + o.Inherit); err != nil {
		return fmt.Errorf("closing inherited files: %w", err)
	}
	// Where memory runs out all the same, it is the program that the kernel ends, not cudalab or a neighbour. Without
	// /proc that is not to be had, and no reason not to start.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if err := setLimits(o); err != nil {
		return err
	}
	if o.Landlock {
		if err := restrictFiles(o); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	if o.Seccomp {
		if err := restrictCalls(o); err != nil {
			return fmt.Errorf("seccomp: %w", err)
		}
	}
	err := syscall.Exec(o.Program, append([]string{o.Program}, o.Args...), os.Environ())
	return &os.PathError{Op: "executing", Path: o.Program, Err: err}
}

// keepDescriptors marks every descriptor from first on to be closed when the program is executed. cudalab may have got
// some from whoever started it.
func keepDescriptors(first int) error {
	err := unix.CloseRange(uint(first), ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC)
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	entries, err := os.ReadDir("/proc/self/fd") // before Linux 5.11
	if err != nil {
		return err
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= first {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

// setLimits sets what the kernel counts by itself. The address space has no limit: Go's runtime reserves hundreds of
// megabytes and CUDA far more, of which nothing is used.
func setLimits(o Order) error {
	limits := []struct {
		name     string
		resource int
		value    uint64
	}{
		{"core dumps", unix.RLIMIT_CORE, 0},
		{"message queues", unix.RLIMIT_MSGQUEUE, 0},
		{"the size of files", unix.RLIMIT_FSIZE, o.FileSize},
		{"open files", unix.RLIMIT_NOFILE, o.OpenFiles},
		{"threads", unix.RLIMIT_NPROC, o.Tasks},
	}
	for _, l := range limits {
		if l.resource == unix.RLIMIT_NPROC && l.value == 0 {
			continue
		}
		var now syscall.Rlimit
		if err := syscall.Getrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("the limit on %s: %w", l.name, err)
		}
		l.value = min(l.value, now.Max)
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("the limit on %s: %w", l.name, err)
		}
	}
	return nil
}

// dropCapabilities gives up root's powers where cudalab has them. Executing a program would give them back to user 0
// but for no_new_privs: under it a process gets none that it has not (cap_bprm_creds_from_file in the kernel).
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}
