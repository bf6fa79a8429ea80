package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"cudalab/grader/machine/sandbox/forkexec"
	"cudalab/grader/machine/sandbox/rights"
)

// Supported tells what of the sandbox is in force here. It finds out by trying, once, which takes some milliseconds.
var Supported = sync.OnceValue(supported)

func supported() Report {
	var r Report
	refusal := try(true, func(*confinement, *forkexec.Calls) error { return nil })
	r.Namespaces = refusal == nil
	landlock := try(r.Namespaces, func(c *confinement, calls *forkexec.Calls) error {
		return c.landlock(calls, rights.Files{})
	})
	seccomp := try(r.Namespaces, (*confinement).seccomp)

	if landlock == nil {
		r.Landlock, _ = ll.LandlockGetABIVersion() // it has just been used
		r.add("landlock", true, fmt.Sprintf("Version %d. Strangers' code opens no file but its own%s.", r.Landlock,
			scope(r.Landlock)))
	} else {
		r.add("landlock", false, fmt.Sprintf("Strangers' code could open every file that you can: %v. %s", landlock,
			landlockAdvice()))
	}
	if r.Seccomp = seccomp == nil; r.Seccomp {
		r.add("seccomp", true, "No sockets, no further processes, no signals to others, and none of the kernel's rarer "+
			"calls.")
	} else {
		r.add("seccomp", false, fmt.Sprintf("Strangers' code could use the network and start processes: %v. It takes a "+
			"kernel with CONFIG_SECCOMP_FILTER, as every common distribution has, on x86-64 or 64-bit ARM.", seccomp))
	}
	if r.Namespaces {
		r.add("namespaces", true, "User, network, IPC and host name are the runner's own.")
	} else {
		r.add("namespaces", false, fmt.Sprintf("The runner shares the machine's network stack, which seccomp keeps it from: "+
			"%v. %s",
			refusal, namespaceAdvice()))
	}
	if _, err := base(); err == nil {
		r.Cgroup = true
		r.add("cgroup", true, "The kernel keeps the limits on memory and threads.")
	} else {
		r.add("cgroup", false, fmt.Sprintf("Memory is looked at every 20 ms instead of being limited by the kernel: %v. %s",
			err, cgroupAdvice))
	}
	r.rlimits()
	return r
}

func (r *Report) add(name string, inForce bool, text string) {
	r.Parts = append(r.Parts, part{Name: name, InForce: inForce, Text: text})
}

// rlimits are always there, but for the one on threads. RLIMIT_NPROC counts a user's threads in one user namespace and
// those below it: in the child's own it counts the child's. Root it does not bind.
func (r *Report) rlimits() {
	counted := r.Namespaces && os.Getuid() != 0
	r.Threads = counted || r.Cgroup
	text := "Open files, the size of files, and threads."
	switch {
	case r.Threads && !counted:
		text = "Open files and the size of files."
	case !r.Threads && os.Getuid() == 0:
		text = "Open files and the size of files, but not threads, because they do not bind root. Run cudalab as " +
			"another user."
	case !r.Threads:
		text = "Open files and the size of files, but not threads, which are counted for you as a whole without a user " +
			"namespace."
	}
	r.add("rlimits", true, text)
}

// try has a process take rights from itself and end, in namespaces of its own or not.
func try(namespaces bool, restrict func(*confinement, *forkexec.Calls) error) error {
	c := &confinement{namespaces: namespaces}
	defer c.close()
	calls := &forkexec.Calls{}
	allowNoPrivileges(calls)
	if err := restrict(c, calls); err != nil {
		return err
	}
	calls.Add("ending", unix.SYS_EXIT_GROUP, 0)
	options := forkexec.Options{Prepare: c.prepare}
	if namespaces {
		options.Namespaces = ownNamespaces
	}
	pid, err := calls.Start(options)
	if err != nil {
		return err
	}
	_, err = syscall.Wait4(pid, nil, 0, nil)
	return err
}

// scope is what Landlock does besides files from some version on.
func scope(version int) string {
	if version < 6 {
		return ""
	}
	return ", reaches no abstract Unix socket and signals nobody"
}

func landlockAdvice() string {
	if inContainer() {
		return "It takes Linux 5.13 or newer outside of the container, and a container runtime that lets its calls " +
			"through, as `docker run --security-opt seccomp=unconfined` does."
	}
	return "It takes Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK, and landlock in the list that the kernel's " +
		"parameter lsm= gives; /sys/kernel/security/lsm shows the list."
}

// namespaceAdvice names the switch that is off, as far as one can tell.
func namespaceAdvice() string {
	switch {
	case setting("kernel/unprivileged_userns_clone") == "0":
		return "An administrator allows namespaces with `sysctl kernel.unprivileged_userns_clone=1`."
	case setting("user/max_user_namespaces") == "0":
		return "An administrator allows namespaces with `sysctl user.max_user_namespaces=10000`."
	case inContainer():
		return "`docker run --security-opt seccomp=unconfined` allows namespaces within the container."
	case setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return "An administrator allows namespaces with `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, or for " +
			"cudalab alone with an AppArmor profile that says userns."
	}
	return "It takes a kernel with CONFIG_USER_NS and CONFIG_NET_NS."
}

const cgroupAdvice = "`systemd-run --user --scope cudalab …` starts cudalab where it may make cgroups, if the " +
	"system runs systemd and cgroup version 2."

// setting is one of the kernel's, empty if this kernel has no such setting.
func setting(name string) string {
	text, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(text))
}

// inContainer goes by the marks that Docker and Podman leave, and by what others call the first process's cgroup.
func inContainer() bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			return true
		}
	}
	groups, err := os.ReadFile("/proc/1/cgroup")
	return err == nil && (strings.Contains(string(groups), "docker") || strings.Contains(string(groups), "kubepods"))
}
