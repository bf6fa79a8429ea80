package rights

import (
	"encoding/binary"
	"maps"
	"runtime"
	"slices"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const testPID = 4711

// verdict is what the filter says of a call. The virtual machine of x/net/bpf reads words as they come over a network,
// so they are written that way.
func verdict(t *testing.T, driver bool, architecture, number uint32, args ...uint64) uint32 {
	t.Helper()
	assembled, err := assemble("", driver)
	require.NoError(t, err)
	f := &Filter{assembled}
	f.For(testPID)
	var list []bpf.Instruction
	for _, i := range f.list {
		list = append(list, bpf.RawInstruction{Op: i.Code, Jt: i.Jt, Jf: i.Jf, K: i.K}.Disassemble())
	}
	vm, err := bpf.NewVM(list)
	require.NoError(t, err)
	call := make([]byte, 64) // struct seccomp_data: number, architecture, instruction pointer, six arguments
	binary.BigEndian.PutUint32(call[0:], number)
	binary.BigEndian.PutUint32(call[4:], architecture)
	for i, a := range args {
		binary.BigEndian.PutUint32(call[16+8*i:], uint32(a))
		binary.BigEndian.PutUint32(call[20+8*i:], uint32(a>>32))
	}
	action, err := vm.Run(call)
	require.NoError(t, err)
	return uint32(action)
}

func TestFilter(t *testing.T) {
	const (
		allow   = unix.SECCOMP_RET_ALLOW
		eperm   = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		enosys  = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
		kill    = unix.SECCOMP_RET_KILL_PROCESS
		threads = unix.CLONE_VM | unix.CLONE_THREAD
	)
	machine, err := arch.GetInfo("")
	require.NoError(t, err)
	const none = 1<<32 - 1 // a call that this machine has not
	number := func(name string) uint32 {
		if n, known := machine.SyscallNames[name]; known {
			return uint32(n)
		}
		require.NotEqual(t, "amd64", runtime.GOARCH, name)
		return none
	}
	here, other := uint32(machine.ID), uint32(unix.AUDIT_ARCH_I386)
	for _, c := range []struct {
		what         string
		architecture uint32
		number       uint32
		args         []uint64
		want         uint32
	}{
		{"read", here, number("read"), nil, allow},
		{"execve, which starts the program", here, number("execve"), nil, allow},
		{"socket", here, number("socket"), nil, eperm},
		{"a socket by another machine's convention", other, 359, nil, kill},
		{"a socket by x86-64's x32 convention", here, 0x40000000 | number("socket"), nil, enosys},
		{"a call younger than the list", here, 600, nil, enosys},
		{"clone of a thread", here, number("clone"), []uint64{threads}, allow},
		{"clone of a process", here, number("clone"), []uint64{uint64(unix.SIGCHLD)}, eperm},
		{"clone3", here, number("clone3"), nil, enosys},
		{"fork", here, number("fork"), nil, eperm},
		{"a signal to itself", here, number("kill"), []uint64{testPID}, allow},
		{"a signal to its own thread", here, number("tgkill"), []uint64{testPID, testPID + 1}, allow},
		{"a signal to another", here, number("kill"), []uint64{1}, eperm},
		{"a signal to its group", here, number("kill"), []uint64{0}, eperm},
		{"a signal to everybody", here, number("kill"), []uint64{1<<64 - 1}, eperm},
		{"its own limits", here, number("prlimit64"), []uint64{0}, allow},
		{"another's limits", here, number("prlimit64"), []uint64{1}, eperm},
		{"its own priority", here, number("setpriority"), []uint64{unix.PRIO_PROCESS, 0}, allow},
		{"another's priority", here, number("setpriority"), []uint64{unix.PRIO_PROCESS, 1}, eperm},
		{"the user's priority", here, number("setpriority"), []uint64{unix.PRIO_USER, 0}, eperm},
	} {
		if c.number == none {
			continue
		}
		require.Equal(t, c.want, verdict(t, false, c.architecture, c.number, c.args...), c.what)
	}
	require.Equal(t, eperm, verdict(t, false, here, number("memfd_create")))
	require.EqualValues(t, allow, verdict(t, true, here, number("memfd_create")))
}

// A misspelt name would be left out as one that the architecture lacks.
func TestEveryRefusedCallExistsSomewhere(t *testing.T) {
	known := slices.Collect(maps.Keys(arch.X86_64.SyscallNames))
	known = slices.AppendSeq(known, maps.Keys(arch.I386.SyscallNames))
	for i, name := range refused {
		require.True(t, slices.Contains(known, name), name)
		require.NotContains(t, refused[:i], name, "named twice")
	}
}
