package sim

import (
	"math/bits"
	"sort"
)

// Profile is what one GPU model has and what its operations cost. Times are nanoseconds, sizes bytes, bandwidths
// bytes per second, unless a field says otherwise. The tags are the constants' names in a file, whose last part is the
// unit: Constants goes by them.
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
	Launch int64 `file:"launch_ns"`
	// on top, where none of the 8 streams that were launched in last is its own
	LaunchConnect int64 `file:"launch_connect_ns"`
	Memset        Curve `file:"memset_ns"`       // by bytes: a large one is a kernel of the driver's
	Copy          int64 `file:"copy_ns"`         // between host and device
	CopyWithin    int64 `file:"copy_within_ns"`  // within the device
	MallocAsync   int64 `file:"malloc_async_ns"` // of memory that the stream has freed before
	PoolSplit     int64 `file:"pool_split_ns"`   // on top, where a larger block is divided for it
	// on top, where the stream has freed none: each time that a stream is asked for some
	PoolSearch      int64 `file:"pool_search_ns"`
	PoolSearchWork  int64 `file:"pool_search_work_ns"` // on top of that, where work has run in the stream
	FreeAsync       int64 `file:"free_async_ns"`
	EventCreate     int64 `file:"event_create_ns"`
	EventDestroy    int64 `file:"event_destroy_ns"`
	EventRecord     int64 `file:"event_record_ns"` // of an event without timing
	EventTiming     int64 `file:"event_timing_ns"` // on top, of one with timing
	StreamCreate    int64 `file:"stream_create_ns"`
	StreamDestroy   int64 `file:"stream_destroy_ns"` // of one that work has run in
	StreamWaitEvent int64 `file:"stream_wait_event_ns"`
	MemGetInfo      int64 `file:"mem_get_info_ns"`
	Query           int64 `file:"query_ns"`       // of a stream or an event
	Synchronize     int64 `file:"synchronize_ns"` // with nothing to wait for
	Wake            int64 `file:"wake_ns"`        // on top, where work has run: from its end until the thread runs again
	// what asks nothing of the device: attributes, elapsed times, what is refused
	Lookup       int64 `file:"lookup_ns"`
	MallocMapped int64 `file:"malloc_mapped_ns"` // from a granule that is mapped already
	FreeMapped   int64 `file:"free_mapped_ns"`   // to one that stays mapped
	Malloc       Curve `file:"malloc_ns"`        // by bytes asked for, where memory is mapped for them
	Free         Curve `file:"free_ns"`          // by the same, where memory is unmapped
	PoolCreate   int64 `file:"pool_create_ns"`
	PoolDestroy  int64 `file:"pool_destroy_ns"`
	PoolGrow     Curve `file:"pool_grow_ns"`    // by bytes the pool grows
	PoolRelease  Curve `file:"pool_release_ns"` // by bytes the pool gives back
	HostMalloc   Curve `file:"host_malloc_ns"`
	HostFree     Curve `file:"host_free_ns"`
	// Of virtual memory management, from here on.
	AddressReserve Curve `file:"address_reserve_ns"` // by bytes of addresses
	AddressFree    Curve `file:"address_free_ns"`    // by bytes of addresses
	MemCreate      Curve `file:"mem_create_ns"`      // by bytes of physical memory
	MemMap         int64 `file:"mem_map_ns"`
	MemSetAccess   Curve `file:"mem_set_access_ns"` // by bytes of addresses
	MemUnmap       Curve `file:"mem_unmap_ns"`      // of one mapping, by its bytes; a call's mappings add up
	MemRelease     Curve `file:"mem_release_ns"`    // by bytes that go back, with MemUnmap where that comes last

	// The device's side.
	// from the end of the enqueuing call to the earliest start of the operation
	LaunchLatency int64 `file:"launch_latency_ns"`
	Operation     int64 `file:"operation_ns"`   // duration of an empty kernel
	HtoD          int64 `file:"htod_ns"`        // duration of a copy to the device, of no bytes
	DtoH          int64 `file:"dtoh_ns"`        // duration of a copy to the host, of no bytes
	EventStamp    int64 `file:"event_stamp_ns"` // duration of the record of an event with timing
	// duration of a memset, or of a copy within the device, of no bytes
	Move int64 `file:"move_ns"`
	// what work takes longer right behind an allocation or free in its stream
	PoolGap   int64 `file:"pool_gap_ns"`
	StepPicos int64 `file:"step_ps"` // picoseconds: a dependent step of a kernel (device.Work.Steps)
	// warps on a multiprocessor up to which that holds; beyond, in proportion more
	StepWarps int64 `file:"step_warps"`
	// of memsets and of copies within the device, reads and writes together
	MemoryBandwidth int64 `file:"memory_bytes_per_s"`
	SharedBandwidth int64 `file:"shared_bytes_per_s"` // the same, of several of them side by side: no less
	KernelBandwidth int64 `file:"kernel_bytes_per_s"` // of kernels
	ThreadBandwidth int64 `file:"thread_bytes_per_s"` // what one resident thread can draw of it
	HtoDBandwidth   int64 `file:"htod_bytes_per_s"`   // pinned host memory to device
	DtoHBandwidth   int64 `file:"dtoh_bytes_per_s"`   // device to pinned host memory
	LinkBandwidth   int64 `file:"link_bytes_per_s"`   // both directions together: no less than either
	// either way, where host memory is pageable, and of the host's staging
	PageableBandwidth int64  `file:"pageable_bytes_per_s"`
	StageLimit        uint64 `file:"stage_limit_bytes"`
	// kernels, copies and memsets that may wait in one stream; the next call blocks
	QueueDepth int `file:"queue_depth"`

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

// H200 was measured on one NVIDIA H200 (driver 580.159.04, CUDA 13.0) on 2026-11-21, as medians: by package calibrate,
// and call by call on an idle device, behind a kernel and in the lessons' own sequences of calls. Where these differ it
// is a round figure between them. grader/proof/fidelity compares whole programs. Constants marked "estimate" were not
// measured by themselves.
var H200 = Profile{
	Name:                     "NVIDIA H200",
	Memory:                   143_165 << 20, // 139.8 GiB, what the driver reports as total
	Multiprocessors:          132,
	ComputeCapability:        [2]int{9, 0},
	MaxThreads:               1024,
	ThreadsPerMultiprocessor: 2048,
	BlocksPerMultiprocessor:  32,

	Launch:        2_900, // of a kernel with arguments, some 2,550 without
	LaunchConnect: 800,   // in 32 streams in turns a launch takes so much longer than in one; in 4 no longer
	Memset:        Curve{{256, 800}, {1 << 20, 2_880}, {64 << 20, 2_880}},
	Copy:          1_090, // of pinned memory, 4 KiB: 1,110 up and 1,070 down
	CopyWithin:    3_400,
	MallocAsync:   300,
	// estimate: blocks of many sizes take 330 more than those of one in a walk, in a random mix 950
	PoolSplit:       400,
	PoolSearch:      780,   // what another stream has freed takes 1,080; behind a synchronise 1,230, with 4 streams 5,290
	PoolSearchWork:  1_150, // behind a synchronise with kernels in 1, 2 and 4 streams 2,490, 5,950 and 13,060
	FreeAsync:       350,
	EventCreate:     220,
	EventDestroy:    160,
	EventRecord:     170,
	EventTiming:     640,
	StreamCreate:    1_140,
	StreamDestroy:   4_380, // of an unused one 1,820
	StreamWaitEvent: 190,
	MemGetInfo:      3_200,
	Query:           630,
	Synchronize:     750,
	Wake:            1_650, // a synchronise that finds a kernel finished takes 2,400
	Lookup:          130,

	PoolCreate:  14_700,
	PoolDestroy: 5_000,

	MallocMapped: 1_000, // 880 to 1,330, by size and neighbours
	FreeMapped:   1_800, // and 1,650 to 2,290
	Malloc: Curve{{4 << 10, 26_000}, {16 << 20, 25_600}, {32 << 20, 40_300}, {128 << 20, 49_100}, {256 << 20, 52_000},
		{512 << 20, 55_500}, {1 << 30, 69_500}},
	Free: Curve{{4 << 10, 24_600}, {4 << 20, 24_600}, {16 << 20, 28_500}, {32 << 20, 37_800}, {64 << 20, 44_100},
		{128 << 20, 60_000},
		{256 << 20, 83_000}, {512 << 20, 131_000}, {1 << 30, 231_000}},
	PoolGrow:    Curve{{32 << 20, 39_000}, {64 << 20, 59_000}, {256 << 20, 184_000}, {1 << 30, 724_000}},
	PoolRelease: Curve{{32 << 20, 35_000}, {64 << 20, 57_000}, {256 << 20, 210_000}, {1 << 30, 890_000}},
	HostMalloc:  Curve{{64 << 10, 365_000}, {1 << 20, 364_000}, {16 << 20, 2_690_000}},
	HostFree:    Curve{{64 << 10, 172_000}, {1 << 20, 167_000}, {16 << 20, 1_200_000}},

	// One mapping of 2 MiB to 1 GiB. 64 mappings of 2 MiB, unmapped and so freed in one call, took 1,333 µs.
	AddressReserve: Curve{{16 << 20, 630}, {32 << 20, 1_500}, {1 << 30, 1_500}},
	AddressFree:    Curve{{16 << 20, 450}, {32 << 20, 1_500}, {1 << 30, 1_700}},
	MemCreate: Curve{{16 << 20, 5_800}, {32 << 20, 10_500}, {64 << 20, 5_900}, {128 << 20, 6_500}, {256 << 20, 7_200},
		{512 << 20, 9_300}, {1 << 30, 12_900}},
	MemMap: 600,
	MemSetAccess: Curve{{16 << 20, 16_400}, {32 << 20, 31_000}, {256 << 20, 32_000}, {512 << 20, 44_000},
		{1 << 30, 54_600}},
	MemUnmap: Curve{{16 << 20, 11_500}, {32 << 20, 18_700}, {256 << 20, 18_700}, {512 << 20, 22_400}, {1 << 30, 26_400}},
	MemRelease: Curve{{2 << 20, 8_400}, {4 << 20, 9_000}, {16 << 20, 12_000}, {32 << 20, 14_400}, {64 << 20, 20_100},
		{128 << 20, 32_000}, {256 << 20, 55_000}, {512 << 20, 104_000}, {1 << 30, 199_400}},

	LaunchLatency: 3_250,  // a short kernel and a synchronise take 9,400: 2,900 + this + Operation + Wake
	Operation:     1_600,  // 100 kernels of one warp in a row, 1,380 where they have nothing to do
	HtoD:          2_250,  // 50 copies of 8 bytes in a row take 2,180 a time, of 4 KiB 2,530, of 1 MiB 21,380
	DtoH:          1_450,  // and back 1,490, 1,620 and 20,460
	EventStamp:    1_450,  // between two events with nothing in between 1,280; 200 records in a row 1,640 each
	Move:          800,    // 200 memsets of 8 bytes
	PoolGap:       1_200,  // 50 rounds of allocate, a short kernel and free take 2,760 a time, the kernel alone 1,620
	StepPicos:     14_650, // kernel process: 14.65 ms for a million rounds in 16 blocks of 256
	// and 1,446 µs for 10,000 rounds in 4,096 such blocks: 64 warps take 2.54 times as long a step
	StepWarps:         25,
	MemoryBandwidth:   3_880e9, // a memset of 64 MiB
	SharedBandwidth:   4_200e9, // two memsets of 256 MiB: 139 µs with launch and synchronise, one 89
	KernelBandwidth:   1_620e9, // kernel process, 64 MiB
	ThreadBandwidth:   95e6,    // kernel touch in 8 blocks of 256
	HtoDBandwidth:     54_600e6,
	DtoHBandwidth:     54_600e6,
	LinkBandwidth:     105_000e6, // up and down at once: 256 MiB each 5.3 ms, alone 4.9; 16 MiB each 340 µs
	PageableBandwidth: 18_700e6,
	// estimate: the GPU staged 2 MiB as well, which a host that simulates it would have to hold for each copy
	StageLimit: 64 << 10,
	QueueDepth: 1022,

	Granule:     2 << 20,
	PoolStep:    32 << 20,
	Granularity: 2 << 20,
}
