package inside

import (
	"errors"
	"os"

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

// restrictFiles leaves the process the files of its order. Besides files, Landlock cuts it off from whatever else the
// kernel's version of it knows: from version 4 on TCP, from 6 on abstract Unix sockets and signals to other processes.
// At every version it keeps it from tracing processes outside.
func restrictFiles(o Order) error {
	version, err := ll.LandlockGetABIVersion()
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return errors.New("it was not switched on when this kernel started")
	case errors.Is(err, unix.ENOSYS):
		return errors.New("this kernel has none")
	case err != nil:
		return err
	case version < 1:
		return errors.New("this kernel has none")
	}
	return enforce(o, handled(version))
}

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

// enforce denies this thread all that is handled but what the order allows. The thread is the one that turns into the
// program. Package landlock would do it to every thread, which Go cannot in a program that calls C, as purego's do.
func enforce(o Order, all ll.RulesetAttr) error {
	rules, err := ll.LandlockCreateRuleset(&all, 0)
	if err != nil {
		return os.NewSyscallError("landlock_create_ruleset", err)
	}
	defer unix.Close(rules)
	allow := func(paths []string, file, folder uint64) {
		for _, path := range paths {
			if err == nil {
				err = addRule(rules, path, file&all.HandledAccessFS, folder&all.HandledAccessFS)
			}
		}
	}
	allow(o.Write, toRead|toWrite, toList|toArrange)
	allow(o.Execute, toRead|toExecute, 0)
	allow(o.Read, toRead, toList)
	allow(o.Devices, toRead|toWrite|toControl, toList)
	if o.Driver {
		// The rule is on this very process's folder, and stays true for the program because nothing forks in between.
		allow([]string{"/proc/self"}, toRead, toList)
		allow([]string{"/proc/self/task"}, toRead|toWrite, toList)
	}
	if err == nil {
		err = os.NewSyscallError("prctl", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	}
	if err == nil {
		err = os.NewSyscallError("landlock_restrict_self", ll.LandlockRestrictSelf(rules, 0))
	}
	return err
}

// addRule allows what may be done with a file, or with a folder and the files below it. What is not there, or out of reach,
// needs no rule.
func addRule(rules int, path string, file, folder uint64) error {
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
	if err := ll.LandlockAddPathBeneathRule(rules, &ll.PathBeneathAttr{ParentFd: fd, AllowedAccess: file}, 0); err != nil {
		return &os.PathError{Op: "landlock_add_rule", Path: path, Err: err}
	}
	return nil
}
