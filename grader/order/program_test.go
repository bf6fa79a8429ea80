package order

import (
	"fmt"
	"runtime"

	"cudalab/native/trace"
)

// program is what the scenarios are written in. One implementation makes the trace up, the other makes real calls on
// the simulator and records them; the checker has to find the same in both.
type program interface {
	Stream(flags uint32) trace.ID // 0 is the legacy default stream
	DestroyStream(s trace.ID)
	Event() trace.ID
	DestroyEvent(e trace.ID)
	Record(e, s trace.ID)
	Wait(s, e trace.ID)
	SyncStream(s trace.ID)
	SyncEvent(e trace.ID)
	SyncDevice()
	PollStream(s trace.ID) // asks until the answer is "done"
	PollEvent(e trace.ID)

	Pool() trace.ID
	DestroyPool(x trace.ID)
	MallocFromPool(size int64, x, s trace.ID) trace.ID // MallocFromPoolAsync

	Malloc(size int64) trace.ID
	MallocAsync(size int64, s trace.ID) trace.ID
	MallocHost(size int64) trace.ID
	Free(m trace.ID)
	FreeAt(m trace.ID, offset int64)
	FreeAsync(m, s trace.ID)
	FreeHost(m trace.ID)

	Launch(kind trace.AccessKind, m trace.ID, offset, size int64, s trace.ID)
	Memset(m trace.ID, size int64)
	MemsetAsync(m trace.ID, size int64, s trace.ID)
	CopyIn(m trace.ID, size int64)  // MemcpyHtoD from pageable memory
	CopyOut(m trace.ID, size int64) // MemcpyDtoH to pageable memory
	CopyInAsync(m, pinned trace.ID, size int64, s trace.ID)
	CopyOutAsync(pinned, m trace.ID, size int64, s trace.ID)
	CopyOutPageableAsync(m trace.ID, size int64, s trace.ID)
	Copy(to, from trace.ID, size int64) // MemcpyDtoD
	HostRead(pinned trace.ID, size int64)
	HostWrite(pinned trace.ID, size int64)

	virtual
}

// kernels' names by what they do.
var kernelNames = map[trace.AccessKind]string{trace.Read: "read", trace.Write: "write", trace.Atomic: "count"}

// handmade makes a trace up, record by record.
type handmade struct {
	t       trace.Trace
	sites   map[[12]uintptr]uint32
	streams trace.ID
	events  trace.ID
	pools   trace.ID
	sizes   []int64 // by allocation, from 1
	freed   map[trace.ID]bool
	gone    map[object]bool
	addressing
}

func newHandmade() *handmade {
	return &handmade{
		t:     trace.Trace{Sites: []trace.Site{nil}},
		sites: map[[12]uintptr]uint32{},
		sizes: []int64{0},
		freed: map[trace.ID]bool{},
		gone:  map[object]bool{},

		addressing: newAddressing(),
	}
}

// add appends r, called from the function that called a method of h.
func (h *handmade) add(r trace.Record) int {
	h.refuseStale(&r)
	var pcs [12]uintptr
	runtime.Callers(3, pcs[:])
	site, ok := h.sites[pcs]
	if !ok {
		site = uint32(len(h.t.Sites))
		h.sites[pcs] = site
		h.t.Sites = append(h.t.Sites, trace.Site{{Func: fmt.Sprint("site ", site)}})
	}
	r.Site = site
	h.t.Records = append(h.t.Records, r)
	return len(h.t.Records) - 1
}

// refuseStale has r refused if it names what was destroyed before.
func (h *handmade) refuseStale(r *trace.Record) {
	for _, x := range named(r) {
		switch {
		case h.gone[x] && x.op == trace.OpMemRelease, h.gone[x] && x.op == trace.OpMemPoolDestroy:
			r.Stale, r.Code, r.Accesses = true, invalidValue, nil
		case h.gone[x]:
			r.Stale, r.Code, r.Accesses = true, invalidHandle, nil
		case x.op == r.Op && r.Code == 0:
			h.gone[x] = true
		}
	}
}

const invalidHandle = 400

// both appends the two halves of a call that may wait.
func (h *handmade) both(r trace.Record) {
	r.Phase = trace.Enter
	code := r.Code
	r.Code = 0
	at := h.add(r)
	r = h.t.Records[at]
	r.Phase, r.Pair, r.Code = trace.Leave, int32(at), code
	h.t.Records = append(h.t.Records, r)
}

func (h *handmade) Stream(flags uint32) trace.ID {
	h.streams++
	h.add(trace.Record{Op: trace.OpStreamCreate, Stream: h.streams, Flags: flags})
	return h.streams
}

func (h *handmade) DestroyStream(s trace.ID) {
	h.add(trace.Record{Op: trace.OpStreamDestroy, Stream: s})
}

func (h *handmade) Event() trace.ID {
	h.events++
	h.add(trace.Record{Op: trace.OpEventCreate, Event: h.events})
	return h.events
}

func (h *handmade) Pool() trace.ID {
	h.pools++
	h.add(trace.Record{Op: trace.OpMemPoolCreate, Pool: h.pools})
	return h.pools
}

func (h *handmade) DestroyPool(x trace.ID) { h.add(trace.Record{Op: trace.OpMemPoolDestroy, Pool: x}) }

func (h *handmade) MallocFromPool(size int64, x, s trace.ID) trace.ID {
	m := h.allocation(size)
	h.add(trace.Record{Op: trace.OpMallocFromPoolAsync, Stream: s, Pool: x, Alloc: m, Addr: h.addr(m, 0), Size: size})
	return m
}

func (h *handmade) DestroyEvent(e trace.ID) { h.add(trace.Record{Op: trace.OpEventDestroy, Event: e}) }
func (h *handmade) Record(e, s trace.ID) {
	h.add(trace.Record{Op: trace.OpEventRecord, Event: e, Stream: s})
}
func (h *handmade) Wait(s, e trace.ID) {
	h.add(trace.Record{Op: trace.OpStreamWaitEvent, Event: e, Stream: s})
}
func (h *handmade) SyncStream(s trace.ID) {
	h.both(trace.Record{Op: trace.OpStreamSynchronize, Stream: s})
}
func (h *handmade) SyncEvent(e trace.ID) {
	h.both(trace.Record{Op: trace.OpEventSynchronize, Event: e})
}
func (h *handmade) SyncDevice() { h.both(trace.Record{Op: trace.OpDeviceSynchronize}) }

const notReady = 600

func (h *handmade) PollStream(s trace.ID) {
	h.add(trace.Record{Op: trace.OpStreamQuery, Stream: s, Code: notReady})
	h.add(trace.Record{Op: trace.OpStreamQuery, Stream: s})
}

func (h *handmade) PollEvent(e trace.ID) {
	h.add(trace.Record{Op: trace.OpEventQuery, Event: e, Code: notReady})
	h.add(trace.Record{Op: trace.OpEventQuery, Event: e})
}

func (h *handmade) allocation(size int64) trace.ID {
	h.sizes = append(h.sizes, size)
	return trace.ID(len(h.sizes) - 1)
}

func (h *handmade) addr(m trace.ID, offset int64) uint64 { return uint64(m)<<20 + uint64(offset) }

func (h *handmade) Malloc(size int64) trace.ID {
	m := h.allocation(size)
	h.add(trace.Record{Op: trace.OpMalloc, Alloc: m, Addr: h.addr(m, 0), Size: size})
	return m
}

func (h *handmade) MallocAsync(size int64, s trace.ID) trace.ID {
	m := h.allocation(size)
	h.add(trace.Record{Op: trace.OpMallocAsync, Stream: s, Alloc: m, Addr: h.addr(m, 0), Size: size})
	return m
}

func (h *handmade) MallocHost(size int64) trace.ID {
	m := h.allocation(size)
	h.both(trace.Record{Op: trace.OpMallocHost, Alloc: m, Addr: h.addr(m, 0), Size: size})
	enter := &h.t.Records[len(h.t.Records)-2]
	enter.Alloc, enter.Addr = 0, 0
	return m
}

// freeing is the record of a free; it fails as it does on a device.
func (h *handmade) freeing(op trace.Op, m trace.ID, offset int64) trace.Record {
	r := trace.Record{Op: op, Alloc: m, Addr: h.addr(m, offset), Freed: h.freed[m]}
	if r.Freed || offset != 0 {
		r.Code = invalidValue
	} else {
		h.freed[m] = true
	}
	return r
}

func (h *handmade) Free(m trace.ID)                 { h.both(h.freeing(trace.OpFree, m, 0)) }
func (h *handmade) FreeAt(m trace.ID, offset int64) { h.both(h.freeing(trace.OpFree, m, offset)) }
func (h *handmade) FreeHost(m trace.ID)             { h.both(h.freeing(trace.OpFreeHost, m, 0)) }
func (h *handmade) FreeAsync(m, s trace.ID) {
	r := h.freeing(trace.OpFreeAsync, m, 0)
	r.Stream = s
	h.add(r)
}

func (h *handmade) access(kind trace.AccessKind, m trace.ID, offset, size int64, arg uint8) trace.Access {
	return h.resolve(trace.Access{Alloc: m, Freed: h.freed[m], Offset: offset, Size: size, Kind: kind, Arg: arg})
}

// checked is r with the accesses, which all but a launch are refused for if they are wrong.
func (h *handmade) checked(r trace.Record, accesses ...trace.Access) trace.Record {
	r.Accesses = accesses
	for _, x := range accesses {
		if h.refuses(x) {
			r.Code = invalidValue
		}
	}
	return r
}

func (h *handmade) Launch(kind trace.AccessKind, m trace.ID, offset, size int64, s trace.ID) {
	h.add(trace.Record{Op: trace.OpLaunch, Kernel: kernelNames[kind], Stream: s,
		Accesses: h.split(h.access(kind, m, offset, size, 0))})
}

func (h *handmade) Memset(m trace.ID, size int64) {
	h.add(h.checked(trace.Record{Op: trace.OpMemset}, h.access(trace.Write, m, 0, size, 0)))
}

func (h *handmade) MemsetAsync(m trace.ID, size int64, s trace.ID) {
	h.add(h.checked(trace.Record{Op: trace.OpMemsetAsync, Stream: s}, h.access(trace.Write, m, 0, size, 0)))
}

func (h *handmade) CopyIn(m trace.ID, size int64) {
	h.both(h.checked(trace.Record{Op: trace.OpMemcpyHtoD, Host: trace.Pageable}, h.access(trace.Write, m, 0, size, 0)))
}

func (h *handmade) CopyOut(m trace.ID, size int64) {
	h.both(h.checked(trace.Record{Op: trace.OpMemcpyDtoH, Host: trace.Pageable}, h.access(trace.Read, m, 0, size, 1)))
}

func (h *handmade) CopyInAsync(m, pinned trace.ID, size int64, s trace.ID) {
	h.add(h.checked(trace.Record{Op: trace.OpMemcpyHtoDAsync, Host: trace.Pinned, Stream: s},
		h.access(trace.Write, m, 0, size, 0), h.access(trace.Read, pinned, 0, size, 1)))
}

func (h *handmade) CopyOutAsync(pinned, m trace.ID, size int64, s trace.ID) {
	h.add(h.checked(trace.Record{Op: trace.OpMemcpyDtoHAsync, Host: trace.Pinned, Stream: s},
		h.access(trace.Write, pinned, 0, size, 0), h.access(trace.Read, m, 0, size, 1)))
}

func (h *handmade) CopyOutPageableAsync(m trace.ID, size int64, s trace.ID) {
	h.both(h.checked(trace.Record{Op: trace.OpMemcpyDtoHAsync, Host: trace.Pageable, Stream: s},
		h.access(trace.Read, m, 0, size, 1)))
}

func (h *handmade) Copy(to, from trace.ID, size int64) {
	h.add(h.checked(trace.Record{Op: trace.OpMemcpyDtoD},
		h.access(trace.Write, to, 0, size, 0), h.access(trace.Read, from, 0, size, 1)))
}

func (h *handmade) HostRead(pinned trace.ID, size int64) {
	h.add(h.checked(trace.Record{Op: trace.OpHostRead, Host: trace.Pinned, Size: size},
		h.access(trace.Read, pinned, 0, size, 0)))
}

func (h *handmade) HostWrite(pinned trace.ID, size int64) {
	h.add(h.checked(trace.Record{Op: trace.OpHostWrite, Host: trace.Pinned, Size: size},
		h.access(trace.Write, pinned, 0, size, 0)))
}
