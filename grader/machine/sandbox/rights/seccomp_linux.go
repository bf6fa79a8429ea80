package rights

import (
	"maps"
	"slices"
	"sync"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// refused are the system calls that no exercise and no driver needs, and that reach beyond the process. They are
// answered EPERM. Not every architecture has all of them.
var refused = []string{
	// The network, and other processes by way of sockets: Landlock knows only some kinds. See also "socket" below.
	"socketpair", "connect", "accept", "accept4", "sendto", "sendmsg", "sendmmsg",
	// Other processes, and clones of this one: it is to be the only one in its tree.
	"fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp",
	"pidfd_open", "pidfd_getfd", "pidfd_send_signal", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "ioprio_set",
	"migrate_pages", "move_pages",
	// What outlives the process or is shared between processes.
	"shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop", "semctl", "semtimedop",
	"mq_open", "mq_unlink", "add_key", "request_key", "keyctl", "inotify_init", "inotify_init1", "fanotify_init",
	// What Landlock leaves to the owner of a file.
	"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat",
	"utimensat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr",
	"removexattrat", "truncate", "name_to_handle_at", "open_by_handle_at",
	// Namespaces and mounts, in which the rights taken here could be had again.
	"unshare", "setns", "chroot", "pivot_root", "mount", "umount", "umount2", "mount_setattr", "move_mount", "open_tree",
	"open_tree_attr", "fsopen", "fsconfig", "fsmount", "fspick",
	// The parts of the kernel that have let most attackers in.
	"bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register", "modify_ldt",
	"memfd_secret", "personality", "lookup_dcookie", "uselib",
	// The machine.
	"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct",
	"quotactl", "quotactl_fd", "sethostname", "setdomainname", "settimeofday", "stime", "clock_settime", "clock_adjtime",
	"adjtimex", "syslog", "vhangup", "iopl", "ioperm", "nfsservctl",
}

// anyPID stands for the process's id in a filter that has been assembled before there is a process. No process has it.
const anyPID = 1<<31 - 1

// The filters for a process without the driver and for one with it. To assemble one takes longer than to start a
// process.
var (
	plain  = sync.OnceValues(func() ([]unix.SockFilter, error) { return assemble("", false) })
	driver = sync.OnceValues(func() ([]unix.SockFilter, error) { return assemble("", true) })
)

// assemble makes the filter for an architecture; "": this one.
func assemble(architecture string, driver bool) (filter []unix.SockFilter, err error) {
	machine, err := arch.GetInfo(architecture)
	if err != nil {
		return nil, err
	}
	list, err := instructions(machine, anyPID, driver)
	if err != nil {
		return nil, err
	}
	raw, err := bpf.Assemble(list)
	for _, r := range raw {
		filter = append(filter, unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K})
	}
	return filter, err
}

// Filter is a seccomp filter that leaves a process the system calls that work on the process itself, and if it is to
// use the driver what libcuda needs besides.
type Filter struct{ list []unix.SockFilter }

// NewFilter makes a filter for a process that is still to be made.
func NewFilter(withDriver bool) (*Filter, error) {
	filter := plain
	if withDriver {
		filter = driver
	}
	list, err := filter()
	return &Filter{slices.Clone(list)}, err
}

// Program is the filter as the system call seccomp takes it. Both are in use until the process has made that call.
func (f *Filter) Program() *unix.SockFprog {
	return &unix.SockFprog{Len: uint16(len(f.list)), Filter: &f.list[0]}
}

// For makes the filter the process pid's, before that puts it in force.
func (f *Filter) For(pid int) {
	for i := range f.list {
		if f.list[i].K == anyPID {
			f.list[i].K = uint32(pid)
		}
	}
}

// instructions are the filter for the process pid.
func instructions(machine *arch.Info, pid uint64, driver bool) ([]bpf.Instruction, error) {
	isNot := func(argument uint32, value uint64) seccomp.Condition {
		return seccomp.Condition{Argument: argument, Operation: seccomp.NotEqual, Value: value}
	}
	// Each line refuses a call if all of its conditions hold. 0 stands for the caller itself.
	conditional := []seccomp.NameWithConditions{
		{Name: "clone", Conditions: seccomp.ArgumentConditions{
			{Argument: 0, Operation: seccomp.BitsNotSet, Value: unix.CLONE_THREAD}}},
		{Name: "kill", Conditions: seccomp.ArgumentConditions{isNot(0, pid)}},
		{Name: "tgkill", Conditions: seccomp.ArgumentConditions{isNot(0, pid)}},
		{Name: "prlimit64", Conditions: seccomp.ArgumentConditions{isNot(0, 0), isNot(0, pid)}},
		{Name: "sched_setaffinity", Conditions: seccomp.ArgumentConditions{isNot(0, 0), isNot(0, pid)}},
		{Name: "sched_setattr", Conditions: seccomp.ArgumentConditions{isNot(0, 0), isNot(0, pid)}},
		{Name: "sched_setparam", Conditions: seccomp.ArgumentConditions{isNot(0, 0), isNot(0, pid)}},
		{Name: "sched_setscheduler", Conditions: seccomp.ArgumentConditions{isNot(0, 0), isNot(0, pid)}},
		{Name: "setpriority", Conditions: seccomp.ArgumentConditions{isNot(0, unix.PRIO_PROCESS)}},
		{Name: "setpriority", Conditions: seccomp.ArgumentConditions{isNot(1, 0), isNot(1, pid)}},
	}
	names := slices.Clone(refused)
	if driver {
		// cuInit listens on an abstract Unix socket, and answers OPERATING_SYSTEM (304) if it cannot (H200, driver 580).
		// Nobody can be spoken to over it: it neither connects nor accepts.
		conditional = append(conditional, seccomp.NameWithConditions{
			Name: "socket", Conditions: seccomp.ArgumentConditions{isNot(0, unix.AF_UNIX)}})
	} else {
		names = append(names, "memfd_create", "socket", "bind", "listen")
	}
	unknown := func(name string) bool { _, known := machine.SyscallNames[name]; return !known }
	policy := seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls: []seccomp.SyscallGroup{
			{
				Action: seccomp.ActionErrno, // EPERM
				Names:  slices.DeleteFunc(names, unknown),
				NamesWithCondtions: slices.DeleteFunc(conditional,
					func(c seccomp.NameWithConditions) bool { return unknown(c.Name) }),
			},
			// Its flags are in memory, where a filter cannot look. Upon ENOSYS C libraries make their threads with clone.
			{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}},
		},
	}
	list, err := policy.Assemble()
	return append(guard(machine), list...), err
}

// guard comes before the list of names, which holds for one architecture and for the calls of its day. A call by
// another convention (32-bit calls on x86-64) ends the process, and one younger than the list is answered ENOSYS, as
// it would be by an older kernel.
func guard(machine *arch.Info) []bpf.Instruction {
	const number, architecture, size = 0, 4, 4 // offsets in struct seccomp_data, and the size of both fields
	youngest := uint32(slices.Max(slices.Collect(maps.Keys(machine.SyscallNumbers))))
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: architecture, Size: size},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(machine.ID), SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
		bpf.LoadAbsolute{Off: number, Size: size},
		bpf.JumpIf{Cond: bpf.JumpLessOrEqual, Val: youngest, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
	}
}
