package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"cudalab/grader/machine/sandbox/forkexec"
)

// ownNamespaces are the child's own. The file system and process ids are not among them: Landlock and seccomp do their
// work, and the driver looks for its threads in /proc by the ids that they have there.
const ownNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

// nobody is who root is inside: its powers do not pass to the program then, not even within its own namespaces.
const nobody = 65534

// Confined is a child that was started in the sandbox.
type Confined struct {
	group *group // nil without cgroup
}

// Start starts cmd in the sandbox, in place of cmd.Start: cmd.Process is set, and cmd.Wait waits for its end. Its
// outputs have to be files. Its ExtraFiles become the descriptors 3 and so on; of its SysProcAttr, Setpgid counts. It
// dies with the thread that calls Start. Where a cgroup is in force its whole tree has at most memory bytes, if that is
// not 0. The caller calls Close after its end.
func (p *Policy) Start(cmd *exec.Cmd, memory uint64) (*Confined, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	r := Supported()
	c := &Confined{}
	var err error
	if r.Cgroup {
		if c.group, err = newGroup(memory, p.threads()); err != nil {
			return nil, err
		}
	}
	if err := p.start(cmd, r, c.group); err != nil {
		c.Close()
		return nil, err
	}
	// Where memory runs out all the same, it is the program that the kernel ends, not cudalab or a neighbour. Without
	// /proc that is not to be had, and no reason not to start.
	_ = os.WriteFile(inProc(cmd.Process.Pid, "oom_score_adj"), []byte("1000"), 0)
	return c, nil
}

func (p *Policy) start(cmd *exec.Cmd, r Report, g *group) error {
	program, err := filepath.Abs(cmd.Path)
	if err != nil {
		return err
	}
	files, null, err := descriptors(cmd)
	if err != nil {
		return err
	}
	defer null.Close()
	var confinement confinement
	defer confinement.close()
	calls := &forkexec.Calls{}
	if cmd.SysProcAttr != nil && cmd.SysProcAttr.Setpgid {
		calls.Add("making a process group", unix.SYS_SETPGID, 0, 0)
	}
	if cmd.Dir != "" {
		calls.Add("changing to the folder "+cmd.Dir, unix.SYS_CHDIR, calls.Text(cmd.Dir))
	}
	keepDescriptors(calls, len(files))
	if err := p.limit(calls, r); err != nil {
		return err
	}
	if err := confinement.restrict(calls, p, program, r); err != nil {
		return err
	}
	calls.Add("executing "+program, unix.SYS_EXECVE, calls.Text(program),
		calls.Texts(append([]string{program}, cmd.Args[1:]...)), calls.Texts(cmd.Environ()))
	options := forkexec.Options{Files: files, Prepare: confinement.prepare}
	if r.Namespaces {
		options.Namespaces = ownNamespaces
	}
	if g != nil {
		options.Cgroup = g.folder
	}
	pid, err := calls.Start(options)
	if err != nil {
		return err
	}
	cmd.Process, err = os.FindProcess(pid)
	return err
}

// descriptors are a command's files. The null device is among them, for its standard input, and is the caller's to
// close.
func descriptors(cmd *exec.Cmd) (files []*os.File, null *os.File, err error) {
	null, err = os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	files = []*os.File{null}
	for _, output := range []any{cmd.Stdout, cmd.Stderr} {
		f, ok := output.(*os.File)
		if !ok {
			null.Close()
			return nil, nil, fmt.Errorf("a confined program's outputs have to be files, but one is a %T", output)
		}
		files = append(files, f)
	}
	return append(files, cmd.ExtraFiles...), null, nil
}

// closeRange tells whether the kernel has close_range with the flag that is needed: Linux 5.11 has.
var closeRange = sync.OnceValue(func() bool {
	const none = ^uint32(0) // the number of a descriptor that nobody has
	return unix.CloseRange(uint(none), uint(none), unix.CLOSE_RANGE_CLOEXEC) == nil
})

// keepDescriptors leaves the program the first descriptors. cudalab may have got more from whoever started it.
func keepDescriptors(calls *forkexec.Calls, first int) {
	if closeRange() {
		calls.Add("closing inherited files", unix.SYS_CLOSE_RANGE, uintptr(first), uintptr(^uint32(0)),
			unix.CLOSE_RANGE_CLOEXEC)
		return
	}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd) // no program of cudalab's gets one by accident
		}
	}
}

// limit sets what the kernel counts by itself. The address space has no limit: Go's runtime reserves hundreds of
// megabytes and CUDA far more, of which nothing is used.
func (p *Policy) limit(calls *forkexec.Calls, r Report) error {
	fileSize := p.FileSize
	if p.GPU {
		fileSize = cmp.Or(fileSize, driverFileSize)
	}
	type limit struct {
		name     string
		resource int
		value    uint64
	}
	limits := []limit{
		{"core dumps", unix.RLIMIT_CORE, 0},
		{"message queues", unix.RLIMIT_MSGQUEUE, 0},
		{"the size of files", unix.RLIMIT_FSIZE, fileSize},
		{"open files", unix.RLIMIT_NOFILE, uint64(cmp.Or(p.OpenFiles, defaultOpenFiles))},
	}
	if r.Namespaces {
		limits = append(limits, limit{"threads", unix.RLIMIT_NPROC, uint64(p.threads())})
	}
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("the limit on %s: %w", l.name, err)
		}
		most := min(l.value, now.Max)
		calls.Add("limiting "+l.name, unix.SYS_PRLIMIT64, 0, uintptr(l.resource),
			forkexec.Pointer(calls, &unix.Rlimit{Cur: most, Max: most}))
	}
	return nil
}

// Kill ends every process in the child's cgroup, if it has one.
func (c *Confined) Kill() {
	if c.group != nil {
		c.group.kill()
	}
}

// Close releases what the sandbox took outside of the child, once that is dead. It tells whether the kernel ended a
// process for want of memory.
func (c *Confined) Close() (outOfMemory bool) {
	if c.group != nil {
		outOfMemory = c.group.outOfMemory()
		c.group.remove()
	}
	return outOfMemory
}

func inProc(pid int, file string) string { return "/proc/" + strconv.Itoa(pid) + "/" + file }
