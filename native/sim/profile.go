package sim

import (
	"math/bits"
	"sort"
)

// Profile is what one GPU model has and what its operations cost. Times are nanoseconds, sizes bytes, bandwidths
// bytes per second, unless a field says otherwise. The tags are the constants' names in a file, whose last part is the unit:
// Constants goes by them.
type Profile struct {
	Name              string // "NVIDIA H200"
	Memory            uint64 `file:"memory_bytes"`
	Multiprocessors   int    `file:"multiprocessors"`
	ComputeCapability [2]int `file:"compute_capability"`
	MaxThreads        int    `file:"threads_per_block"` // per block

	// What one multiprocessor holds at a time.
	ThreadsPerMultiprocessor int64 `file:"threads_per_multiprocessor"`
	BlocksPerMultiprocessor  int64 `file:"blocks_per_multiprocessor"`

	// What a call costs the calling thread, beyond any waiting.
	Launch          int64 `file:"launch_ns"`
	Memset          int64 `file:"memset_ns"`
	Copy            int64 `file:"copy_ns"`
	MallocAsync     int64 `file:"malloc_async_ns"` // from a pool that has room
	FreeAsync       int64 `file:"free_async_ns"`
	EventCreate     int64 `file:"event_create_ns"`
	EventDestroy    int64 `file:"event_destroy_ns"`
	EventRecord     int64 `file:"event_record_ns"`
	StreamCreate    int64 `file:"stream_create_ns"`
	StreamDestroy   int64 `file:"stream_destroy_ns"`
	StreamWaitEvent int64 `file:"stream_wait_event_ns"`
	MemGetInfo      int64 `file:"mem_get_info_ns"`
	Query           int64 `file:"query_ns"`         // stream, event and pool queries, and whatever has no field of its own
	Synchronize     int64 `file:"synchronize_ns"`   // with nothing to wait for
	Wake            int64 `file:"wake_ns"`          // on top, where there was something: from its end until the thread runs again
	MallocMapped    int64 `file:"malloc_mapped_ns"` // from a granule that is mapped already
	FreeMapped      int64 `file:"free_mapped_ns"`   // to one that stays mapped
	Malloc          Curve `file:"malloc_ns"`        // by bytes asked for, where memory is mapped for them
	Free            Curve `file:"free_ns"`          // by the same, where memory is unmapped
	PoolCreate      int64 `file:"pool_create_ns"`
	PoolDestroy     int64 `file:"pool_destroy_ns"`
	PoolGrow        Curve `file:"pool_grow_ns"`    // by bytes the pool grows
	PoolRelease     Curve `file:"pool_release_ns"` // by bytes the pool gives back
	HostMalloc      Curve `file:"host_malloc_ns"`
	HostFree        Curve `file:"host_free_ns"`
	// Of virtual memory management, from here on. Lookup is what asking for the granularity costs, MemRelease of what is
	// mapped, and what is refused.
	Lookup         int64 `file:"lookup_ns"`
	AddressReserve Curve `file:"address_reserve_ns"` // by bytes of addresses
	AddressFree    Curve `file:"address_free_ns"`    // by bytes of addresses
	MemCreate      Curve `file:"mem_create_ns"`      // by bytes of physical memory
	MemMap         int64 `file:"mem_map_ns"`
	MemSetAccess   Curve `file:"mem_set_access_ns"` // by bytes of addresses
	MemUnmap       Curve `file:"mem_unmap_ns"`      // of one mapping, by its bytes; a call's mappings add up
	MemRelease     Curve `file:"mem_release_ns"`    // by bytes that go back, with MemUnmap where that comes last

	// The device's side.
	LaunchLatency     int64  `file:"launch_latency_ns"`    // from the end of the enqueuing call to the earliest start of the operation
	Operation         int64  `file:"operation_ns"`         // duration of an empty kernel, and the least one of a copy between host and device
	Move              int64  `file:"move_ns"`              // duration of a memset, or of a copy within the device, of no bytes
	PoolGap           int64  `file:"pool_gap_ns"`          // what work takes longer right behind an allocation or free in its stream
	StepPicos         int64  `file:"step_ps"`              // picoseconds: a dependent step of a kernel (device.Work.Steps)
	StepWarps         int64  `file:"step_warps"`           // warps on a multiprocessor up to which that holds; beyond, in proportion more
	MemoryBandwidth   int64  `file:"memory_bytes_per_s"`   // of memsets and of copies within the device, reads and writes together
	KernelBandwidth   int64  `file:"kernel_bytes_per_s"`   // of kernels
	ThreadBandwidth   int64  `file:"thread_bytes_per_s"`   // what one resident thread can draw of it
	HtoDBandwidth     int64  `file:"htod_bytes_per_s"`     // pinned host memory to device
	DtoHBandwidth     int64  `file:"dtoh_bytes_per_s"`     // device to pinned host memory
	PageableBandwidth int64  `file:"pageable_bytes_per_s"` // either way, where host memory is pageable
	StageLimit        uint64 `file:"stage_limit_bytes"`
	QueueDepth        int    `file:"queue_depth"` // kernels, copies and memsets that may wait in one stream; the next call blocks

	// How memory is handed out.
	Granule     uint64 `file:"granule_bytes"` // of MemAlloc
	PoolStep    uint64 `file:"pool_step_bytes"`
	Granularity uint64 `file:"granularity_bytes"` // of virtual memory management: a power of two
}

// Point is one measured point of a Curve.
type Point struct {
	Bytes uint64
	Nanos int64
}

// Curve is a cost by size: straight lines between measured points, level below the first, and beyond the last as steep
// as before it. Points are in ascending order of bytes; the last costs no less than the one before it.
type Curve []Point

// At is the cost for so many bytes.
func (c Curve) At(bytes uint64) int64 {
	i := sort.Search(len(c), func(i int) bool { return c[i].Bytes >= bytes })
	switch {
	case i == 0:
		return c[0].Nanos
	case i == len(c) && i == 1:
		return c[0].Nanos
	case i == len(c):
		i--
	}
	a, b := c[i-1], c[i]
	if b.Nanos < a.Nanos {
		return a.Nanos - int64(scale(bytes-a.Bytes, uint64(a.Nanos-b.Nanos), b.Bytes-a.Bytes))
	}
	return a.Nanos + int64(scale(bytes-a.Bytes, uint64(b.Nanos-a.Nanos), b.Bytes-a.Bytes))
}

// longest is the longest time an operation takes, 13 days: sums of times must not overflow.
const longest = 1 << 50

// scale is a*b/c, at most longest. All times come from it and not from floating point, whose last bit may differ
// between processors.
func scale(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return longest
	}
	q, _ := bits.Div64(hi, lo, c)
	return min(q, longest)
}

// timeFor is how long so many bytes take at a bandwidth.
func timeFor(bytes uint64, bandwidth int64) int64 {
	return int64(scale(bytes, 1e9, uint64(bandwidth)))
}

const megabyte = 1_000_000

// H200 was measured on one NVIDIA H200 (driver 580.159, CUDA 13.0), as medians. Where only the sum of a pair of calls
// was measured (allocate and free, create and destroy, grow and release), each half carries half. Constants marked
// "estimate" were not measured one by one.
var H200 = Profile{
	Name:                     "NVIDIA H200",
	Memory:                   143_165 << 20, // 139.8 GiB, what the driver reports as total
	Multiprocessors:          132,
	ComputeCapability:        [2]int{9, 0},
	MaxThreads:               1024,
	ThreadsPerMultiprocessor: 2048,
	BlocksPerMultiprocessor:  32,

	Launch:          2_900,
	Memset:          3_350,
	Copy:            3_350,
	MallocAsync:     330, // the warm pair takes 520 to 670
	FreeAsync:       270,
	EventCreate:     70,
	EventDestroy:    70,
	EventRecord:     820, // with timing
	StreamCreate:    1_400,
	StreamDestroy:   1_400,
	StreamWaitEvent: 210,
	MemGetInfo:      3_800,
	Query:           650,
	Synchronize:     250,
	Wake:            650, // warm pair with a synchronise: 1,400 to 1,600

	PoolCreate:  9_500, // the pair takes 19,000
	PoolDestroy: 9_500,

	MallocMapped: 1_250,
	FreeMapped:   1_700,
	Malloc:       Curve{{4 << 10, 27_500}, {1 << 20, 28_000}, {16 << 20, 31_500}, {256 << 20, 79_500}, {1 << 30, 736_500}},
	Free:         Curve{{4 << 10, 27_500}, {1 << 20, 28_000}, {16 << 20, 31_500}, {256 << 20, 79_500}, {1 << 30, 736_500}},
	// A warm pair with a synchronise is 1.5 of the 80, 468 and 2,630 microseconds measured at threshold 0.
	PoolGrow:    Curve{{32 << 20, 39_300}, {256 << 20, 233_200}, {1 << 30, 1_314_200}},
	PoolRelease: Curve{{32 << 20, 39_300}, {256 << 20, 233_200}, {1 << 30, 1_314_200}},
	HostMalloc:  Curve{{1 << 20, 308_500}}, // one size measured
	HostFree:    Curve{{1 << 20, 308_500}},

	// One mapping of 2 MiB to 1 GiB. 64 mappings of 2 MiB, unmapped and so freed in one call, took 1,384 µs.
	Lookup:         200,
	AddressReserve: Curve{{16 << 20, 500}, {32 << 20, 1_900}, {1 << 30, 1_900}},
	AddressFree:    Curve{{16 << 20, 500}, {32 << 20, 1_500}, {1 << 30, 1_500}},
	MemCreate: Curve{{16 << 20, 7_100}, {32 << 20, 13_100}, {64 << 20, 7_400}, {128 << 20, 7_800}, {256 << 20, 8_600},
		{512 << 20, 12_800}, {1 << 30, 21_800}},
	MemMap:       700,
	MemSetAccess: Curve{{16 << 20, 18_600}, {32 << 20, 31_500}, {256 << 20, 31_500}, {512 << 20, 42_000}, {1 << 30, 53_900}},
	MemUnmap: Curve{{16 << 20, 13_300}, {32 << 20, 20_000}, {128 << 20, 20_000}, {256 << 20, 19_000}, {512 << 20, 23_400},
		{1 << 30, 27_800}},
	MemRelease: Curve{{2 << 20, 10_100}, {4 << 20, 11_000}, {16 << 20, 15_800}, {32 << 20, 17_300}, {64 << 20, 25_700},
		{128 << 20, 38_100}, {256 << 20, 57_500}, {512 << 20, 118_900}, {1 << 30, 222_300}},

	LaunchLatency:     2_300,   // launch and synchronise take 8,100: 2,900 + this + Operation + Synchronize + Wake
	Operation:         1_810,   // 300 empty kernels in a row
	Move:              790,     // 300 memsets of 8 bytes
	PoolGap:           1_090,   // a hundred rounds of allocate, process 4 MiB, free take 535 µs; process alone 4.26 a time
	StepPicos:         14_650,  // kernel process: 14.65 ms for a million rounds in 16 blocks of 256
	StepWarps:         25,      // and 1,446 µs for 10,000 rounds in 4,096 such blocks: 64 warps take 2.54 times as long a step
	MemoryBandwidth:   3_930e9, // a memset of 64 MiB
	KernelBandwidth:   1_670e9, // kernel process, 64 MiB in 42.1 µs
	ThreadBandwidth:   26e6,    // estimate: 16 bytes in flight per thread over a latency of 600 ns
	HtoDBandwidth:     27e9,
	DtoHBandwidth:     55e9,
	PageableBandwidth: 8.4e9, // 64 MiB behind a kernel of 100 ms took 108 ms
	StageLimit:        64 << 10,
	QueueDepth:        1024, // estimate

	Granule:     2 << 20, // estimate: the granularity of virtual memory management
	PoolStep:    32 << 20,
	Granularity: 2 << 20,
}
