package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"cudalab/grader/machine/sandbox/forkexec"
	"cudalab/grader/machine/sandbox/rights"
)

// confinement takes rights from one child.
type confinement struct {
	namespaces bool
	driver     bool
	ruleset    *rights.Ruleset // nil without Landlock
	filter     *rights.Filter  // nil without seccomp
}

// restrict has the child take the rights from itself that the policy does not leave it.
func (c *confinement) restrict(calls *forkexec.Calls, p *Policy, program string, r Report) error {
	c.namespaces, c.driver = r.Namespaces, p.GPU
	allowNoPrivileges(calls)
	if r.Landlock > 0 {
		if err := c.landlock(calls, p.files(program)); err != nil {
			return err
		}
	}
	dropCapabilities(calls)
	if r.Seccomp {
		return c.seccomp(calls)
	}
	return nil
}

// allowNoPrivileges keeps a process from what executing a program would give it. Landlock and seccomp ask for that.
func allowNoPrivileges(calls *forkexec.Calls) {
	calls.Add("giving up privileges", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1)
}

func (c *confinement) landlock(calls *forkexec.Calls, files rights.Files) (err error) {
	if c.ruleset, err = rights.NewRuleset(files); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	calls.Add("landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(c.ruleset.FD), 0)
	return nil
}

// dropCapabilities gives up root's powers where cudalab has them. Executing a program would give them back to user 0
// but for no_new_privs: under it a process gets none that it has not (cap_bprm_creds_from_file in the kernel).
func dropCapabilities(calls *forkexec.Calls) {
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	calls.Add("dropping capabilities", unix.SYS_CAPSET, forkexec.Pointer(calls, header),
		forkexec.Pointer(calls, new([2]unix.CapUserData)))
}

func (c *confinement) seccomp(calls *forkexec.Calls) (err error) {
	if c.filter, err = rights.NewFilter(c.driver); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	calls.Add("seccomp", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, forkexec.Pointer(calls, c.filter.Program()))
	return nil
}

// prepare does what takes the child's id.
func (c *confinement) prepare(pid int) error {
	if c.namespaces {
		if err := mapUser(pid); err != nil {
			return err
		}
	}
	if c.ruleset != nil && c.driver {
		if err := c.ruleset.AllowDriver(pid); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
	}
	if c.filter != nil {
		c.filter.For(pid)
	}
	return nil
}

// mapUser makes the user the only one in a process's user namespace.
func mapUser(pid int) error {
	id := func(outside int) []byte {
		inside := outside
		if inside == 0 {
			inside = nobody
		}
		return fmt.Appendf(nil, "%d %d 1\n", inside, outside)
	}
	for _, f := range []struct {
		name string
		text []byte
	}{{"uid_map", id(os.Getuid())}, {"setgroups", []byte("deny")}, {"gid_map", id(os.Getgid())}} {
		if err := os.WriteFile(inProc(pid, f.name), f.text, 0); err != nil {
			return err
		}
	}
	return nil
}

func (c *confinement) close() {
	if c.ruleset != nil {
		c.ruleset.Close()
	}
}
