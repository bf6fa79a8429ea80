package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"cudalab/grader/machine/child"
	"cudalab/grader/machine/sandbox"
	"cudalab/grader/machine/self"
)

// This test binary plays the hostile programs itself: started with a role it never comes to the tests.
const (
	roleVariable   = "SANDBOX_TEST_ROLE"
	targetVariable = "SANDBOX_TEST_TARGET" // a folder of the neighbour's, or what else the role is after
)

// attempts are what a hostile program tries; each must end with an error of a wall's. Whatever would do harm if it were
// not stopped is tried in a form that fails otherwise: signal 0, a file system that does not exist, a wrong flag. Only
// those in comparable are ever tried without the sandbox.
var attempts = map[string]func(target string) error{
	"TCP socket": func(string) error { return openSocket(unix.AF_INET, unix.SOCK_STREAM, 0) },
	"MPTCP socket": func(string) error {
		return openSocket(unix.AF_INET, unix.SOCK_STREAM,
			unix.IPPROTO_MPTCP)
	},
	"UDP socket": func(string) error { return openSocket(unix.AF_INET6, unix.SOCK_DGRAM, 0) },
	"raw socket": func(string) error { return openSocket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP) },
	unixSocket:   func(string) error { return openSocket(unix.AF_UNIX, unix.SOCK_STREAM, 0) },
	"netlink socket": func(string) error {
		return openSocket(unix.AF_NETLINK, unix.SOCK_RAW,
			unix.NETLINK_ROUTE)
	},
	"packet socket": func(string) error { return openSocket(unix.AF_PACKET, unix.SOCK_RAW, 0) },
	"vsock":         func(string) error { return openSocket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) },
	"pair of sockets": func(string) error {
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM,
			0)
		return err
	},
	"listen": func(string) error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
	"abstract socket": func(target string) error {
		_, err := net.Dial("unix",
			"@"+filepath.Base(target))
		return err
	},
	"read /etc/passwd":          func(string) error { _, err := os.ReadFile("/etc/passwd"); return err },
	"read a neighbour's file":   func(target string) error { _, err := os.ReadFile(target + "/secret"); return err },
	"list a neighbour's folder": func(target string) error { _, err := os.ReadDir(target); return err },
	"write a neighbour's file":  func(target string) error { return os.WriteFile(target+"/secret", nil, 0o600) },
	"truncate it":               func(target string) error { return os.Truncate(target+"/secret", 0) },
	"delete it":                 func(target string) error { return os.Remove(target + "/secret") },
	"rename it":                 func(target string) error { return os.Rename(target+"/secret", target+"/mine") },
	"link it":                   func(target string) error { return os.Link(target+"/secret", target+"/mine") },
	"make it unreadable":        func(target string) error { return os.Chmod(target+"/secret", 0) },
	"change its time": func(target string) error {
		return os.Chtimes(target+"/secret", time.Unix(0, 0),
			time.Unix(0, 0))
	},
	"mark it": func(target string) error {
		return unix.Setxattr(target+"/secret", "user.mark",
			[]byte("1"), 0)
	},
	"watch it":             func(string) error { _, err := unix.InotifyInit1(0); return err },
	"write to /tmp":        func(string) error { _, err := os.CreateTemp("/tmp", "hostile"); return err },
	"write to $HOME":       func(string) error { _, err := os.CreateTemp(os.Getenv("HOME"), "hostile"); return err },
	"write to /dev/shm":    func(string) error { _, err := os.CreateTemp("/dev/shm", "hostile"); return err },
	"make a folder":        func(target string) error { return os.Mkdir(target+"/mine", 0o700) },
	"make a symbolic link": func(target string) error { return os.Symlink("/etc/passwd", target+"/mine") },
	"make a named pipe":    func(target string) error { return unix.Mkfifo(target+"/mine", 0o600) },
	"open a terminal":      func(string) error { _, err := os.Open("/dev/tty"); return err },
	"open a disk":          func(string) error { _, err := os.Open("/dev/vda"); return err },
	memoryFile:             func(string) error { _, err := unix.MemfdCreate("hostile", 0); return err },
	"start a process":      startProcess,
	"start a shell":        func(string) error { return syscall.Exec("/bin/sh", []string{"sh"}, nil) },
	"leave a daemon":       leaveDaemon,
	"unshare":              func(string) error { return unix.Unshare(unix.CLONE_NEWUSER) },
	"enter a namespace":    func(string) error { return unix.Setns(0, unix.CLONE_NEWNET) },
	"mount": func(target string) error {
		return unix.Mount("none", target, "no-such-file-system", 0,
			"")
	},
	"chroot": func(string) error { return unix.Chroot("/") },
	"trace the parent": func(string) error {
		return call(unix.SYS_PTRACE, unix.PTRACE_SEIZE,
			uintptr(os.Getppid()))
	},
	"read the parent's memory":   func(string) error { _, err := os.Open(ofParent("mem")); return err },
	"read the parent's settings": func(string) error { _, err := os.ReadFile(ofParent("environ")); return err },
	"read the parent's words":    func(string) error { _, err := os.ReadFile(ofParent("cmdline")); return err },
	"read out of the parent":     readParent,
	"signal the parent":          func(string) error { return unix.Kill(os.Getppid(), 0) },
	"signal a parent's thread":   func(string) error { return unix.Tgkill(os.Getppid(), os.Getppid(), 0) },
	"signal the own group":       func(string) error { return unix.Kill(0, 0) },
	"signal the parent's group":  func(string) error { return unix.Kill(-os.Getppid(), 0) },
	"signal everybody":           func(string) error { return unix.Kill(-1, 0) },
	"hold the parent":            func(string) error { _, err := unix.PidfdOpen(os.Getppid(), 0); return err },
	"limit the parent":           limitParent,
	"slow the parent down":       func(string) error { return unix.Setpriority(unix.PRIO_PROCESS, os.Getppid(), 0) },
	"slow another down":          func(string) error { return unix.Setpriority(unix.PRIO_USER, 1<<30, 19) },
	"move the parent":            moveParent,
	"shared memory": func(string) error {
		_, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096,
			0o600)
		return err
	},
	"message queue": func(string) error { return call(unix.SYS_MSGGET, unix.IPC_PRIVATE, 0o600) },
	"keyring": func(string) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING,
			false)
		return err
	},
	"bpf":                  func(string) error { return call(unix.SYS_BPF) },
	"perf events":          func(string) error { return call(unix.SYS_PERF_EVENT_OPEN) },
	"io_uring":             func(string) error { return call(unix.SYS_IO_URING_SETUP, 1) },
	"userfaultfd":          func(string) error { return call(unix.SYS_USERFAULTFD) },
	"load a module":        func(string) error { return unix.InitModule(nil, "") },
	"load a kernel":        func(string) error { return call(unix.SYS_KEXEC_LOAD, 0, 1000) },
	"reboot":               func(string) error { return call(unix.SYS_REBOOT) },
	"set the clock":        func(string) error { return call(unix.SYS_CLOCK_SETTIME, unix.CLOCK_REALTIME) },
	"a call of the future": func(string) error { return call(600) },
}

// comparable are the attempts that do no harm where nothing stops them.
var comparable = []string{"UDP socket", "MPTCP socket", "abstract socket", "read /etc/passwd",
	"read a neighbour's file",
	"write a neighbour's file", "start a process", "leave a daemon", "signal the parent", "read the parent's settings",
	"limit the parent", memoryFile}

// The two attempts that succeed where the policy has the GPU.
const (
	memoryFile = "file in memory"
	unixSocket = "Unix socket"
)

func openSocket(family, kind, protocol int) error {
	fd, err := unix.Socket(family, kind, protocol)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func call(number uintptr, args ...uintptr) error {
	var a [3]uintptr
	copy(a[:], args)
	if _, _, errno := unix.Syscall(number, a[0], a[1], a[2]); errno != 0 {
		return errno
	}
	return nil
}

func ofParent(file string) string { return "/proc/" + strconv.Itoa(os.Getppid()) + "/" + file }

// startProcess starts a process that ends at once.
func startProcess(string) error {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{roleVariable + "=nothing"}
	return cmd.Start()
}

func leaveDaemon(string) error {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{roleVariable + "=nap"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

func readParent(string) error {
	buffer := make([]byte, 8)
	_, err := unix.ProcessVMReadv(os.Getppid(), []unix.Iovec{{Base: &buffer[0], Len: 8}},
		[]unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
	return err
}

func limitParent(string) error {
	var now unix.Rlimit
	return unix.Prlimit(os.Getppid(), unix.RLIMIT_CPU, nil, &now)
}

func moveParent(string) error {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return err
	}
	return unix.SchedSetaffinity(os.Getppid(), &all)
}

// play is the hostile program's main function.
func play(role string) {
	target := os.Getenv(targetVariable)
	switch role {
	case "attempts":
		for _, name := range comparable {
			if outcome := fmt.Sprint(attempts[name](target)); !denied(outcome) && name != memoryFile && name != unixSocket {
				fmt.Printf("%s: %s\n", name, outcome)
				return // there is no sandbox around it, or one with holes: the rest is not to be tried
			}
		}
		for name, attempt := range attempts {
			fmt.Printf("%s: %v\n", name, attempt(target))
		}
	case "comparable attempts":
		for _, name := range comparable {
			fmt.Printf("%s: %v\n", name, attempts[name](target))
		}
	case "nothing":
	case "nap":
		time.Sleep(time.Second)
	case "descriptors":
		for fd := range 1024 {
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
				fmt.Print(fd, " ")
			}
		}
	case "state":
		status, err := os.ReadFile("/proc/self/status")
		fmt.Println(err)
		fmt.Println(string(status))
		for name, resource := range map[string]int{"address space": unix.RLIMIT_AS, "core": unix.RLIMIT_CORE} {
			var l unix.Rlimit
			fmt.Println(unix.Getrlimit(resource, &l) == nil, name, l.Max == unix.RLIM_INFINITY, l.Max)
		}
	case "name a thread":
		fmt.Println(os.WriteFile(fmt.Sprintf("/proc/self/task/%d/comm", unix.Gettid()), []byte("cuda"), 0))
	case "open files":
		for n := 0; ; n++ {
			if _, err := os.Open("/dev/null"); err != nil {
				fmt.Println(n, err)
				return
			}
		}
	case "threads":
		var numbers [1 << 12]int
		for i := range numbers {
			go func() { // a read that never ends holds its thread
				var ends [2]int
				if unix.Pipe(ends[:]) == nil {
					unix.Read(ends[0], unsafe.Slice((*byte)(unsafe.Pointer(&numbers[i])), 1))
				}
			}()
		}
		time.Sleep(time.Minute)
	case "fill the disk":
		f, err := os.Create(target + "/filling")
		fmt.Println(err)
		fmt.Println(fill(f))
	case "fill a file in memory":
		fd, err := unix.MemfdCreate("hostile", 0)
		fmt.Println(err)
		fmt.Println(fill(os.NewFile(uintptr(fd), "hostile")))
	case "loop":
		for n := 0; ; n++ {
			spins = n
		}
	case "hog":
		for {
			kept = append(kept, bytes.Repeat([]byte{1}, 1<<20))
		}
	case "flood":
		line := []byte(strings.Repeat("x", 1<<20))
		for range 1 << 10 {
			os.Stdout.Write(line)
		}
	case "kill itself":
		unix.Kill(os.Getpid(), unix.SIGKILL)
	case "sleep":
		time.Sleep(time.Minute)
	case "grade": // a grader that runs a stranger's code, and tells where
		p, err := child.Start(context.Background(), command("tell", &sandbox.Policy{}, self.File(0)))
		if err == nil {
			p.Wait()
		}
	case "tell":
		fmt.Fprintln(self.File(0), os.Getpid())
		time.Sleep(time.Minute)
	}
}

// What the greedy roles work on, so that no compiler takes their work away.
var (
	kept  [][]byte
	spins int
)

// fill writes 64 MiB, if it can.
func fill(f *os.File) error {
	block := make([]byte, 1<<20)
	for range 64 {
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// command starts this binary in a role.
func command(role string, policy *sandbox.Policy, files ...*os.File) child.Command {
	return child.Command{
		Path:       "/proc/self/exe",
		Env:        []string{roleVariable + "=" + role, "HOME=" + os.Getenv("HOME"), "GOTRACEBACK=all"},
		ExtraFiles: files,
		Limits:     child.Limits{Wall: time.Minute},
		Sandbox:    policy,
	}
}

// outcomes parses what role "attempts" prints: an error, or "<nil>", by attempt.
func outcomes(stdout []byte) map[string]string {
	all := map[string]string{}
	for s := bufio.NewScanner(bytes.NewReader(stdout)); s.Scan(); {
		name, outcome, _ := strings.Cut(s.Text(), ": ")
		all[name] = outcome
	}
	return all
}

// denied tells whether an error is a wall's: EPERM or EACCES, or ENOSYS for calls that the filter does not know.
func denied(outcome string) bool {
	return slices.ContainsFunc([]error{unix.EPERM, unix.EACCES, unix.ENOSYS}, func(err error) bool {
		return strings.HasSuffix(outcome, err.Error())
	})
}
