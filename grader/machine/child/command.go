// Package child runs one process under limits and leaves nothing of it behind: when Wait returns, the process and
// what it started are gone, reaped, and their pipes closed.
//
// A child sees no terminal and no files of cudalab's: standard input is the null device, standard output and error
// are pipes of which a bounded part is kept, and only Command.ExtraFiles are inherited besides. On Linux a child also
// dies with cudalab, however cudalab ends, and can be confined by package sandbox.
//
// Limits on memory, CPU time and processes are kept by looking every 20 ms, on Linux only. Elsewhere they are not
// enforced; the limits on wall time and output are, everywhere.
package child

import (
	"os"
	"time"

	"cudalab/grader/machine/sandbox"
)

// Command says what to run.
type Command struct {
	Path string   // the program
	Args []string // its arguments, without the program's own name
	Dir  string   // its working directory; empty: cudalab's
	Env  []string // its whole environment, "KEY=value"; nil: cudalab's
	// ExtraFiles become the child's file descriptors 3, 4 and so on. They remain the caller's, to close after Start.
	// Package inherit is the child's side of it, also where there are no such descriptors.
	ExtraFiles []*os.File
	Limits     Limits
	Sandbox    *sandbox.Policy // nil: the child may do what cudalab may
	// Grace is how long a child that has to stop may take over its last words. With a grace it is sent SIGQUIT first,
	// upon which a Go program prints the stacks of all its goroutines. Without one, and on Windows, it is killed at
	// once.
	Grace time.Duration
}

// Limits bound what a child may take. A zero field is no limit, but for Output.
type Limits struct {
	Wall      time.Duration // from Start on
	CPU       time.Duration // user and system time of the whole tree
	Memory    uint64        // resident bytes of the whole tree
	Processes int           // in the tree at one time, the child included
	FileSize  uint64        // bytes of a file that it writes; on Linux alone
	Output    int           // bytes kept of standard output, and as many of standard error; 0: DefaultOutput
}

// DefaultOutput is room for 64 KiB from the start of an output and 64 KiB from its end.
const DefaultOutput = 128 << 10

// Reason is why a child is no longer running. A caller of Quit may give one of its own.
type Reason string

// The reasons that this package gives by itself.
const (
	Exited    Reason = "exited"    // by itself; ExitCode tells how
	Signalled Reason = "signalled" // by a signal that was not ours
	WallTime  Reason = "wall time" // beyond Limits.Wall
	CPUTime   Reason = "cpu time"  // beyond Limits.CPU
	Memory    Reason = "memory"    // beyond Limits.Memory
	Processes Reason = "processes" // beyond Limits.Processes
	Cancelled Reason = "cancelled" // the context of Start was done
)

// Result is how a child ended.
type Result struct {
	Reason   Reason
	ExitCode int       // -1 where a signal ended it
	Signal   os.Signal // the signal that ended it, whoever sent it, or nil
	// Stdout and Stderr hold what was kept of the outputs. Where an output was longer than its limit, a line between its
	// start and its end says how many bytes are missing, and Truncated is set.
	Stdout, Stderr []byte
	Truncated      bool
	Peak           uint64        // resident bytes of the whole tree, the most that was seen; 0 where it cannot be seen
	CPU            time.Duration // user and system time of the child and of the children it waited for
	Duration       time.Duration // from Start to the end
}

// Stopped reports whether the child was ended from outside: by a limit, by the context or by Quit.
func (r Result) Stopped() bool { return r.Reason != Exited && r.Reason != Signalled }
