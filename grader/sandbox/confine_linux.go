package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"cudalab/grader/sandbox/inside"
)

// self is this program, also when its file has been replaced or deleted meanwhile.
const self = "/proc/self/exe"

// answerTimeout bounds a helper's work, which takes a millisecond.
const answerTimeout = 30 * time.Second

// ownNamespaces are the child's own. The file system and process ids are not among them: Landlock and seccomp do their
// work, and the driver looks for its threads in /proc by the ids that they have there.
const ownNamespaces = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS

// nobody is who root is inside: its powers do not pass to the program then, not even within its own namespaces.
const nobody = 65534

// Confined is a child that starts in the sandbox.
type Confined struct {
	answer, answerEnd *os.File // the helper writes to answerEnd, and turning into the program closes it
	group             *group   // nil without cgroup
}

// Confine makes cmd, which has not been started, start in the sandbox. Its ExtraFiles stay the descriptors 3 and so
// on. Where a cgroup is in force its whole tree has at most memory bytes, if that is not 0. The caller calls Started
// once cmd was started, and Close after its end or where it was not started.
func (p *Policy) Confine(cmd *exec.Cmd, memory uint64) (*Confined, error) {
	r := Supported()
	program, err := filepath.Abs(cmd.Path)
	if err != nil {
		return nil, err
	}
	order := p.order(program, r)
	order.Args, order.Inherit = cmd.Args[1:], len(cmd.ExtraFiles)
	text, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	c := &Confined{}
	if c.answer, c.answerEnd, err = os.Pipe(); err != nil {
		return nil, err
	}
	cmd.Path, cmd.Args = self, []string{inside.Name, string(text)}
	cmd.ExtraFiles = append(cmd.ExtraFiles[:order.Inherit:order.Inherit], c.answerEnd)
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	if r.Namespaces {
		separate(cmd.SysProcAttr)
	}
	if r.Cgroup {
		if c.group, err = newGroup(memory, p.threads()); err != nil {
			c.Close()
			return nil, err
		}
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(c.group.folder.Fd())
	}
	return c, nil
}

// separate gives a process namespaces of its own, with nobody in them but the user.
func separate(a *syscall.SysProcAttr) {
	id := func(outside int) []syscall.SysProcIDMap {
		inside := outside
		if inside == 0 {
			inside = nobody
		}
		return []syscall.SysProcIDMap{{ContainerID: inside, HostID: outside, Size: 1}}
	}
	a.Cloneflags |= ownNamespaces
	a.UidMappings, a.GidMappings = id(os.Getuid()), id(os.Getgid())
}

// Started waits until the program runs, or says why it does not; then the child is about to end.
func (c *Confined) Started() error {
	c.answerEnd.Close()
	if err := c.answer.SetReadDeadline(time.Now().Add(answerTimeout)); err != nil {
		return err
	}
	a, err := readAnswer(c.answer)
	switch {
	case errors.Is(err, io.EOF):
		return nil // the helper has turned into the program, or has died of a signal, which its exit status tells
	case err != nil:
		return fmt.Errorf("the sandbox's helper does not answer: %w", err)
	}
	return errors.New(a.Failure)
}

func readAnswer(r io.Reader) (a inside.Answer, err error) {
	err = json.NewDecoder(r).Decode(&a)
	return a, err
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
	c.answer.Close()
	c.answerEnd.Close()
	if c.group != nil {
		outOfMemory = c.group.outOfMemory()
		c.group.remove()
	}
	return outOfMemory
}
