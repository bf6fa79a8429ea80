package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// group is a cgroup (version 2) for one child, which is born in it.
type group struct{ folder *os.File }

var groups atomic.Int64 // made by this process so far

// removeTimeout bounds the wait for the last process of a group to be gone, which was killed before.
const removeTimeout = time.Second

// base is the folder in which this process may make cgroups that limit memory and threads.
var base = sync.OnceValues(func() (string, error) {
	own, err := ownGroup()
	if err != nil {
		return "", err
	}
	// A group that has processes of its own, as this process's has, cannot hand controllers down; the one above it can.
	for _, dir := range []string{own, filepath.Dir(own)} {
		handed, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		if err != nil {
			continue
		}
		controllers := strings.Fields(string(handed))
		if !slices.Contains(controllers, "memory") || !slices.Contains(controllers, "pids") {
			continue
		}
		g, err := newGroupIn(dir, 1<<30, defaultThreads)
		if err != nil {
			continue
		}
		g.remove()
		return dir, nil
	}
	return "", errors.New("cudalab may make no cgroups with the controllers memory and pids")
})

// ownGroup is the folder of the cgroup that this process is in.
func ownGroup() (string, error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	return locate(string(text), string(mounts))
}

// locate finds a process's cgroup of version 2 in the contents of its files cgroup and mountinfo in /proc.
func locate(groups, mounts string) (string, error) {
	for line := range strings.Lines(groups) {
		path, found := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !found {
			continue
		}
		for line := range strings.Lines(mounts) {
			mount, super, _ := strings.Cut(line, " - ")
			fields := strings.Fields(mount) // id, parent, device, root, mount point, …: proc_pid_mountinfo(5)
			if !strings.HasPrefix(super, "cgroup2 ") || len(fields) < 5 {
				continue
			}
			// A path with ".." is one outside of this process's cgroup namespace.
			below, under := strings.CutPrefix(path+"/", strings.TrimSuffix(fields[3], "/")+"/")
			if under && filepath.IsLocal("./"+below) {
				return filepath.Join(fields[4], below), nil
			}
		}
	}
	return "", errors.New("there is no cgroup of version 2 for this process")
}

func newGroup(memory uint64, threads int) (*group, error) {
	dir, err := base()
	if err != nil {
		return nil, err
	}
	return newGroupIn(dir, memory, threads)
}

// newGroupIn makes a cgroup; 0 bytes of memory are no limit.
func newGroupIn(dir string, memory uint64, threads int) (*group, error) {
	path := filepath.Join(dir, fmt.Sprintf("cudalab-%d-%d", os.Getpid(), groups.Add(1)))
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil, err
	}
	folder, err := os.Open(path)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	g := &group{folder}
	limits := []struct{ file, value string }{
		{"pids.max", strconv.Itoa(threads)}, // it counts threads
		{"memory.oom.group", "1"},           // all of the group's processes go, not one
	}
	if memory > 0 {
		limits = append(limits, []struct{ file, value string }{
			{"memory.max", strconv.FormatUint(memory, 10)},
			{"memory.swap.max", "0"},
		}...)
	}
	for _, l := range limits {
		err := os.WriteFile(g.file(l.file), []byte(l.value), 0)
		if err != nil && !(l.file == "memory.swap.max" && errors.Is(err, os.ErrNotExist)) { // a kernel without swap
			g.remove()
			return nil, err
		}
	}
	return g, nil
}

func (g *group) file(name string) string { return filepath.Join(g.folder.Name(), name) }

// kill ends all processes of the group (Linux 5.14 and newer).
func (g *group) kill() { _ = os.WriteFile(g.file("cgroup.kill"), []byte("1"), 0) }

// outOfMemory tells whether the kernel ended a process of the group for want of memory.
func (g *group) outOfMemory() bool {
	text, err := os.ReadFile(g.file("memory.events"))
	if err != nil {
		return false
	}
	for line := range bytes.Lines(text) {
		if kills, found := bytes.CutPrefix(line, []byte("oom_kill ")); found {
			return string(bytes.TrimSpace(kills)) != "0"
		}
	}
	return false
}

// remove ends what is left in the group and takes it away. A group that the kernel does not let go of in time stays
// behind, empty.
func (g *group) remove() {
	g.kill()
	for deadline := time.Now().Add(removeTimeout); os.Remove(g.folder.Name()) != nil && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	g.folder.Close()
}
