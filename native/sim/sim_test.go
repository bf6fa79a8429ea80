package sim

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

const (
	mib  = 1 << 20
	long = int64(100 * time.Millisecond) // of the kernel that calls are tried behind
)

func noAccess(_ *device.Launch, buf []device.Access) []device.Access { return buf }

// delayKernel does nothing for Args[0] nanoseconds.
var delayKernel = device.NewKernel(device.Spec{
	Entry: "delay", PTX: "//", Params: 1,
	Exec:     func(*device.Launch, device.Memory) {},
	Accesses: noAccess,
	Work:     func(l *device.Launch) device.Work { return device.Work{Threads: l.Threads(), Nanos: l.Args[0]} },
})

// addKernel adds Args[2] to each of the Args[1] uint64 at Args[0].
var addKernel = device.NewKernel(device.Spec{
	Entry: "add", PTX: "//", Params: 3,
	Exec: func(l *device.Launch, m device.Memory) {
		p, n := device.Ptr(l.Args[0]), 8*l.Args[1]
		for n > 0 {
			b := m.View(p, n)
			if b == nil {
				return
			}
			for i := 0; i+8 <= len(b); i += 8 {
				binary.LittleEndian.PutUint64(b[i:], binary.LittleEndian.Uint64(b[i:])+l.Args[2])
			}
			p += device.Ptr(len(b))
			n -= uint64(len(b))
		}
	},
	Accesses: noAccess,
	Work:     func(l *device.Launch) device.Work { return device.Work{Threads: l.Threads(), Bytes: 16 * l.Args[1]} },
})

// stepsKernel has Args[0] dependent steps and moves Args[1] bytes.
var stepsKernel = device.NewKernel(device.Spec{
	Entry: "steps", PTX: "//", Params: 2,
	Exec:     func(*device.Launch, device.Memory) {},
	Accesses: noAccess,
	Work: func(l *device.Launch) device.Work {
		return device.Work{Threads: l.Threads(), Steps: l.Args[0], Bytes: l.Args[1]}
	},
})

func launch(t testing.TB, d *Device, k *device.Kernel, s device.Stream, grid, block uint32, args ...uint64) {
	t.Helper()
	l := device.Launch{Kernel: k, Grid: device.Dim{X: grid}, Block: device.Dim{X: block}, Stream: s}
	copy(l.Args[:], args)
	require.Equal(t, device.Success, d.LaunchKernel(&l))
}

func delay(t testing.TB, d *Device, s device.Stream, nanos int64) {
	t.Helper()
	launch(t, d, delayKernel, s, 1, 1, uint64(nanos))
}

func add(t testing.TB, d *Device, s device.Stream, p device.Ptr, n int, value uint64) {
	t.Helper()
	launch(t, d, addKernel, s, 1, 32, uint64(p), uint64(n), value)
}

// must is for calls that answer a value beside the code.
func must[T any](t testing.TB) func(T, device.Code) T {
	return func(v T, c device.Code) T {
		t.Helper()
		require.Equal(t, device.Success, c)
		return v
	}
}

func newStream(t testing.TB, d *Device) device.Stream {
	t.Helper()
	return must[device.Stream](t)(d.StreamCreate(device.StreamNonBlocking))
}

func blockingStream(t testing.TB, d *Device) device.Stream {
	t.Helper()
	return must[device.Stream](t)(d.StreamCreate(0))
}

func newEvent(t testing.TB, d *Device) device.Event {
	t.Helper()
	return must[device.Event](t)(d.EventCreate(0))
}

func malloc(t testing.TB, d *Device, size uint64) device.Ptr {
	t.Helper()
	return must[device.Ptr](t)(d.MemAlloc(size))
}

func mallocAsync(t testing.TB, d *Device, size uint64, s device.Stream) device.Ptr {
	t.Helper()
	return must[device.Ptr](t)(d.MemAllocAsync(size, s))
}

func ok(t testing.TB, c device.Code) {
	t.Helper()
	require.Equal(t, device.Success, c)
}

// read copies n bytes out on a stream of its own, so that nothing orders it behind anything.
func read(t testing.TB, d *Device, p device.Ptr, n int) []byte {
	t.Helper()
	s := newStream(t, d)
	b := make([]byte, n)
	ok(t, d.MemcpyDtoHAsync(b, p, s))
	ok(t, d.StreamDestroy(s))
	return b
}

func filled(n int, value byte) []byte {
	b := make([]byte, n)
	fill(b, value)
	return b
}

func poolAttr(t testing.TB, d *Device, a device.PoolAttr) uint64 {
	t.Helper()
	pool := must[device.Pool](t)(d.DeviceGetDefaultMemPool())
	return must[uint64](t)(d.MemPoolGetAttribute(pool, a))
}

func setPool(t testing.TB, d *Device, a device.PoolAttr, value uint64) {
	t.Helper()
	pool := must[device.Pool](t)(d.DeviceGetDefaultMemPool())
	ok(t, d.MemPoolSetAttribute(pool, a, value))
}

func TestInfo(t *testing.T) {
	info := New(Options{}).Info()
	require.Equal(t, device.Sim, info.Kind)
	require.Equal(t, "simulated NVIDIA H200", info.Name)
	require.Equal(t, 132, info.Multiprocessors)
	require.Equal(t, [2]int{9, 0}, info.ComputeCapability)
	require.Equal(t, 1024, info.MaxThreads)
	require.True(t, info.MemoryPools)
	require.EqualValues(t, 64*mib, New(Options{Memory: 64 * mib}).Info().TotalMemory)
}

// Every call moves the clock, so that a loop that only polls comes to an end.
func TestPollingEnds(t *testing.T) {
	d := New(Options{})
	s := newStream(t, d)
	delay(t, d, s, long)
	polls := 0
	for ; d.StreamQuery(s) == device.ErrorNotReady; polls++ {
	}
	require.Greater(t, polls, 100_000)
	require.GreaterOrEqual(t, d.Now(), long)
	before := d.Now()
	require.Equal(t, before, d.Now(), "reading the clock does not move it")
}
