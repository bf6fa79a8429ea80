package driver

import (
	"bytes"
	"os"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// libc finds the C library's functions. They stand in for the driver's of the same shape, so that what matters to every
// call, that no argument and no out-parameter is lost, is tested on machines without a GPU.
func libc(t testing.TB) func(name string) uintptr {
	handle, err := purego.Dlopen("libc.so.6", purego.RTLD_NOW)
	if err != nil {
		t.Skip("the C library is not glibc: ", err)
	}
	return func(name string) uintptr {
		address, err := purego.Dlsym(handle, name)
		require.NoError(t, err)
		return address
	}
}

// filling is a device whose allocations are memset(3): they "return" the low byte of the size, over as many bytes as
// the stream's handle says. Its new events and its copies to the host are time(2) and memset.
func filling(t testing.TB) *Device {
	lookup := libc(t)
	return &Device{lib: symbols{
		memAllocAsync: lookup("memset"), eventCreate: lookup("time"), memcpyDtoH: lookup("memset")}}
}

func TestOutParametersSurviveGrowingStacks(t *testing.T) {
	d := filling(t)
	const goroutines, rounds, depth = 16, 300, 100
	stop := make(chan struct{})
	var collector, callers sync.WaitGroup
	collector.Go(func() { // shrinks stacks, and would free what nothing keeps alive
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	})
	lost := make([]int, goroutines)
	for g := range goroutines {
		callers.Go(func() {
			for round := range rounds {
				fresh := make(chan int)
				go func() { fresh <- descend(d, depth, byte(1+g+round)) }()
				lost[g] += <-fresh
			}
		})
	}
	callers.Wait()
	close(stop)
	collector.Wait()
	require.Equal(t, make([]int, goroutines), lost, "out-parameters lost")
}

// descend makes calls at each level of a growing stack and counts those whose out-parameter, or the caller's own data,
// did not arrive.
func descend(d *Device, depth int, value byte) (lost int) {
	var weight [256]byte
	for i := range weight {
		weight[i] = value
	}
	for i := range 9 {
		// The first call at a level is the one whose stack may have to grow: take turns.
		switch (i + depth + int(value)) % 3 {
		case 0:
			if p, _ := d.MemAllocAsync(uint64(value), 8); p != device.Ptr(value)*0x0101010101010101 {
				lost++
			}
		case 1:
			if e, _ := d.EventCreate(0); e == 0 {
				lost++
			}
		case 2:
			var buffer [64]byte
			d.MemcpyDtoH(buffer[:], device.Ptr(value))
			if !bytes.Equal(buffer[:], weight[:64]) {
				lost++
			}
		}
	}
	if depth > 0 {
		lost += descend(d, depth-1, value)
	}
	if weight[len(weight)-1] != value {
		lost++
	}
	return lost
}

func TestHotCallsDoNotAllocate(t *testing.T) {
	d := filling(t)
	labs := libc(t)("labs")
	d.lib.memFreeAsync, d.lib.eventRecord, d.lib.streamWaitEvent, d.lib.launchKernel = labs, labs, labs, labs
	k := testKernel("nothing", ptx, 0)
	d.functions.Store(k, uintptr(1))
	launch := &device.Launch{Kernel: k, Grid: device.Dim{X: 1}, Block: device.Dim{X: 1}}
	for name, call := range map[string]func(){
		"MemAllocAsync":   func() { d.MemAllocAsync(1, 8) },
		"MemFreeAsync":    func() { d.MemFreeAsync(1, 1) },
		"EventRecord":     func() { d.EventRecord(1, 1) },
		"StreamWaitEvent": func() { d.StreamWaitEvent(1, 1) },
		"LaunchKernel":    func() { d.LaunchKernel(launch) },
	} {
		require.Zero(t, testing.AllocsPerRun(1000, call), name)
	}
}

// The driver reads the C library's environment, of which Go's is a copy.
func TestSettingsReachTheCLibrary(t *testing.T) {
	getenv := libc(t)("getenv")
	inC := func(name string) string {
		address, _, _ := purego.SyscallN(getenv, uintptr(unsafe.Pointer(cString(name))))
		if address == 0 {
			return "unset"
		}
		return goString(hostBytes(device.Host(address), 0, 64))
	}
	t.Setenv("CUDA_DEVICE_MAX_CONNECTIONS", "8")
	t.Setenv("CUDA_MODULE_LOADING", "")
	require.NoError(t, os.Unsetenv("CUDA_MODULE_LOADING"))
	require.Equal(t, "unset", inC("CUDA_MODULE_LOADING"))

	require.NoError(t, applySettings())
	require.Equal(t, "EAGER", inC("CUDA_MODULE_LOADING"))
	require.Equal(t, "8", inC("CUDA_DEVICE_MAX_CONNECTIONS"), "what the user set stays")
}

// A result of 201 makes a call set the context and be repeated; any other is the answer.
func TestCallIsRepeatedInTheContext(t *testing.T) {
	// labs(3) returns its argument: 201, as a call without a context does, and, where it stands for cuCtxSetCurrent,
	// success for context 0 and a refusal for context 5.
	labs := libc(t)("labs")
	d := &Device{lib: symbols{ctxSetCurrent: labs}}
	require.Equal(t, device.ErrorInvalidContext, d.call(labs, uintptr(device.ErrorInvalidContext)))
	d.context = 5
	require.Equal(t, device.Code(5), d.call(labs, uintptr(device.ErrorInvalidContext)))
	require.Equal(t, device.Code(7), d.call(labs, 7))
}

// BenchmarkCall is what a call costs on top of what it calls: memset of 8 bytes.
func BenchmarkCall(b *testing.B) {
	d := filling(b)
	b.ReportAllocs()
	for b.Loop() {
		d.MemAllocAsync(1, 8)
	}
}
