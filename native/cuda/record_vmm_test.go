package cuda_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// vmmRows are rows of virtual memory management: physical memory 6 is mapped at va, and 7 is released.
var vmmRows = []row{
	{"granularity", line(), func(e *env) error { _, err := cuda.MemGetAllocationGranularity(devProp, 0); return err },
		trace.Record{Op: trace.OpMemGetAllocationGranularity}},
	{"granularity, no such device", line(), func(e *env) error { _, err := cuda.MemGetAllocationGranularity(device1, 0); return err },
		trace.Record{Op: trace.OpMemGetAllocationGranularity, Code: 101}},
	{"reserve", line(), func(e *env) error { _, err := cuda.MemAddressReserve(granule, 2*granule, 0, 0); return err },
		trace.Record{Op: trace.OpMemAddressReserve, Size: granule, Value: 2 * granule}},
	{"reserve, unaligned", line(), func(e *env) error { _, err := cuda.MemAddressReserve(granule+1, 0, 0, 0); return err },
		trace.Record{Op: trace.OpMemAddressReserve, Size: granule + 1, Code: 1}},
	{"reserve, negative", line(), func(e *env) error { _, err := cuda.MemAddressReserve(-granule, 0, 0, 0); return err },
		trace.Record{Op: trace.OpMemAddressReserve, Size: -granule, Code: 1}},
	{"reserve, alignment negative", line(), func(e *env) error { _, err := cuda.MemAddressReserve(granule, -1, 0, 0); return err },
		trace.Record{Op: trace.OpMemAddressReserve, Size: granule, Value: 1<<64 - 1, Code: 1}},
	{"address free, mapped", line(), func(e *env) error { return cuda.MemAddressFree(e.va, 3*granule) },
		trace.Record{Op: trace.OpMemAddressFree, Size: 3 * granule, Code: 1}},
	{"address free, negative", line(), func(e *env) error { return cuda.MemAddressFree(e.va, -1) },
		trace.Record{Op: trace.OpMemAddressFree, Size: -1, Code: 1}},
	{"create", line(), func(e *env) error { _, err := cuda.MemCreate(granule, devProp, 0); return err },
		trace.Record{Op: trace.OpMemCreate, Size: granule, Alloc: 8}},
	{"create, unaligned", line(), func(e *env) error { _, err := cuda.MemCreate(77, devProp, 0); return err },
		trace.Record{Op: trace.OpMemCreate, Size: 77, Code: 1}},
	{"create, negative", line(), func(e *env) error { _, err := cuda.MemCreate(-1, devProp, 0); return err },
		trace.Record{Op: trace.OpMemCreate, Size: -1, Code: 1}},
	{"create, no such device", line(), func(e *env) error { _, err := cuda.MemCreate(granule, device1, 0); return err },
		trace.Record{Op: trace.OpMemCreate, Size: granule, Code: 101}},
	{"create, too much", line(), func(e *env) error { _, err := cuda.MemCreate(1<<50, devProp, 0); return err },
		trace.Record{Op: trace.OpMemCreate, Size: 1 << 50, Code: 2}},
	{"release", line(), func(e *env) error { return cuda.MemRelease(e.h) },
		trace.Record{Op: trace.OpMemRelease, Alloc: 6}},
	{"release again", line(), func(e *env) error { return cuda.MemRelease(e.deadHandle) },
		trace.Record{Op: trace.OpMemRelease, Alloc: 7, Stale: true, Code: 1}},
	{"release, null", line(), func(e *env) error { return cuda.MemRelease(cuda.MemGenericAllocationHandle{}) },
		trace.Record{Op: trace.OpMemRelease, Code: 1}},
	{"map", line(), func(e *env) error { return cuda.MemMap(e.va+granule, granule, 0, e.h, 0) },
		trace.Record{Op: trace.OpMemMap, Size: granule, Alloc: 6}},
	{"map, stale", line(), func(e *env) error { return cuda.MemMap(e.va+granule, granule, 0, e.deadHandle, 0) },
		trace.Record{Op: trace.OpMemMap, Size: granule, Alloc: 7, Stale: true, Code: 1}},
	{"map, null", line(), func(e *env) error { return cuda.MemMap(e.va, granule, 0, cuda.MemGenericAllocationHandle{}, 0) },
		trace.Record{Op: trace.OpMemMap, Size: granule, Code: 1}},
	{"map, mapped", line(), func(e *env) error { return cuda.MemMap(e.va, granule, 0, e.h, 0) },
		trace.Record{Op: trace.OpMemMap, Size: granule, Alloc: 6, Code: 1}},
	{"map, offset negative", line(), func(e *env) error { return cuda.MemMap(e.va+granule, granule, -granule, e.h, 0) },
		trace.Record{Op: trace.OpMemMap, Size: granule, Alloc: 6, Value: 1<<64 - granule, Code: 1}},
	{"map, negative", line(), func(e *env) error { return cuda.MemMap(e.va+granule, -granule, 0, e.h, 0) },
		trace.Record{Op: trace.OpMemMap, Size: -granule, Alloc: 6, Code: 1}},
	{"unmap", line(), func(e *env) error { return cuda.MemUnmap(e.va, granule) },
		trace.Record{Op: trace.OpMemUnmap, Size: granule, Phase: trace.Leave}},
	{"unmap, half", line(), func(e *env) error { return cuda.MemUnmap(e.va, granule/2) },
		trace.Record{Op: trace.OpMemUnmap, Size: granule / 2, Phase: trace.Leave, Code: 1}},
	{"unmap, negative", line(), func(e *env) error { return cuda.MemUnmap(e.va, -granule) },
		trace.Record{Op: trace.OpMemUnmap, Size: -granule, Phase: trace.Leave, Code: 1}},
	{"set access", line(), func(e *env) error { return cuda.MemSetAccess(e.va, granule, readWrite) },
		trace.Record{Op: trace.OpMemSetAccess, Size: granule, Flags: 3}},
	{"set access, nothing", line(), func(e *env) error { return cuda.MemSetAccess(e.va, granule, nil) },
		trace.Record{Op: trace.OpMemSetAccess, Size: granule, Code: 1}},
	{"set access, not mapped", line(), func(e *env) error { return cuda.MemSetAccess(e.va+granule, granule, readWrite) },
		trace.Record{Op: trace.OpMemSetAccess, Size: granule, Flags: 3, Code: 1}},
	{"set access, negative", line(), func(e *env) error { return cuda.MemSetAccess(e.va, -granule, readWrite) },
		trace.Record{Op: trace.OpMemSetAccess, Size: -granule, Flags: 3, Code: 1}},
	{"set access, no such device", line(), func(e *env) error { return cuda.MemSetAccess(e.va, granule, readWrite1) },
		trace.Record{Op: trace.OpMemSetAccess, Size: granule, Flags: 3, Code: 101}},

	{"memset of mapped memory", line(), func(e *env) error { return cuda.MemsetAsync(e.va+8, 7, 64, e.s) },
		trace.Record{Op: trace.OpMemsetAsync, Size: 64, Stream: 1, Accesses: []trace.Access{{Alloc: 6, Offset: 8, Size: 64, Kind: write, Addr: 0x2000_0000_0008}}}},
	{"memset of reserved addresses", line(), func(e *env) error { return cuda.MemsetAsync(0x7fff_0000_0000, 7, 64, e.s) },
		trace.Record{Op: trace.OpMemsetAsync, Size: 64, Stream: 1, Code: 1,
			Accesses: []trace.Access{{Offset: 0x7fff_0000_0000, Size: 64, Kind: write}}}},
	{"free of mapped memory", line(), func(e *env) error { return cuda.Free(e.va) },
		trace.Record{Op: trace.OpFree, Alloc: 6, Phase: trace.Leave, Code: 1}},
}

var (
	device1    = cuda.MemAllocationProp{Type: cuda.MemAllocationTypePinned, Location: cuda.MemLocation{Type: cuda.MemLocationTypeDevice, ID: 1}}
	readWrite1 = []cuda.MemAccessDesc{{Location: device1.Location, Flags: cuda.MemAccessFlagsProtReadWrite}}
)

// What an arena does: more memory behind the addresses at hand, without moving what is there.
func TestMappedMemoryGrowsInPlace(t *testing.T) {
	for _, traced := range []bool{false, true} {
		s := start(t)
		if !traced {
			s.StopTrace()
		}
		g := must[int64](t)(cuda.MemGetAllocationGranularity(devProp, cuda.MemAllocGranularityMinimum))
		p := must[cuda.DevicePtr](t)(cuda.MemAddressReserve(2*g, 0, 0, 0))
		for _, at := range []cuda.DevicePtr{p, p + cuda.DevicePtr(g)} {
			h := must[cuda.MemGenericAllocationHandle](t)(cuda.MemCreate(g, devProp, 0))
			require.NoError(t, cuda.MemMap(at, g, 0, h, 0))
			require.NoError(t, cuda.MemRelease(h))
			require.Error(t, cuda.Memset(at, 1, g), "no access yet")
			require.NoError(t, cuda.MemSetAccess(at, g, readWrite))
			require.NoError(t, cuda.Memset(at, byte(1+(at-p)/cuda.DevicePtr(g)), g))
		}
		got := make(cuda.Pageable, 4)
		require.NoError(t, cuda.MemcpyDtoH(got, p+cuda.DevicePtr(g-2), 4))
		require.Equal(t, cuda.Pageable{1, 1, 2, 2}, got)
		require.NoError(t, cuda.MemUnmap(p, 2*g))
		require.Error(t, cuda.Memset(p, 1, 1))
		require.NoError(t, cuda.MemAddressFree(p, 2*g))
	}
}
