// Package rights says what a confined process may do, in the kernel's terms: the files it reaches are a Landlock
// ruleset, the system calls that it may make a seccomp filter. A process that has put both in force has them for good,
// and so has the program that it executes.
package rights

import (
	"errors"
	"os"
	"strconv"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// The rights that rules are made of. Those on folders cannot be given on files.
const (
	toRead    = ll.AccessFSReadFile
	toList    = ll.AccessFSReadDir
	toExecute = ll.AccessFSExecute
	toWrite   = ll.AccessFSWriteFile | ll.AccessFSTruncate
	toControl = ll.AccessFSIoctlDev
	toArrange = ll.AccessFSMakeReg | ll.AccessFSMakeDir | ll.AccessFSRemoveFile | ll.AccessFSRemoveDir | ll.AccessFSRefer
)

// Files are what a process may reach. What is not there, or out of the reach of whoever makes the ruleset, needs no
// rule.
type Files struct {
	Execute []string // files it may execute
	Read    []string // files it may read, and folders with all that is in them
	Write   []string // folders in which it may do as it likes
	Devices []string // device nodes, and folders of them, to read, write and control
}

// Ruleset is a Landlock ruleset that is not in force yet. Besides files, it cuts a process off from whatever else the
// kernel's version of Landlock knows: from version 4 on TCP, from 6 on abstract Unix sockets and signals to other
// processes. At every version it keeps it from tracing processes outside.
type Ruleset struct {
	FD      int // for landlock_restrict_self
	handled ll.RulesetAttr
}

// NewRuleset makes a ruleset, to be closed by the caller.
func NewRuleset(files Files) (*Ruleset, error) {
	version, err := ll.LandlockGetABIVersion()
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return nil, errors.New("it was not switched on when this kernel started")
	case errors.Is(err, unix.ENOSYS), err == nil && version < 1:
		return nil, errors.New("this kernel has none")
	case err != nil:
		return nil, err
	}
	r := &Ruleset{handled: handled(version)}
	if r.FD, err = ll.LandlockCreateRuleset(&r.handled, 0); err != nil {
		return nil, os.NewSyscallError("landlock_create_ruleset", err)
	}
	err = errors.Join(
		r.allow(files.Write, toRead|toWrite, toList|toArrange),
		r.allow(files.Execute, toRead|toExecute, 0),
		r.allow(files.Read, toRead, toList),
		r.allow(files.Devices, toRead|toWrite|toControl, toList))
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// AllowDriver allows what libcuda needs of the process pid itself: to write to its folder task in /proc. cuInit names
// its threads there, and answers OPERATING_SYSTEM (304) if it cannot.
func (r *Ruleset) AllowDriver(pid int) error {
	own := "/proc/" + strconv.Itoa(pid)
	return errors.Join(r.allow([]string{own}, toRead, toList), r.allow([]string{own + "/task"}, toRead|toWrite, toList))
}

// Close gives the descriptor back. A process that has put the ruleset in force keeps to it.
func (r *Ruleset) Close() { unix.Close(r.FD) }

// handled is all that a version of Landlock can deny (the kernel's Documentation/userspace-api/landlock.rst).
func handled(version int) ll.RulesetAttr {
	a := ll.RulesetAttr{HandledAccessFS: 1<<13 - 1}
	if version >= 2 {
		a.HandledAccessFS |= ll.AccessFSRefer
	}
	if version >= 3 {
		a.HandledAccessFS |= ll.AccessFSTruncate
	}
	if version >= 4 {
		a.HandledAccessNet |= ll.AccessNetBindTCP | ll.AccessNetConnectTCP
	}
	if version >= 5 {
		a.HandledAccessFS |= ll.AccessFSIoctlDev
	}
	if version >= 6 {
		a.Scoped |= ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	if version >= 9 {
		a.HandledAccessFS |= ll.AccessFSResolveUnix
	}
	if version >= 10 {
		a.HandledAccessNet |= ll.AccessNetBindUDP | ll.AccessNetConnectSendUDP
	}
	return a
}

// allow adds a rule for each path.
func (r *Ruleset) allow(paths []string, file, folder uint64) error {
	for _, path := range paths {
		if err := r.add(path, file&r.handled.HandledAccessFS, folder&r.handled.HandledAccessFS); err != nil {
			return err
		}
	}
	return nil
}

// add allows what may be done with a file, or with a folder and the files below it.
func (r *Ruleset) add(path string, file, folder uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return &os.PathError{Op: "fstat", Path: path, Err: err}
	}
	if info.Mode&unix.S_IFMT == unix.S_IFDIR {
		file |= folder
	}
	if err := ll.LandlockAddPathBeneathRule(r.FD, &ll.PathBeneathAttr{ParentFd: fd, AllowedAccess: file}, 0); err != nil {
		return &os.PathError{Op: "landlock_add_rule", Path: path, Err: err}
	}
	return nil
}
