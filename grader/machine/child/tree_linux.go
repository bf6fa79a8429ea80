package child

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// tree follows a process and its descendants through /proc. Those in the child's process group can always be
// killed; one that left the group is found as long as its parent lives, and remembered once it was found. The kernel
// lists children only with CONFIG_PROC_CHILDREN, which the common distributions set; without it the limits count the
// child alone.
type tree struct {
	root    int
	members map[int]uint64 // processes found so far and still alive, with their start times, since ids are reused
	samples int
}

// usage is what a tree takes at one moment.
type usage struct {
	memory    uint64        // resident bytes
	cpu       time.Duration // of all members, and of children that they waited for
	processes int
}

func newTree(root int) *tree {
	t := &tree{root: root, members: map[int]uint64{}}
	if s, ok := readStat(root); ok {
		t.members[root] = s.start
	}
	return t
}

// member reads the state of a member; what is no longer the process that was found is dropped.
func (t *tree) member(pid int) (stat, bool) {
	s, ok := readStat(pid)
	if !ok || s.start != t.members[pid] {
		delete(t.members, pid)
		return s, false
	}
	return s, true
}

// sample measures the members, and looks for new ones every fifth time: that takes a read per thread.
func (t *tree) sample() usage {
	if t.samples%5 == 0 {
		t.explore()
	}
	t.samples++
	var u usage
	for pid := range t.members {
		if s, ok := t.member(pid); ok {
			u.memory += s.resident
			u.cpu += s.cpu
			u.processes++
		}
	}
	return u
}

// measured says whether sample measures CPU time.
const measured = true

// asleep reports whether every thread of every member waits for something that is no CPU and no disk.
func (t *tree) asleep() bool {
	for pid := range t.members {
		base := "/proc/" + strconv.Itoa(pid) + "/task/"
		threads, err := os.ReadDir(base)
		if err != nil {
			continue
		}
		for _, thread := range threads {
			if s, ok := readStatOf(base + thread.Name() + "/stat"); ok && s.state != 'S' {
				return false
			}
		}
	}
	return true
}

// explore adds the children of members, and theirs.
func (t *tree) explore() {
	var queue []int
	for pid := range t.members {
		if _, ok := t.member(pid); ok {
			queue = append(queue, pid)
		}
	}
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		for _, c := range children(pid) {
			if _, known := t.members[c]; known {
				continue
			}
			if s, ok := readStat(c); ok && s.parent == pid {
				t.members[c] = s.start
				queue = append(queue, c)
			}
		}
	}
}

// kill ends every member and the whole process group. It must be called before the child is reaped.
func (t *tree) kill() {
	t.explore()
	for pid := range t.members {
		if _, ok := t.member(pid); ok {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = syscall.Kill(-t.root, syscall.SIGKILL)
}

func children(pid int) []int {
	base := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(base)
	if err != nil {
		return nil
	}
	var pids []int
	for _, thread := range threads {
		list, err := os.ReadFile(base + thread.Name() + "/children")
		if err != nil {
			continue
		}
		for _, f := range bytes.Fields(list) {
			if c, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, c)
			}
		}
	}
	return pids
}

// readProc reads as much of a file as fits into a buffer; nothing where it cannot. Every child is looked at fifty times
// a second, and os.ReadFile would make three times as many system calls.
func readProc(path string, buffer []byte) []byte {
	file, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(file)
	n, err := syscall.Read(file, buffer)
	if err != nil {
		return nil
	}
	return buffer[:n]
}

type stat struct {
	parent   int
	start    uint64 // in clock ticks since the machine started
	cpu      time.Duration
	resident uint64 // bytes
	state    byte   // 'R' runs or is ready to, 'S' sleeps, 'D' waits for a disk
}

// clockTick is the unit of times in /proc, the same on every architecture that Go supports.
const clockTick = time.Second / 100

// readStat reads /proc/pid/stat, as in proc_pid_stat(5). A process that has ended is not ok, reaped or not.
func readStat(pid int) (s stat, ok bool) {
	return readStatOf("/proc/" + strconv.Itoa(pid) + "/stat")
}

// readStatOf reads such a file, which threads have as well.
func readStatOf(path string) (s stat, ok bool) {
	var buffer [1 << 10]byte // fifty-two numbers and a name
	line := readProc(path, buffer[:])
	if len(line) == 0 {
		return s, false
	}
	// The name, field 2, is in parentheses and may hold anything: what follows starts behind the last one.
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	const state, ppid, utime, cstime, starttime, rss = 3, 4, 14, 17, 22, 24 // numbers of fields in the manual
	const first = 3
	if len(fields) <= rss-first {
		return s, false
	}
	number := func(field int) uint64 {
		n, _ := strconv.ParseUint(string(fields[field-first]), 10, 64)
		return n
	}
	for field := utime; field <= cstime; field++ { // utime, stime, cutime, cstime
		s.cpu += time.Duration(number(field)) * clockTick
	}
	s.parent = int(number(ppid))
	s.start = number(starttime)
	s.resident = number(rss) * uint64(os.Getpagesize())
	s.state = fields[state-first][0]
	return s, s.state != 'Z' && s.state != 'X'
}
