// Package sim is a simulated NVIDIA GPU in pure Go: a device.Device that answers the driver API's calls as the GPU
// does, code for code, on a machine that has none. What it does is what an H200 was measured to do; where nothing was
// measured it is what NVIDIA's driver API manual says.
//
// # Time
//
// There is no real time in it. Every call advances a virtual host clock by what the call costs on the host (Profile),
// Go code between calls costs nothing, and a call that waits moves the clock to the end of what it waits for. When an
// operation starts and ends on the device is decided as it is enqueued: it starts once its stream and the events it
// waits for allow, and runs as fast as it can with what earlier ones leave of the device (thread slots of the
// multiprocessors, memory bandwidth, a copy engine).
//
// # Memory
//
// What an operation does to memory happens as late as is legal: when the host learns that the operation has finished,
// or when another operation that is ordered behind it runs. Work that nothing orders therefore sees garbage, as it may
// on a GPU. Memory is filled with poisonByte when it is allocated and when it is freed. To keep long programs in
// bounded space, operations whose end has passed on the clock are run early when thousands are outstanding, and before
// memory goes back to the system.
//
// Kernels and copies touch whatever is mapped, as on a GPU: the heap of MemAlloc maps 2 MiB granules, pools map steps
// of 32 MiB, and what MemMap has mapped counts while MemSetAccess gives access to it. An access outside answers
// ErrorIllegalAddress, and so does every later call that answers a code; only Info, Now, HostRead, HostWrite and Close
// go on as before.
//
// The same calls with the same Options give the same answers, bytes and times, always.
package sim

import (
	"cmp"
	"sync"

	"cudalab/native/device"
)

// Options say which device is simulated. The zero value is a whole H200.
type Options struct {
	Profile *Profile // nil: H200
	Seed    uint64   // chooses the schedule that Jitter makes
	Memory  uint64   // device memory in bytes; 0: the profile's. It never says that it has more than that
	Longest int64    // that an operation takes which has the device to itself, in nanoseconds; 0: any time
	Jitter  bool     // vary the durations of operations, between half and twice the profile's: another legal schedule

	// Granularity of virtual memory management, minimum and recommended: a power of two, at least 4 KiB. 0: the profile's.
	Granularity uint64
	// PoolStep is what a memory pool grows by multiples of, in bytes: a power of two, at least 2 MiB. 0: the profile's.
	PoolStep uint64
}

// Device is one simulated GPU. It is safe for use from any goroutine.
type Device struct {
	mu      sync.Mutex
	profile *Profile
	jitter  bool
	longest int64  // see Options
	idle    bool   // operations move nothing; see TimeOnly
	random  uint64 // state of the jitter's generator

	now   int64       // the virtual host clock
	fault device.Code // the sticky error, once there is one

	limit    uint64 // bytes of device memory
	poolStep uint64 // what pools grow by multiples of, in bytes
	reserved uint64 // bytes taken, by all heaps together and by MemCreate
	mem      memory
	heap     heap    // MemAlloc's
	pools    []*pool // the first is the default pool; destroyed ones that hold memory are among them
	current  *pool   // MemAllocAsync's
	virtual  virtual // MemCreate's memory and the addresses it is mapped at
	pinned   hostMemory

	handles uint64 // the last handle given out
	streams map[device.Stream]*stream
	events  map[device.Event]*event
	legacy  *stream
	order   []*stream // every live stream, and destroyed ones with work outstanding, oldest first
	pruneAt int       // length of order at which destroyed streams are looked for
	vacant  []*stream // destroyed streams without work, whose slots new ones take
	slots   int       // slots in use or vacant

	outstanding []*op // operations enqueued and perhaps not yet run, oldest first
	settleAt    int   // length of outstanding at which those that have ended are run
	stack       []*op // run's, kept for the next time
	seen        clock // what the host knows to be finished
	awaited     clock // of that, what it has waited for: pools take no notice of queries
	seenVersion uint64

	threads   timeline // thread slots of all multiprocessors
	grids     timeline // kernels that run at a time
	issue     timeline // warps that all multiprocessors can run at full speed
	bandwidth timeline // device memory, MB/s
	link      timeline // to the host and from it together, MB/s
	htod      timeline // the two copy engines
	dtoh      timeline

	connected [connections]*stream // the streams that kernels were last launched in, the last first
}

var _ device.Device = (*Device)(nil)

// New makes a device. It costs microseconds; memory is made as it is touched.
func New(o Options) *Device {
	p := o.Profile
	if p == nil {
		p = &H200
	}
	d := &Device{
		profile:  p,
		longest:  cmp.Or(o.Longest, longest),
		jitter:   o.Jitter,
		random:   o.Seed,
		limit:    o.Memory,
		handles:  firstHandle,
		streams:  map[device.Stream]*stream{},
		events:   map[device.Event]*event{},
		settleAt: settleLength,
		pruneAt:  pruneLength,
	}
	if d.limit == 0 {
		d.limit = p.Memory
	}
	d.poolStep = cmp.Or(o.PoolStep, p.PoolStep)
	d.virtual = newVirtual(cmp.Or(o.Granularity, p.Granularity))
	d.heap = newHeap(heapBase, reach, p.Granule)
	d.pools = []*pool{newPool(device.Pool(d.newHandle()), poolBase, d.poolStep)}
	if d.limit > reach {
		d.heap = newHeap(farHeapBase, farHeapReach, p.Granule)
		d.pools[0].heap = newHeap(farPoolBase, farPoolReach, d.poolStep)
	}
	d.current = d.pools[0]
	d.threads.capacity = int64(p.Multiprocessors) * p.ThreadsPerMultiprocessor
	d.grids.capacity = maxGrids
	d.issue.capacity = int64(p.Multiprocessors) * p.StepWarps
	d.issue.capacity += d.issue.capacity / spareIssue
	d.bandwidth.capacity = p.SharedBandwidth / megabyte
	d.link.capacity = p.LinkBandwidth / megabyte
	d.htod.capacity, d.dtoh.capacity = 1, 1
	d.legacy = d.newStream(0, true)
	return d
}

// Handles count up and are never given out twice, so that a stale one is always found out.
const (
	firstHandle = 0x10000
	handleStep  = 0x10
)

func (d *Device) newHandle() uint64 {
	d.handles += handleStep
	return d.handles
}

// NamePrefix is what the name of a simulated device has in front of that of the GPU.
const NamePrefix = "simulated "

// Info describes the device.
func (d *Device) Info() device.Info {
	return device.Info{
		Kind:              device.Sim,
		Name:              NamePrefix + d.profile.Name,
		TotalMemory:       d.total(),
		Multiprocessors:   d.profile.Multiprocessors,
		ComputeCapability: d.profile.ComputeCapability,
		MemoryPools:       true,
		VirtualMemory:     true,
		MaxThreads:        d.profile.MaxThreads,

		ThreadsPerMultiprocessor: int(d.profile.ThreadsPerMultiprocessor),
		BlocksPerMultiprocessor:  int(d.profile.BlocksPerMultiprocessor),
	}
}

// Now is the virtual host clock in nanoseconds since New.
func (d *Device) Now() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// Close gives the simulated memory back.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mem.close()
	d.virtual = virtual{}
	d.pinned = hostMemory{}
	d.outstanding = nil
	return nil
}

// begin opens a call: it charges what the call costs on the host and answers the sticky error, if there is one.
func (d *Device) begin(cost int64) device.Code {
	d.now += cost
	return d.fault
}

// CtxSynchronize waits for all work on the device.
func (d *Device) CtxSynchronize() device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Synchronize); c != device.Success {
		return c
	}
	d.waitForDevice()
	d.release()
	return d.fault
}

// MemGetInfo answers how much memory is left: what MemAlloc's heap and the pools hold from the system is not, whole
// granules (2 MiB) and pool steps (32 MiB), even where a program uses only part of one. Nor is what MemCreate has made,
// mapped or not.
func (d *Device) MemGetInfo() (free, total uint64, code device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.MemGetInfo); c != device.Success {
		return 0, 0, c
	}
	total = d.total()
	return total - min(d.reserved, total), total, device.Success
}

// total is how much memory the device says it has: by a larger number than its kind's, code could tell one that is
// given memory for anything from the others.
func (d *Device) total() uint64 { return min(d.limit, d.profile.Memory) }
