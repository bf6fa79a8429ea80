package cuda_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// env is what there is before each row's call: stream 1, events 1 and 2, allocations 1 (Malloc), 2 (MallocAsync on stream 1)
// and 3 (pinned), physical memory 6, which is mapped at va, and one of each that is no more: stream 2, event 3, allocations 4
// (device) and 5 (pinned), the handle of physical memory 7.
type env struct {
	s, deadStream      cuda.Stream
	e, f, deadEvent    cuda.Event
	m, p, dead         cuda.DevicePtr
	pinned, deadPinned cuda.HostBuffer
	pool, deadPool     cuda.MemPool
	h, deadHandle      cuda.MemGenericAllocationHandle
	va                 cuda.DevicePtr // of three granules, the first mapped
	slice              []byte
	session            *session.Session
}

const (
	bytes  = 1024 // of each device allocation
	pinned = 256  // of each pinned buffer

	granule = 2 << 20 // the simulator's
)

var (
	devLocation = cuda.MemLocation{Type: cuda.MemLocationTypeDevice}
	devProp     = cuda.MemAllocationProp{Type: cuda.MemAllocationTypePinned, Location: devLocation}
	readWrite   = []cuda.MemAccessDesc{{Location: devLocation, Flags: cuda.MemAccessFlagsProtReadWrite}}
)

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

// start makes a session on a fresh simulated device, in use and tracing.
func start(t testing.TB) *session.Session {
	d := sim.New(sim.Options{})
	s := session.New(d)
	s.Use()
	s.StartTrace()
	t.Cleanup(func() {
		require.NoError(t, s.Sweep())
		require.NoError(t, d.Close())
	})
	return s
}

func newEnv(t *testing.T) *env {
	e := &env{session: start(t), slice: make([]byte, 64)}
	e.s = must[cuda.Stream](t)(cuda.StreamCreateWithFlags(cuda.StreamNonBlocking))
	e.deadStream = must[cuda.Stream](t)(cuda.StreamCreate())
	e.e = must[cuda.Event](t)(cuda.EventCreate())
	e.f = must[cuda.Event](t)(cuda.EventCreate())
	e.deadEvent = must[cuda.Event](t)(cuda.EventCreate())
	e.m = must[cuda.DevicePtr](t)(cuda.Malloc(bytes))
	e.p = must[cuda.DevicePtr](t)(cuda.MallocAsync(bytes, e.s))
	e.pinned = must[cuda.HostBuffer](t)(cuda.MallocHost(pinned))
	e.dead = must[cuda.DevicePtr](t)(cuda.Malloc(bytes))
	e.deadPinned = must[cuda.HostBuffer](t)(cuda.MallocHost(pinned))
	e.pool = must[cuda.MemPool](t)(cuda.MemPoolCreate(cuda.MemPoolProps{}))
	e.deadPool = must[cuda.MemPool](t)(cuda.MemPoolCreate(cuda.MemPoolProps{}))
	e.h = must[cuda.MemGenericAllocationHandle](t)(cuda.MemCreate(granule, devProp, 0))
	e.deadHandle = must[cuda.MemGenericAllocationHandle](t)(cuda.MemCreate(granule, devProp, 0))
	e.va = must[cuda.DevicePtr](t)(cuda.MemAddressReserve(3*granule, 0, 0, 0))
	require.NoError(t, cuda.MemMap(e.va, granule, 0, e.h, 0))
	require.NoError(t, cuda.MemSetAccess(e.va, granule, readWrite))
	require.NoError(t, cuda.MemRelease(e.deadHandle))
	require.NoError(t, cuda.MemPoolDestroy(e.deadPool))
	require.NoError(t, cuda.StreamDestroy(e.deadStream))
	require.NoError(t, cuda.EventDestroy(e.deadEvent))
	require.NoError(t, cuda.Free(e.dead))
	require.NoError(t, cuda.FreeHost(e.deadPinned))
	require.NoError(t, cuda.EventRecord(e.e, e.s))
	require.NoError(t, cuda.EventRecord(e.f, e.s))
	require.NoError(t, cuda.DeviceSynchronize())
	e.session.Mark("the row's call")
	return e
}

func line() int {
	_, _, n, _ := runtime.Caller(1)
	return n
}

var touchMany = device.NewKernel(device.Spec{
	Entry: "touch_many", PTX: "none", Params: 3,
	Exec: func(*device.Launch, device.Memory) {},
	Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
		return append(buf,
			device.Access{Ptr: device.Ptr(l.Args[1]), Size: l.Args[0], Kind: device.Read},
			device.Access{Ptr: device.Ptr(l.Args[2]), Size: 8, Kind: device.Atomic})
	},
	Work: func(*device.Launch) device.Work { return device.Work{} },
})

const (
	read   = trace.Read
	write  = trace.Write
	atomic = trace.Atomic
)

type row struct {
	name string
	line int
	call func(e *env) error
	want trace.Record
}

// Each row's call stands on the line of its line().
var rows = []row{
	{"stream create", line(), func(e *env) error { _, err := cuda.StreamCreateWithFlags(1); return err },
		trace.Record{Op: trace.OpStreamCreate, Stream: 3, Flags: 1}},
	{"stream create, flags", line(), func(e *env) error { _, err := cuda.StreamCreateWithFlags(64); return err },
		trace.Record{Op: trace.OpStreamCreate, Flags: 64, Code: 1}},
	{"stream destroy", line(), func(e *env) error { return cuda.StreamDestroy(e.s) },
		trace.Record{Op: trace.OpStreamDestroy, Stream: 1}},
	{"stream destroy again", line(), func(e *env) error { return cuda.StreamDestroy(e.deadStream) },
		trace.Record{Op: trace.OpStreamDestroy, Stream: 2, Stale: true, Code: 400}},
	{"stream synchronize", line(), func(e *env) error { return cuda.StreamSynchronize(e.s) },
		trace.Record{Op: trace.OpStreamSynchronize, Stream: 1, Phase: trace.Leave}},
	{"stream synchronize, stale", line(), func(e *env) error { return cuda.StreamSynchronize(e.deadStream) },
		trace.Record{Op: trace.OpStreamSynchronize, Stream: 2, Phase: trace.Leave, Stale: true, Code: 400}},
	{"stream query", line(), func(e *env) error { return cuda.StreamQuery(e.s) },
		trace.Record{Op: trace.OpStreamQuery, Stream: 1}},
	{"stream query, legacy", line(), func(e *env) error { return cuda.StreamQuery(cuda.Stream{}) },
		trace.Record{Op: trace.OpStreamQuery}},
	{"stream wait event", line(), func(e *env) error { return cuda.StreamWaitEvent(e.s, e.f) },
		trace.Record{Op: trace.OpStreamWaitEvent, Stream: 1, Event: 2}},
	{"stream wait event, stale", line(), func(e *env) error { return cuda.StreamWaitEvent(e.s, e.deadEvent) },
		trace.Record{Op: trace.OpStreamWaitEvent, Stream: 1, Event: 3, Stale: true, Code: 400}},
	{"stream wait event, null", line(), func(e *env) error { return cuda.StreamWaitEvent(e.s, cuda.Event{}) },
		trace.Record{Op: trace.OpStreamWaitEvent, Stream: 1, Code: 400}},
	{"device synchronize", line(), func(e *env) error { return cuda.DeviceSynchronize() },
		trace.Record{Op: trace.OpDeviceSynchronize, Phase: trace.Leave}},

	{"event create", line(), func(e *env) error { _, err := cuda.EventCreateWithFlags(3); return err },
		trace.Record{Op: trace.OpEventCreate, Event: 4, Flags: 3}},
	{"event destroy", line(), func(e *env) error { return cuda.EventDestroy(e.f) },
		trace.Record{Op: trace.OpEventDestroy, Event: 2}},
	{"event destroy again", line(), func(e *env) error { return cuda.EventDestroy(e.deadEvent) },
		trace.Record{Op: trace.OpEventDestroy, Event: 3, Stale: true, Code: 400}},
	{"event record", line(), func(e *env) error { return cuda.EventRecord(e.f, e.s) },
		trace.Record{Op: trace.OpEventRecord, Event: 2, Stream: 1}},
	{"event synchronize", line(), func(e *env) error { return cuda.EventSynchronize(e.f) },
		trace.Record{Op: trace.OpEventSynchronize, Event: 2, Phase: trace.Leave}},
	{"event query", line(), func(e *env) error { return cuda.EventQuery(e.f) },
		trace.Record{Op: trace.OpEventQuery, Event: 2}},
	{"elapsed time", line(), func(e *env) error { _, err := cuda.EventElapsedTime(e.e, e.f); return err },
		trace.Record{Op: trace.OpEventElapsedTime, Event: 1, Event2: 2}},

	{"malloc", line(), func(e *env) error { _, err := cuda.Malloc(77); return err },
		trace.Record{Op: trace.OpMalloc, Alloc: 8, Size: 77}},
	{"malloc, negative", line(), func(e *env) error { _, err := cuda.Malloc(-1); return err },
		trace.Record{Op: trace.OpMalloc, Size: -1, Code: 1}},
	{"malloc async", line(), func(e *env) error { _, err := cuda.MallocAsync(77, e.s); return err },
		trace.Record{Op: trace.OpMallocAsync, Alloc: 8, Size: 77, Stream: 1}},
	{"malloc async, nothing", line(), func(e *env) error { _, err := cuda.MallocAsync(0, e.s); return err },
		trace.Record{Op: trace.OpMallocAsync, Stream: 1}},
	{"malloc async, negative", line(), func(e *env) error { _, err := cuda.MallocAsync(-8, e.s); return err },
		trace.Record{Op: trace.OpMallocAsync, Size: -8, Stream: 1, Code: 1}},
	{"malloc async, stale", line(), func(e *env) error { _, err := cuda.MallocAsync(8, e.deadStream); return err },
		trace.Record{Op: trace.OpMallocAsync, Size: 8, Stream: 2, Stale: true, Code: 400}},
	{"pool create", line(), func(e *env) error { _, err := cuda.MemPoolCreate(cuda.MemPoolProps{}); return err },
		trace.Record{Op: trace.OpMemPoolCreate, Pool: 3}},
	{"pool create, no such device", line(), func(e *env) error { _, err := cuda.MemPoolCreate(cuda.MemPoolProps{Device: 1}); return err },
		trace.Record{Op: trace.OpMemPoolCreate, Code: 101}},
	{"pool destroy", line(), func(e *env) error { return cuda.MemPoolDestroy(e.pool) },
		trace.Record{Op: trace.OpMemPoolDestroy, Pool: 1}},
	{"pool destroy again", line(), func(e *env) error { return cuda.MemPoolDestroy(e.deadPool) },
		trace.Record{Op: trace.OpMemPoolDestroy, Pool: 2, Stale: true, Code: 1}},
	{"pool destroy, null", line(), func(e *env) error { return cuda.MemPoolDestroy(cuda.MemPool{}) },
		trace.Record{Op: trace.OpMemPoolDestroy, Code: 1}},
	{"pool trim", line(), func(e *env) error { return cuda.MemPoolTrimTo(e.pool, 77) },
		trace.Record{Op: trace.OpMemPoolTrimTo, Pool: 1, Value: 77}},
	{"pool trim, negative", line(), func(e *env) error { return cuda.MemPoolTrimTo(e.pool, -1) },
		trace.Record{Op: trace.OpMemPoolTrimTo, Pool: 1, Value: 1<<64 - 1, Code: 1}},
	{"pool attribute", line(), func(e *env) error { _, err := cuda.MemPoolGetAttribute(e.pool, 2); return err },
		trace.Record{Op: trace.OpMemPoolGetAttribute, Pool: 1, Attr: 2, Value: 1}},
	{"pool attribute, none such", line(), func(e *env) error { _, err := cuda.MemPoolGetAttribute(e.pool, 99); return err },
		trace.Record{Op: trace.OpMemPoolGetAttribute, Pool: 1, Attr: 99, Code: 1}},
	{"pool attribute, stale", line(), func(e *env) error { _, err := cuda.MemPoolGetAttribute(e.deadPool, 1); return err },
		trace.Record{Op: trace.OpMemPoolGetAttribute, Pool: 2, Attr: 1, Stale: true, Code: 1}},
	{"pool set attribute", line(), func(e *env) error { return cuda.MemPoolSetAttribute(e.pool, cuda.MemPoolAttrReleaseThreshold, 1<<40) },
		trace.Record{Op: trace.OpMemPoolSetAttribute, Pool: 1, Attr: 4, Value: 1 << 40}},
	{"pool set attribute, read-only", line(), func(e *env) error { return cuda.MemPoolSetAttribute(e.pool, cuda.MemPoolAttrUsedMemCurrent, 0) },
		trace.Record{Op: trace.OpMemPoolSetAttribute, Pool: 1, Attr: 7, Code: 1}},
	{"default pool", line(), func(e *env) error { _, err := cuda.DeviceGetDefaultMemPool(0); return err },
		trace.Record{Op: trace.OpDeviceGetDefaultMemPool}},
	{"default pool, no such device", line(), func(e *env) error { _, err := cuda.DeviceGetDefaultMemPool(1); return err },
		trace.Record{Op: trace.OpDeviceGetDefaultMemPool, Code: 101}},
	{"current pool, no such device", line(), func(e *env) error { _, err := cuda.DeviceGetMemPool(-1); return err },
		trace.Record{Op: trace.OpDeviceGetMemPool, Code: 101}},
	{"set the current pool", line(), func(e *env) error { return cuda.DeviceSetMemPool(0, e.pool) },
		trace.Record{Op: trace.OpDeviceSetMemPool, Pool: 1}},
	{"set the current pool, null", line(), func(e *env) error { return cuda.DeviceSetMemPool(0, cuda.MemPool{}) },
		trace.Record{Op: trace.OpDeviceSetMemPool, Code: 1}},
	{"set the current pool, no such device", line(), func(e *env) error { return cuda.DeviceSetMemPool(1, e.pool) },
		trace.Record{Op: trace.OpDeviceSetMemPool, Pool: 1, Code: 101}},
	{"malloc from pool", line(), func(e *env) error { _, err := cuda.MallocFromPoolAsync(77, e.pool, e.s); return err },
		trace.Record{Op: trace.OpMallocFromPoolAsync, Alloc: 8, Size: 77, Stream: 1, Pool: 1, Value: 32 << 20}},
	{"malloc from pool, negative", line(), func(e *env) error { _, err := cuda.MallocFromPoolAsync(-8, e.pool, e.s); return err },
		trace.Record{Op: trace.OpMallocFromPoolAsync, Size: -8, Stream: 1, Pool: 1, Code: 1}},
	{"malloc from pool, null", line(), func(e *env) error { _, err := cuda.MallocFromPoolAsync(8, cuda.MemPool{}, e.s); return err },
		trace.Record{Op: trace.OpMallocFromPoolAsync, Size: 8, Stream: 1, Code: 1}},
	{"malloc from pool, stale pool", line(), func(e *env) error { _, err := cuda.MallocFromPoolAsync(8, e.deadPool, e.s); return err },
		trace.Record{Op: trace.OpMallocFromPoolAsync, Size: 8, Stream: 1, Pool: 2, Stale: true, Code: 1}},
	{"malloc from pool, stale stream", line(), func(e *env) error { _, err := cuda.MallocFromPoolAsync(8, e.pool, e.deadStream); return err },
		trace.Record{Op: trace.OpMallocFromPoolAsync, Size: 8, Stream: 2, Pool: 1, Stale: true, Code: 400}},

	{"free", line(), func(e *env) error { return cuda.Free(e.m) },
		trace.Record{Op: trace.OpFree, Alloc: 1, Phase: trace.Leave}},
	{"free again", line(), func(e *env) error { return cuda.Free(e.dead) },
		trace.Record{Op: trace.OpFree, Alloc: 4, Freed: true, Phase: trace.Leave, Code: 1}},
	{"free null", line(), func(e *env) error { return cuda.Free(0) },
		trace.Record{Op: trace.OpFree, Phase: trace.Leave}},
	{"free async", line(), func(e *env) error { return cuda.FreeAsync(e.p, e.s) },
		trace.Record{Op: trace.OpFreeAsync, Alloc: 2, Stream: 1}},
	{"free async again", line(), func(e *env) error { return cuda.FreeAsync(e.dead, e.s) },
		trace.Record{Op: trace.OpFreeAsync, Alloc: 4, Freed: true, Stream: 1, Code: 1}},
	{"free async inside", line(), func(e *env) error { return cuda.FreeAsync(e.p+8, e.s) },
		trace.Record{Op: trace.OpFreeAsync, Alloc: 2, Stream: 1, Code: 1}},
	{"free async garbage", line(), func(e *env) error { return cuda.FreeAsync(12345, e.s) },
		trace.Record{Op: trace.OpFreeAsync, Stream: 1, Code: 1}},

	{"malloc host", line(), func(e *env) error { _, err := cuda.MallocHost(77); return err },
		trace.Record{Op: trace.OpMallocHost, Alloc: 8, Size: 77, Phase: trace.Leave}},
	{"malloc host, negative", line(), func(e *env) error { _, err := cuda.MallocHost(-1); return err },
		trace.Record{Op: trace.OpMallocHost, Size: -1, Phase: trace.Leave, Code: 1}},
	{"free host", line(), func(e *env) error { return cuda.FreeHost(e.pinned) },
		trace.Record{Op: trace.OpFreeHost, Alloc: 3, Phase: trace.Leave}},
	{"free host again", line(), func(e *env) error { return cuda.FreeHost(e.deadPinned) },
		trace.Record{Op: trace.OpFreeHost, Alloc: 5, Freed: true, Phase: trace.Leave, Code: 1}},
	{"host read", line(), func(e *env) error { return e.pinned.Read(8, e.slice) },
		trace.Record{Op: trace.OpHostRead, Host: trace.Pinned, Size: 64,
			Accesses: []trace.Access{{Alloc: 3, Offset: 8, Size: 64, Kind: read}}}},
	{"host write", line(), func(e *env) error { return e.pinned.Write(192, e.slice) },
		trace.Record{Op: trace.OpHostWrite, Host: trace.Pinned, Size: 64,
			Accesses: []trace.Access{{Alloc: 3, Offset: 192, Size: 64, Kind: write}}}},
	{"host write beyond", line(), func(e *env) error { return e.pinned.Write(193, e.slice) },
		trace.Record{Op: trace.OpHostWrite, Host: trace.Pinned, Size: 64, Code: 1,
			Accesses: []trace.Access{{Alloc: 3, Offset: 193, Size: 64, Kind: write}}}},
	{"host read before", line(), func(e *env) error { return e.pinned.Read(-1, e.slice) },
		trace.Record{Op: trace.OpHostRead, Host: trace.Pinned, Size: 64, Code: 1,
			Accesses: []trace.Access{{Alloc: 3, Offset: -1, Size: 64, Kind: read}}}},
	{"host read freed", line(), func(e *env) error { return e.deadPinned.Read(0, e.slice) },
		trace.Record{Op: trace.OpHostRead, Host: trace.Pinned, Size: 64, Code: 1,
			Accesses: []trace.Access{{Alloc: 5, Freed: true, Size: 64, Kind: read}}}},
	{"host read, no buffer", line(), func(e *env) error { return cuda.HostBuffer{}.Read(0, e.slice) },
		trace.Record{Op: trace.OpHostRead, Host: trace.Pinned, Size: 64, Code: 1}},

	{"to the device", line(), func(e *env) error { return cuda.MemcpyHtoD(e.m+8, cuda.Pageable(e.slice), 32) },
		trace.Record{Op: trace.OpMemcpyHtoD, Host: trace.Pageable, Size: 32, Phase: trace.Leave,
			Accesses: []trace.Access{{Alloc: 1, Offset: 8, Size: 32, Kind: write}}}},
	{"to the device, pinned", line(), func(e *env) error { return cuda.MemcpyHtoD(e.m, e.pinned, 32) },
		trace.Record{Op: trace.OpMemcpyHtoD, Host: trace.Pinned, Size: 32, Phase: trace.Leave,
			Accesses: []trace.Access{{Alloc: 1, Size: 32, Kind: write}, {Alloc: 3, Size: 32, Kind: read, Arg: 1}}}},
	{"from the device", line(), func(e *env) error { return cuda.MemcpyDtoH(cuda.Pageable(e.slice), e.m, 32) },
		trace.Record{Op: trace.OpMemcpyDtoH, Host: trace.Pageable, Size: 32, Phase: trace.Leave,
			Accesses: []trace.Access{{Alloc: 1, Size: 32, Kind: read, Arg: 1}}}},
	{"from the device, slice too short", line(), func(e *env) error { return cuda.MemcpyDtoH(cuda.Pageable(e.slice), e.m, 65) },
		trace.Record{Op: trace.OpMemcpyDtoH, Host: trace.Pageable, Size: 65, Phase: trace.Leave, Code: 1,
			Accesses: []trace.Access{{Alloc: 1, Size: 65, Kind: read, Arg: 1}}}},
	{"from the device, freed", line(), func(e *env) error { return cuda.MemcpyDtoH(cuda.Pageable(e.slice), e.dead, 8) },
		trace.Record{Op: trace.OpMemcpyDtoH, Host: trace.Pageable, Size: 8, Phase: trace.Leave, Code: 1,
			Accesses: []trace.Access{{Alloc: 4, Freed: true, Size: 8, Kind: read, Arg: 1}}}},
	{"to the device, async", line(), func(e *env) error { return cuda.MemcpyHtoDAsync(e.p, cuda.Pageable(e.slice), 8, e.s) },
		trace.Record{Op: trace.OpMemcpyHtoDAsync, Host: trace.Pageable, Size: 8, Stream: 1, Phase: trace.Leave,
			Accesses: []trace.Access{{Alloc: 2, Size: 8, Kind: write}}}},
	{"to the device, async, pinned", line(), func(e *env) error { return cuda.MemcpyHtoDAsync(e.p, e.pinned.At(16), 8, e.s) },
		trace.Record{Op: trace.OpMemcpyHtoDAsync, Host: trace.Pinned, Size: 8, Stream: 1,
			Accesses: []trace.Access{{Alloc: 2, Size: 8, Kind: write}, {Alloc: 3, Offset: 16, Size: 8, Kind: read, Arg: 1}}}},
	{"from the device, async, pinned", line(), func(e *env) error { return cuda.MemcpyDtoHAsync(e.pinned.At(16), e.p, 8, e.s) },
		trace.Record{Op: trace.OpMemcpyDtoHAsync, Host: trace.Pinned, Size: 8, Stream: 1,
			Accesses: []trace.Access{{Alloc: 2, Size: 8, Kind: read, Arg: 1}, {Alloc: 3, Offset: 16, Size: 8, Kind: write}}}},
	{"pinned too short", line(), func(e *env) error { return cuda.MemcpyDtoHAsync(e.pinned.At(249), e.p, 8, e.s) },
		trace.Record{Op: trace.OpMemcpyDtoHAsync, Host: trace.Pinned, Size: 8, Stream: 1, Code: 1,
			Accesses: []trace.Access{{Alloc: 2, Size: 8, Kind: read, Arg: 1}, {Alloc: 3, Offset: 249, Size: 8, Kind: write}}}},
	{"pinned freed", line(), func(e *env) error { return cuda.MemcpyHtoDAsync(e.p, e.deadPinned, 8, e.s) },
		trace.Record{Op: trace.OpMemcpyHtoDAsync, Host: trace.Pinned, Size: 8, Stream: 1, Code: 1,
			Accesses: []trace.Access{{Alloc: 2, Size: 8, Kind: write}, {Alloc: 5, Freed: true, Size: 8, Kind: read, Arg: 1}}}},
	{"no host side", line(), func(e *env) error { return cuda.MemcpyHtoDAsync(e.p, nil, 8, e.s) },
		trace.Record{Op: trace.OpMemcpyHtoDAsync, Host: trace.Pageable, Size: 8, Stream: 1, Phase: trace.Leave, Code: 1,
			Accesses: []trace.Access{{Alloc: 2, Size: 8, Kind: write}}}},
	{"negative count", line(), func(e *env) error { return cuda.MemcpyHtoD(e.p, cuda.Pageable(e.slice), -8) },
		trace.Record{Op: trace.OpMemcpyHtoD, Host: trace.Pageable, Size: -8, Phase: trace.Leave, Code: 1}},
	{"device to device", line(), func(e *env) error { return cuda.MemcpyDtoD(e.p, e.m+1, 8) },
		trace.Record{Op: trace.OpMemcpyDtoD, Size: 8,
			Accesses: []trace.Access{{Alloc: 2, Size: 8, Kind: write}, {Alloc: 1, Offset: 1, Size: 8, Kind: read, Arg: 1}}}},
	{"device to device, async", line(), func(e *env) error { return cuda.MemcpyDtoDAsync(e.m, e.p, 8, e.s) },
		trace.Record{Op: trace.OpMemcpyDtoDAsync, Size: 8, Stream: 1,
			Accesses: []trace.Access{{Alloc: 1, Size: 8, Kind: write}, {Alloc: 2, Size: 8, Kind: read, Arg: 1}}}},
	{"device to device, negative", line(), func(e *env) error { return cuda.MemcpyDtoDAsync(e.m, e.p, -1, e.s) },
		trace.Record{Op: trace.OpMemcpyDtoDAsync, Size: -1, Stream: 1, Code: 1}},
	{"memset", line(), func(e *env) error { return cuda.Memset(e.m, 7, 8) },
		trace.Record{Op: trace.OpMemset, Size: 8, Accesses: []trace.Access{{Alloc: 1, Size: 8, Kind: write}}}},
	{"memset async", line(), func(e *env) error { return cuda.MemsetAsync(e.p, 7, 8, e.s) },
		trace.Record{Op: trace.OpMemsetAsync, Size: 8, Stream: 1,
			Accesses: []trace.Access{{Alloc: 2, Size: 8, Kind: write}}}},
	{"memset async beyond", line(), func(e *env) error { return cuda.MemsetAsync(e.p+8, 7, bytes, e.s) },
		trace.Record{Op: trace.OpMemsetAsync, Size: bytes, Stream: 1, Code: 1,
			Accesses: []trace.Access{{Alloc: 2, Offset: 8, Size: bytes, Kind: write}}}},
	{"memset async, negative", line(), func(e *env) error { return cuda.MemsetAsync(e.p, 7, -1, e.s) },
		trace.Record{Op: trace.OpMemsetAsync, Size: -1, Stream: 1, Code: 1}},

	{"launch", line(), func(e *env) error { return launch(touchMany, e.s, 16, uint64(e.m+4), uint64(e.p)) },
		trace.Record{Op: trace.OpLaunch, Stream: 1, Kernel: "touch_many",
			Accesses: []trace.Access{{Alloc: 1, Offset: 4, Size: 16, Kind: read, Arg: 1}, {Alloc: 2, Size: 8, Kind: atomic, Arg: 2}}}},
	{"launch of nothing", line(), func(e *env) error { return launch(nil, e.s) },
		trace.Record{Op: trace.OpLaunch, Stream: 1, Code: 1}},
	{"launch, arguments missing", line(), func(e *env) error { return launch(touchMany, e.s, 16) },
		trace.Record{Op: trace.OpLaunch, Stream: 1, Code: 1}},
	{"launch, block too large", line(), func(e *env) error { return launchBlock(touchMany, 1025, e.s, 0, 0, 0) },
		trace.Record{Op: trace.OpLaunch, Stream: 1, Kernel: "touch_many", Code: 1,
			Accesses: []trace.Access{{Size: 8, Kind: atomic}}}},

	{"memory information", line(), func(e *env) error { _, _, err := cuda.MemGetInfo(); return err },
		trace.Record{Op: trace.OpMemGetInfo}},
	{"device count", line(), func(e *env) error { _, err := cuda.GetDeviceCount(); return err },
		trace.Record{Op: trace.OpDeviceInfo}},
	{"set device", line(), func(e *env) error { return cuda.SetDevice(1) },
		trace.Record{Op: trace.OpDeviceInfo, Code: 101}},
	{"device properties", line(), func(e *env) error { _, err := cuda.GetDeviceProperties(-1); return err },
		trace.Record{Op: trace.OpDeviceInfo, Code: 101}},
}

func launch(k *device.Kernel, s cuda.Stream, args ...uint64) error {
	return launchBlock(k, 32, s, args...)
}

func launchBlock(k *device.Kernel, block uint32, s cuda.Stream, args ...uint64) error {
	return cuda.LaunchKernel(k, cuda.Dim3{X: 2}, cuda.Dim3{X: block}, s, args...)
}

func TestEveryCallIsAnsweredAndRecorded(t *testing.T) {
	for _, r := range slices.Concat(rows, vmmRows) {
		t.Run(r.name, func(t *testing.T) {
			e := newEnv(t)
			err := r.call(e)
			tr := e.session.StopTrace()

			var code device.Code
			if err != nil {
				require.True(t, errors.As(err, &code), "%v", err)
			}
			require.Equal(t, device.Code(r.want.Code), code)

			got := tr.Records[len(tr.Records)-1]
			if r.want.Phase == trace.Leave {
				require.Equal(t, trace.OpMark, tr.Records[got.Pair-1].Op)
			} else {
				require.Equal(t, trace.OpMark, tr.Records[len(tr.Records)-2].Op, "one record")
			}
			site := tr.SiteOf(&got)
			for len(site) > 0 && strings.HasPrefix(site[0].Func, "cudalab/native/cuda_test.launch") {
				site = site[1:]
			}
			require.Contains(t, []string{"record_test.go", "record_vmm_test.go"}, filepath.Base(site[0].File))
			require.Equal(t, r.line, site[0].Line)
			require.GreaterOrEqual(t, got.Took, int64(0))

			if r.want.Op == trace.OpEventElapsedTime {
				require.NotZero(t, got.Value, "the answer")
				got.Value = 0
			}
			got.Site, got.Time, got.Took, got.Pair, got.Addr = 0, 0, 0, 0, 0
			if got.Given != nil {
				require.Equal(t, trace.OpLaunch, got.Op, "what other calls were given is recorded only where it is asked for")
				got.Given = nil
			}
			require.Equal(t, r.want, got)
		})
	}
}

// With tracing off nothing is recorded, and the answers are the same.
func TestEveryCallIsAnsweredTheSameWithTracingOff(t *testing.T) {
	for _, r := range slices.Concat(rows, vmmRows) {
		t.Run(r.name, func(t *testing.T) {
			e := newEnv(t)
			e.session.StopTrace()
			err := r.call(e)
			var code device.Code
			errors.As(err, &code)
			require.Equal(t, device.Code(r.want.Code), code)
			require.Empty(t, e.session.StopTrace().Records)
		})
	}
}
