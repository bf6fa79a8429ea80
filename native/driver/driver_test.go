package driver

import (
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

func TestDriverInfo(t *testing.T) {
	d := gpu(t)
	info := d.Info()
	t.Logf("%+v", info)
	require.Equal(t, device.GPU, info.Kind)
	require.NotEmpty(t, info.Name)
	require.Regexp(t, `^\d+\.\d$`, info.Driver)
	require.GreaterOrEqual(t, info.Multiprocessors, 1)
	require.GreaterOrEqual(t, info.ComputeCapability[0], 5)
	require.GreaterOrEqual(t, info.MaxThreads, 512)
	require.GreaterOrEqual(t, info.ThreadsPerMultiprocessor, info.MaxThreads)
	require.GreaterOrEqual(t, info.BlocksPerMultiprocessor, 1)
	free, total, code := d.MemGetInfo()
	ok(t, code)
	require.InEpsilon(t, info.TotalMemory, total, 0.05)
	require.Positive(t, free)
	require.LessOrEqual(t, free, total)
	before := d.Now()
	require.GreaterOrEqual(t, d.Now(), before)
}

func TestDriverCopies(t *testing.T) {
	d := gpu(t)
	s := newStream(t, d)
	const n = 1 << 16
	a, code := d.MemAlloc(n)
	ok(t, code)
	b, code := d.MemAllocAsync(n, s)
	ok(t, code)
	ok(t, d.StreamSynchronize(s))
	host, code := d.MemAllocHost(2 * n)
	ok(t, code)

	pattern := make([]byte, n)
	for i := range pattern {
		pattern[i] = byte(i*7 + i>>8)
	}
	back := make([]byte, n)
	ok(t, d.MemcpyHtoD(a, pattern))
	ok(t, d.MemcpyDtoD(b, a, n))
	ok(t, d.CtxSynchronize())
	ok(t, d.MemcpyDtoH(back, b))
	require.Equal(t, pattern, back)

	ok(t, d.MemsetD8(a, 0x11, n))
	ok(t, d.MemsetD8Async(b, 0xAB, n/2, s))
	ok(t, d.CtxSynchronize())
	ok(t, d.MemcpyDtoHAsync(back, b, s))
	require.Equal(t, byte(0xAB), back[n/2-1])
	require.Equal(t, pattern[n/2:], back[n/2:])

	ok(t, d.MemcpyHtoDAsync(b, pattern, s))
	ok(t, d.MemcpyDtoDAsync(a, b, n, s))
	ok(t, d.MemcpyDToHostAsync(host, n, a, n, s))
	ok(t, d.StreamSynchronize(s))
	d.HostRead(host, n, back)
	require.Equal(t, pattern, back)

	d.HostWrite(host, 5, []byte("pinned"))
	ok(t, d.MemcpyHostToD(a, host, 5, 6))
	ok(t, d.MemcpyHostToDAsync(a+6, host, 5, 6, s))
	ok(t, d.StreamSynchronize(s))
	ok(t, d.MemcpyDToHost(host, 100, a, 12))
	d.HostRead(host, 100, back[:12])
	require.Equal(t, "pinnedpinned", string(back[:12]))

	ok(t, d.MemcpyHtoD(a, nil))
	ok(t, d.MemcpyDtoHAsync([]byte{}, a, s))
	require.Equal(t, device.ErrorInvalidValue, d.MemcpyDtoD(a+n-1, b, 2))

	ok(t, d.MemFreeHost(host))
	ok(t, d.MemFreeAsync(b, s))
	ok(t, d.StreamSynchronize(s))
	ok(t, d.MemFree(a))
	p, code := d.MemAlloc(0)
	require.Equal(t, device.ErrorInvalidValue, code)
	require.Zero(t, p)
}

func TestDriverStreamsAndEvents(t *testing.T) {
	d := gpu(t)
	s, other := newStream(t, d), newStream(t, d)
	start, end := newEvent(t, d), newEvent(t, d)
	ok(t, d.LoadKernel(spin))
	ok(t, d.EventRecord(start, s))
	ok(t, d.LaunchKernel(delay(s, 100)))
	ok(t, d.EventRecord(end, s))
	ok(t, d.StreamWaitEvent(other, end))
	require.Equal(t, device.ErrorNotReady, d.StreamQuery(s))
	require.Equal(t, device.ErrorNotReady, d.EventQuery(end))
	require.Equal(t, device.ErrorNotReady, d.StreamQuery(other))
	_, code := d.EventElapsedTime(start, end)
	require.Equal(t, device.ErrorNotReady, code)

	ok(t, d.StreamSynchronize(other))
	ok(t, d.EventQuery(end))
	ok(t, d.EventSynchronize(end))
	ok(t, d.StreamQuery(s))
	elapsed, code := d.EventElapsedTime(start, end)
	ok(t, code)
	require.Greater(t, elapsed, float32(99))
}

func TestDriverPool(t *testing.T) {
	d := gpu(t)
	if !d.Info().MemoryPools {
		t.Skip("this GPU has no memory pools")
	}
	pool, code := d.DeviceGetDefaultMemPool()
	ok(t, code)
	for _, attr := range []device.PoolAttr{device.PoolReuseAllowOpportunistic, device.PoolReleaseThreshold} {
		before, code := d.MemPoolGetAttribute(pool, attr)
		ok(t, code)
		ok(t, d.MemPoolSetAttribute(pool, attr, 0))
		value, code := d.MemPoolGetAttribute(pool, attr)
		ok(t, code)
		require.Zero(t, value)
		ok(t, d.MemPoolSetAttribute(pool, attr, before))
		value, code = d.MemPoolGetAttribute(pool, attr)
		ok(t, code)
		require.Equal(t, before, value)
	}
	ok(t, d.MemPoolSetAttribute(pool, device.PoolReleaseThreshold, math.MaxUint64))
	value, code := d.MemPoolGetAttribute(pool, device.PoolReleaseThreshold)
	ok(t, code)
	require.Equal(t, uint64(math.MaxUint64), value)
	ok(t, d.MemPoolSetAttribute(pool, device.PoolReleaseThreshold, 0))
}

func TestDriverLaunch(t *testing.T) {
	d := gpu(t)
	s := newStream(t, d)
	const n = 1000
	p, code := d.MemAllocAsync(4*n, s)
	ok(t, code)
	ok(t, d.MemsetD8Async(p, 0, 4*n, s))
	l := &device.Launch{Kernel: fill, Grid: device.Dim{X: 4}, Block: device.Dim{X: 256}, Stream: s}
	l.Args = [device.MaxArgs]uint64{uint64(p), n - 1, uint64(math.Float32bits(2.5))}
	ok(t, d.LaunchKernel(l))
	back := make([]byte, 4*n)
	ok(t, d.MemcpyDtoHAsync(back, p, s))
	for i := range n - 1 {
		require.Equal(t, float32(2.5), math.Float32frombits(binary.LittleEndian.Uint32(back[4*i:])), i)
	}
	require.Zero(t, binary.LittleEndian.Uint32(back[4*(n-1):]))

	l.Grid.X = 0
	require.Equal(t, device.ErrorInvalidValue, d.LaunchKernel(l))
	l.Grid.X, l.Block.X = 1, uint32(d.Info().MaxThreads)+1
	require.Equal(t, device.ErrorInvalidValue, d.LaunchKernel(l))
	ok(t, d.MemFreeAsync(p, s))
	ok(t, d.StreamSynchronize(s))
}

func TestDriverRefusesBadPTX(t *testing.T) {
	d := gpu(t)
	bad := testKernel("nothing", strings.Replace(ptx, "{ ret; }", "{ return; }", 1), 0)
	require.Equal(t, device.ErrorInvalidPTX, d.LoadKernel(bad))
	require.NotEmpty(t, d.PTXLog())
	t.Log(d.PTXLog())
	require.Equal(t, device.ErrorInvalidPTX, d.LaunchKernel(&device.Launch{Kernel: bad}))
	require.Equal(t, device.ErrorNotFound, d.LoadKernel(testKernel("absent", ptx, 0)))
}

// Each goroutine runs on a thread of its own, which has no context when it starts with a call that needs one.
func TestDriverFromManyGoroutines(t *testing.T) {
	d := gpu(t)
	ok(t, d.LoadKernel(fill))
	const goroutines, rounds, n = 64, 50, 256
	failures := make(chan string, goroutines)
	var callers sync.WaitGroup
	for g := range goroutines {
		callers.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			check := func(what string, code device.Code) {
				if code != device.Success {
					failures <- what + ": " + code.String()
					runtime.Goexit()
				}
			}
			s, code := d.StreamCreate(device.StreamNonBlocking)
			check("StreamCreate", code)
			back := make([]byte, 4*n)
			for round := range rounds {
				p, code := d.MemAllocAsync(4*n, s)
				check("MemAllocAsync", code)
				value := uint32(g*rounds + round)
				l := &device.Launch{Kernel: fill, Grid: device.Dim{X: 1}, Block: device.Dim{X: n}, Stream: s}
				l.Args = [device.MaxArgs]uint64{uint64(p), n, uint64(value)}
				check("LaunchKernel", d.LaunchKernel(l))
				check("MemcpyDtoHAsync", d.MemcpyDtoHAsync(back, p, s))
				check("MemFreeAsync", d.MemFreeAsync(p, s))
				for i := range n {
					if got := binary.LittleEndian.Uint32(back[4*i:]); got != value {
						failures <- "wrong data"
						return
					}
				}
			}
			check("StreamDestroy", d.StreamDestroy(s))
		})
	}
	callers.Wait()
	close(failures)
	require.Empty(t, failures)
}

// A goroutine that waits in the driver gives its processor away: with only one, the others go on.
func TestDriverWaitDoesNotStopOthers(t *testing.T) {
	d := gpu(t)
	s := newStream(t, d)
	ok(t, d.LoadKernel(spin))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ok(t, d.LaunchKernel(delay(s, 1000)))
	waiting, done := make(chan struct{}), make(chan device.Code)
	go func() {
		close(waiting)
		done <- d.StreamSynchronize(s)
	}()
	<-waiting
	for range 100 {
		runtime.Gosched() // lets the other goroutine enter its call
		e, code := d.EventCreate(0)
		ok(t, code)
		ok(t, d.EventDestroy(e))
	}
	require.Equal(t, device.ErrorNotReady, d.StreamQuery(s), "the kernel ended before this goroutine got to run")
	ok(t, <-done)
}

// Two devices share the context, and either outlives the other. One opened after both are closed works on a thread that
// still has the old context current.
func TestDriverOpensAgain(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	use := func(d *Device) {
		t.Helper()
		ok(t, d.LaunchKernel(&device.Launch{Kernel: nothing, Grid: device.Dim{X: 1}, Block: device.Dim{X: 1}}))
		ok(t, d.CtxSynchronize())
		p, code := d.MemAlloc(64)
		ok(t, code)
		ok(t, d.MemFree(p))
	}
	first, second := openGPU(t), openGPU(t)
	use(first)
	use(second)
	require.NoError(t, first.Close())
	use(second)
	require.NoError(t, second.Close())
	use(gpu(t))
}
