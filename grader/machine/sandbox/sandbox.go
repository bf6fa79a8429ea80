// Package sandbox confines a child process that runs a stranger's code. What such code may do to a grade is decided
// elsewhere; the sandbox protects the machine and the neighbours. A confined program is one process, which can make
// threads but no processes. It has no network, sees no files but its own, can signal, trace or starve nobody and
// inherits what it was given and nothing else. It still reaches the GPU.
//
// Only Linux has what that takes, and not every Linux lets everybody use it: Supported tells what is in force here.
// What it lists is in force for every child, or the child does not start.
package sandbox

// Policy says what a program may reach. The zero Policy is a program that computes: it may read itself and, if it is
// linked dynamically, the system's libraries.
type Policy struct {
	// GPU lets it use the NVIDIA driver: the device nodes, the driver's libraries, what it reads in /proc and /sys, and
	// files in memory.
	GPU       bool
	ReadOnly  []string // further files, and folders with all that is in them; what does not exist is left out
	ReadWrite []string // folders in which it may make, change and delete files
	OpenFiles int      // at one time; 0: defaultOpenFiles
	// FileSize is how many bytes long a file may become that it writes, a file in memory as well. A Go program that goes
	// on writing gets the error EFBIG; others are ended by SIGXFSZ. 0: it cannot write to files, or with GPU
	// driverFileSize.
	FileSize uint64
	// Threads is how many it may have, where the system can count them for it alone (Report.Threads). 0: defaultThreads.
	Threads int
}

// Defaults, with room to spare: a Go program that uses the driver has some 30 threads and, for each GPU of the machine,
// some 50 open files.
const (
	defaultOpenFiles = 1024
	defaultThreads   = 512
	driverFileSize   = 64 << 20
)

// Environment are the variables by which the driver keeps to every policy: it compiles kernels for each process, and
// keeps none of that in a folder (CUDA C++ Programming Guide, "CUDA Environment Variables").
func Environment() []string { return []string{"CUDA_CACHE_DISABLE=1"} }

// Report says what this system offers.
type Report struct {
	Landlock   int  // the version of its interface; 0: none
	Seccomp    bool // system calls are filtered
	Namespaces bool // user, network, IPC and host name are the child's own
	Cgroup     bool // the kernel keeps the limit on memory, and ends whatever is left
	Threads    bool // the kernel keeps the limit on threads
	Parts      []part
}

// part is one of the sandbox's walls.
type part struct {
	Name    string // as in the kernel's manuals: "landlock", "seccomp", "namespaces", "cgroup", "rlimits"
	InForce bool
	Text    string // what it keeps out here, or why it is not there and what to do, in whole sentences
}

// Gaps are the things that strangers' code could do on this system because a wall is missing, as "it could …". They are
// empty if it is safe to run. Namespaces and cgroups are second walls, and no gap by themselves.
func (r Report) Gaps() []string {
	var gaps []string
	if r.Landlock == 0 {
		gaps = append(gaps, "read and write every file that you can, the other submissions and their grades among them")
	}
	if !r.Seccomp {
		gaps = append(gaps, "use the network, start processes that outlive it, and signal yours")
	}
	return gaps
}
