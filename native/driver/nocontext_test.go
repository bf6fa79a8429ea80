package driver

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

var record = flag.String("record", "", "write what calls answer without a context to this `file`, instead of comparing")

const recording = "testdata/nocontext.txt"

// TestRawWithoutContext makes each call as it is, without the repetition, on a thread that has no current context, and
// compares the answers with those recorded. It shows which calls need a context of their thread and that the ones
// refused are refused with nothing but INVALID_CONTEXT, which is what the repetition builds on.
func TestRawWithoutContext(t *testing.T) {
	d := gpu(t)
	stream := uintptr(newStream(t, d))
	calls := rawCalls(t, d, stream)
	lines := make([]string, len(calls))
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		raw(d.lib.ctxSetCurrent, 0)
		for i, c := range calls {
			clear(rawOut[:]) // cuMemPoolSetAttribute reads a 0 there
			lines[i] = fmt.Sprintf("%-42s %v", c.name, raw(c.fn, c.args...))
			raw(d.lib.streamSynchronize, stream)
		}
	}()
	<-done
	slices.Sort(lines)

	if *record != "" {
		info := d.Info()
		text := fmt.Sprintf("# device: %s\n# driver: CUDA %s\n# date: %s\n%s\n",
			info.Name, info.Driver, time.Now().UTC().Format(time.DateOnly), strings.Join(lines, "\n"))
		require.NoError(t, os.WriteFile(*record, []byte(text), 0o644))
	}
	for _, line := range lines {
		require.True(t, strings.HasSuffix(line, device.Success.String()) ||
			strings.HasSuffix(line, device.ErrorInvalidContext.String()), line)
	}
	if *record != "" {
		return
	}

	text, err := os.ReadFile(recording)
	if os.IsNotExist(err) {
		t.Skip("nothing to compare with: make " + recording + " with go test -run RawWithoutContext -record " + recording)
	}
	require.NoError(t, err)
	var recorded []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			recorded = append(recorded, strings.TrimSuffix(line, "\n"))
		}
	}
	require.Equal(t, recorded, lines, "this driver answers otherwise than the one recorded")
}

// Go's memory that the raw calls are given: global, so it stays in place and alive.
var (
	rawOut    [2]uint64
	rawSlice  [4096]byte
	rawPool   poolProps
	rawProp   memProp
	rawAccess accessDesc
	rawName   = [...]byte{'n', 'o', 't', 'h', 'i', 'n', 'g', 0}
	rawPTX    = []byte(ptx + "\x00")
)

type rawCall struct {
	name string
	fn   uintptr
	args []uintptr
}

// rawCalls is every call of the device's interface with arguments that are valid where a context is current, made under
// one. A call that destroys or frees gets an object of its own.
func rawCalls(t *testing.T, d *Device, stream uintptr) []rawCall {
	const n = uintptr(len(rawSlice))
	memory := func() uintptr {
		p, code := d.MemAlloc(uint64(n))
		ok(t, code)
		return uintptr(p)
	}
	pooled := func() uintptr {
		p, code := d.MemAllocAsync(uint64(n), device.Stream(stream))
		ok(t, code)
		return uintptr(p)
	}
	pinned := func() uintptr {
		h, code := d.MemAllocHost(uint64(n))
		ok(t, code)
		return uintptr(h)
	}
	event := func() uintptr {
		e, code := d.EventCreate(0)
		ok(t, code)
		ok(t, d.EventRecord(e, device.Stream(stream)))
		return uintptr(e)
	}
	doomed, code := d.StreamCreate(device.StreamNonBlocking)
	ok(t, code)
	pool, code := d.DeviceGetDefaultMemPool()
	ok(t, code)
	doomedPool, code := d.MemPoolCreate()
	ok(t, code)
	function, code := d.function(nothing)
	ok(t, code)
	module := d.modules[ptx]

	rawPool = poolProps{allocType: device.MemAllocationPinned, locationType: device.MemLocationDevice,
		locationID: d.ordinal}
	out, slice := uintptr(unsafe.Pointer(&rawOut)), uintptr(unsafe.Pointer(&rawSlice))
	a, b, host, start, end := memory(), memory(), pinned(), event(), event()
	l := &d.lib
	calls := []rawCall{
		{"cuMemGetInfo", l.memGetInfo, []uintptr{out, out + 8}},
		{"cuCtxSynchronize", l.ctxSynchronize, nil},
		{"cuStreamCreate", l.streamCreate, []uintptr{out, uintptr(device.StreamNonBlocking)}},
		{"cuStreamDestroy", l.streamDestroy, []uintptr{uintptr(doomed)}},
		{"cuEventCreate", l.eventCreate, []uintptr{out, 0}},
		{"cuEventDestroy", l.eventDestroy, []uintptr{event()}},
		{"cuEventSynchronize", l.eventSynchronize, []uintptr{end}},
		{"cuEventQuery", l.eventQuery, []uintptr{end}},
		{"cuEventElapsedTime", l.eventElapsedTime, []uintptr{out, start, end}},
		{"cuMemAlloc", l.memAlloc, []uintptr{out, n}},
		{"cuMemFree", l.memFree, []uintptr{memory()}},
		{"cuMemHostAlloc", l.memHostAlloc, []uintptr{out, n, hostAllocPortable}},
		{"cuMemFreeHost", l.memFreeHost, []uintptr{pinned()}},
		{"cuMemcpyHtoD(pageable)", l.memcpyHtoD, []uintptr{a, slice, n}},
		{"cuMemcpyDtoH(pageable)", l.memcpyDtoH, []uintptr{slice, a, n}},
		{"cuMemcpyHtoD(pinned)", l.memcpyHtoD, []uintptr{a, host, n}},
		{"cuMemcpyDtoH(pinned)", l.memcpyDtoH, []uintptr{host, a, n}},
		{"cuMemcpyDtoD", l.memcpyDtoD, []uintptr{a, b, n}},
		{"cuMemsetD8", l.memsetD8, []uintptr{a, 1, n}},
		{"cuDeviceGetDefaultMemPool", l.deviceGetDefaultMemPool, []uintptr{out, uintptr(d.ordinal)}},
		{"cuMemPoolGetAttribute", l.memPoolGetAttribute, []uintptr{uintptr(pool), uintptr(device.PoolUsedMemCurrent), out}},
		{"cuMemPoolSetAttribute", l.memPoolSetAttribute, []uintptr{uintptr(pool), uintptr(device.PoolUsedMemHigh), out}},
		{"cuDeviceGetMemPool", l.deviceGetMemPool, []uintptr{out, uintptr(d.ordinal)}},
		{"cuDeviceSetMemPool", l.deviceSetMemPool, []uintptr{uintptr(d.ordinal), uintptr(pool)}},
		{"cuMemPoolCreate", l.memPoolCreate, []uintptr{out, uintptr(unsafe.Pointer(&rawPool))}},
		{"cuMemPoolDestroy", l.memPoolDestroy, []uintptr{uintptr(doomedPool)}},
		{"cuMemPoolTrimTo", l.memPoolTrimTo, []uintptr{uintptr(pool), 0}},
		{"cuModuleLoadDataEx", l.moduleLoadDataEx, []uintptr{out, uintptr(unsafe.Pointer(&rawPTX[0])), 0, 0, 0}},
		{"cuModuleGetFunction", l.moduleGetFunction, []uintptr{out, module, uintptr(unsafe.Pointer(&rawName))}},
	}
	for name, s := range map[string]uintptr{"stream": stream, "null stream": 0} {
		for _, c := range []rawCall{
			{"cuStreamSynchronize(", l.streamSynchronize, []uintptr{s}},
			{"cuStreamQuery(", l.streamQuery, []uintptr{s}},
			{"cuStreamWaitEvent(", l.streamWaitEvent, []uintptr{s, end, 0}},
			{"cuEventRecord(", l.eventRecord, []uintptr{event(), s}},
			{"cuMemAllocAsync(", l.memAllocAsync, []uintptr{out, n, s}},
			{"cuMemAllocFromPoolAsync(", l.memAllocFromPoolAsync, []uintptr{out, n, uintptr(pool), s}},
			{"cuMemFreeAsync(", l.memFreeAsync, []uintptr{pooled(), s}},
			{"cuMemcpyHtoDAsync(pageable, ", l.memcpyHtoDAsync, []uintptr{a, slice, n, s}},
			{"cuMemcpyDtoHAsync(pageable, ", l.memcpyDtoHAsync, []uintptr{slice, a, n, s}},
			{"cuMemcpyHtoDAsync(pinned, ", l.memcpyHtoDAsync, []uintptr{a, host, n, s}},
			{"cuMemcpyDtoHAsync(pinned, ", l.memcpyDtoHAsync, []uintptr{host, a, n, s}},
			{"cuMemcpyDtoDAsync(", l.memcpyDtoDAsync, []uintptr{a, b, n, s}},
			{"cuMemsetD8Async(", l.memsetD8Async, []uintptr{a, 1, n, s}},
			{"cuLaunchKernel(", l.launchKernel, []uintptr{function, 1, 1, 1, 1, 1, 1, 0, s, 0, 0}},
		} {
			c.name += name + ")"
			calls = append(calls, c)
		}
	}
	calls = append(calls, rawVirtualCalls(t, d, out)...)
	ok(t, d.CtxSynchronize())
	return calls
}

// rawVirtualCalls is rawCalls for virtual memory management.
func rawVirtualCalls(t *testing.T, d *Device, out uintptr) []rawCall {
	here := device.MemLocation{Type: device.MemLocationDevice}
	prop := device.MemProp{Type: device.MemAllocationPinned, Location: here}
	g, code := d.MemGetAllocationGranularity(prop, device.MemGranularityMinimum)
	ok(t, code)
	addresses := func() uintptr {
		p, code := d.MemAddressReserve(g, 0, 0, 0)
		ok(t, code)
		return uintptr(p)
	}
	handle := func() uintptr {
		h, code := d.MemCreate(g, prop, 0)
		ok(t, code)
		return uintptr(h)
	}
	mapped := func() uintptr {
		p := addresses()
		ok(t, d.MemMap(device.Ptr(p), g, 0, device.MemHandle(handle()), 0))
		return p
	}
	rawProp = newMemProp(prop, d.ordinal)
	rawAccess = accessDesc{here.Type, located(here, d.ordinal), int32(device.MemAccessReadWrite)}
	l, size, props := &d.lib, uintptr(g), uintptr(unsafe.Pointer(&rawProp))
	return []rawCall{
		{"cuMemGetAllocationGranularity", l.memGetAllocationGranularity, []uintptr{out, props, 0}},
		{"cuMemAddressReserve", l.memAddressReserve, []uintptr{out, size, 0, 0, 0}},
		{"cuMemAddressFree", l.memAddressFree, []uintptr{addresses(), size}},
		{"cuMemCreate", l.memCreate, []uintptr{out, size, props, 0}},
		{"cuMemRelease", l.memRelease, []uintptr{handle()}},
		{"cuMemMap", l.memMap, []uintptr{addresses(), size, 0, handle(), 0}},
		{"cuMemUnmap", l.memUnmap, []uintptr{mapped(), size}},
		{"cuMemSetAccess", l.memSetAccess, []uintptr{mapped(), size, uintptr(unsafe.Pointer(&rawAccess)), 1}},
	}
}
