// Package order finds faults in the order in which a program uses the device. It builds the happens-before relation
// of a trace, by vector clocks, and reports what that relation does not cover: unordered accesses to the same bytes,
// memory used before it exists or after it was freed, memory read before it was written, and what was never freed.
// Memory is followed through its mappings, and through the blocks that an allocator under test hands out of it.
//
// It believes what CUDA's manual promises, not what a device happened to do, so its verdict is the same on a GPU and on
// the simulator and does not depend on luck. The edges are: program order within a stream; an event's record to
// those that wait for it; a stream, event or device synchronisation, a query that answers "done" and a copy that
// returns when it is complete to all that the host does next; the host to all that it enqueues later; and
// the legacy default stream against streams that were not created non-blocking, both ways. A stream whose creation
// is not in the trace counts as one that blocks: without knowing, the checker would rather miss a fault than invent
// one.
//
// The time Check takes grows in proportion to the trace, however many streams, events and allocations it holds.
package order

import "cudalab/native/trace"

// Severity tells a fault from advice.
type Severity uint8

// An Error breaks a rule of CUDA. A Remark costs nothing: the program is right, or right in practice, and could be
// better.
const (
	Error Severity = iota + 1
	Remark
)

func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Remark:
		return "remark"
	}
	return "unknown severity"
}

// The rules, by their stable ids. From NeedlessWait on they are remarks.
const (
	UseBeforeAlloc    = "use-before-alloc"
	UseAfterFree      = "use-after-free"
	FreeBeforeUse     = "free-before-use"
	EarlyReuse        = "early-reuse"
	RevokeBeforeUse   = "revoke-before-use"
	DoubleFree        = "double-free" // a remark, as is the next, of a MemUnmap that the device accepted all the same
	InvalidFree       = "invalid-free"
	DataRace          = "data-race"
	HostRace          = "host-race"
	OverlappingCopy   = "overlapping-copy"
	UninitializedRead = "uninitialized-read"
	OutOfBounds       = "out-of-bounds"
	Leak              = "leak"
	WaitUnrecorded    = "wait-unrecorded" // a remark where the event is recorded, but only later
	UseAfterDestroy   = "use-after-destroy"
	NeedlessWait      = "needless-wait"
	freeWhilePending  = "free-while-pending"
	LegacyStream      = "legacy-stream"
	StagedCopy        = "staged-copy"
)

// Finding is one fault, however often the program repeats it.
type Finding struct {
	Rule     string
	Severity Severity
	Message  string    // what is wrong, naming the calls, streams and memory; without source positions
	Why      string    // why CUDA works that way, in one sentence
	Fix      string    // the calls that mend it
	At       int       // index into Trace.Records of the call at fault, the one made later
	Related  []Related // the other calls that matter
	Cause    *Cause    // the call that it comes of, where that shows
	from     int       // the record that At has to come behind; -1: no wait mends it
	Follows  *Finding  // the error whose wait mends this one as well; nil where none does
}

// Cause is another call than the one at fault that has to be mended: what it is given shows why the one at fault is
// one.
type Cause struct {
	At   int    // index into Trace.Records
	What string // what it does, in a sentence about "here"
	Fix  string
}

// Related is another call that a finding is about.
type Related struct {
	At   int // index into Trace.Records
	Note string
}

// Check finds the faults in t, in the order of the calls at fault. A call that was recorded entering and leaving is
// named by the record of its entering.
func Check(t *trace.Trace) []Finding { return check(newChecker(t)) }

// CheckUnwaited is Check of code in which the host must not wait: no finding says that it should.
func CheckUnwaited(t *trace.Trace) []Finding {
	c := newChecker(t)
	c.words.unwaited = true
	return check(c)
}

func check(c *checker) []Finding {
	c.follow(func(int, *trace.Record) {})
	c.leaks()
	c.unrecorded()
	c.needless()
	c.legacyByAccident()
	if c.report.races() > 1 {
		c.report.join(Of(c.words.t).Before)
	}
	if c.report.waits() > 1 {
		c.report.follow(Of(c.words.t).Before)
	}
	return c.report.sorted()
}

func newChecker(t *trace.Trace) *checker {
	c := &checker{
		words:   words{t: t, names: nameStreams(t)},
		leaves:  leaves(t.Records),
		queues:  queues{host: &queue{id: hostID}, streams: map[trace.ID]*queue{}},
		events:  map[trace.ID]*event{},
		allocs:  map[trace.ID]*allocation{},
		pools:   map[trace.ID]int{},
		pending: map[int]mark{},
		waits:   map[uint32]*waitSite{},
	}
	c.report.words = &c.words
	return c
}

// follow takes in the records one after the other, and calls made behind each, with the record that has its call's
// answer.
func (c *checker) follow(made func(i int, done *trace.Record)) {
	records := c.words.t.Records
	for i := range records {
		r := &records[i]
		done := r
		switch r.Phase {
		case trace.Call:
			c.leave(r, c.call(i, r, r))
		case trace.Enter:
			if at := c.leaves[i]; at > 0 {
				done = &records[at]
			}
			c.pending[i] = c.call(i, r, done)
		case trace.Leave:
			c.leave(r, c.pending[int(r.Pair)])
			delete(c.pending, int(r.Pair))
		}
		made(i, done)
	}
}

// leaves is, for each record of entering a call, where the record of leaving it is. It is nil where the trace has none.
func leaves(records []trace.Record) map[int]int {
	var at map[int]int
	for i := range records {
		if r := &records[i]; r.Phase == trace.Leave {
			if at == nil {
				at = map[int]int{}
			}
			at[int(r.Pair)] = i
		}
	}
	return at
}

// checker is what is known at one place of the trace.
type checker struct {
	words  words
	report report
	leaves map[int]int

	queues   queues
	events   map[trace.ID]*event
	allocs   map[trace.ID]*allocation
	pools    map[trace.ID]int // those not destroyed: the record of the call that made each
	space    space            // the addresses that memory is mapped to
	blocks   spans            // the addresses of the blocks that are handed out, by the records of that
	returned spans            // and of what was taken back in a stream, by the records of that
	spare    []*history       // of freed allocations, to be used again
	touched  []part           // of touch, kept for its memory
	pending  map[int]mark     // by the record of entering a call: what the host has waited for once it leaves
	waits    map[uint32]*waitSite
	legacy   legacyUse
	ended    map[object]int // see destroyed; nil until it is needed
}

// call takes in one call: r is its record, or that of entering it, and done the record that has its answer. It
// returns what the host will have waited for when the call has succeeded.
func (c *checker) call(i int, r, done *trace.Record) mark {
	if done.Code != 0 {
		c.failed(i, r, done)
		return mark{}
	}
	switch r.Op {
	case trace.OpStreamCreate:
		c.queues.stream(r.Stream).create(i, r.Flags)
	case trace.OpStreamDestroy:
		c.queues.stream(r.Stream).destroyed = true
	case trace.OpStreamSynchronize, trace.OpStreamQuery:
		return c.syncStream(i, r)
	case trace.OpStreamWaitEvent:
		c.waitEvent(i, r)
	case trace.OpEventCreate:
		c.events[r.Event] = &event{id: r.Event, made: i, known: r.Site != 0}
	case trace.OpEventDestroy:
		c.destroyEvent(r.Event)
	case trace.OpEventRecord:
		c.event(r.Event).mark = c.queues.enqueue(r.Stream, i).mark()
	case trace.OpEventSynchronize, trace.OpEventQuery:
		return c.syncEvent(i, r)
	case trace.OpEventElapsedTime:
		return mark{clock: c.event(r.Event).mark.all().join(c.event(r.Event2).mark.all())}
	case trace.OpDeviceSynchronize:
		return mark{clock: clock{floor: position(i)}}
	case trace.OpMalloc, trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpMallocHost, trace.OpMemCreate:
		c.allocate(i, r, done)
	case trace.OpMemPoolCreate:
		c.pools[r.Pool] = i
	case trace.OpMemPoolDestroy:
		delete(c.pools, r.Pool)
	case trace.OpFree, trace.OpFreeAsync, trace.OpFreeHost:
		c.free(i, r)
	case trace.OpMemAddressReserve:
		c.reserve(i, done)
	case trace.OpMemAddressFree:
		c.giveBack(i, r)
	case trace.OpMemRelease:
		c.release(i, r)
	case trace.OpMemMap:
		c.mapMemory(i, r)
	case trace.OpMemUnmap:
		c.unmap(i, r)
	case trace.OpMemSetAccess:
		c.setAccess(i, r)
	case trace.OpBlockAlloc:
		c.handOut(i, r)
	case trace.OpBlockFree:
		c.takeBack(i, r)
	case trace.OpHostRead, trace.OpHostWrite:
		c.access(i, r, c.queues.host)
	case trace.OpMemcpyHtoD, trace.OpMemcpyDtoH, trace.OpMemcpyDtoD, trace.OpMemcpyHtoDAsync, trace.OpMemcpyDtoHAsync,
		trace.OpMemcpyDtoDAsync, trace.OpMemset, trace.OpMemsetAsync, trace.OpLaunch:
		return c.work(i, r)
	}
	return mark{}
}

// leave gives the host what a call that succeeded has waited for.
func (c *checker) leave(r *trace.Record, waited mark) {
	if r.Code == 0 {
		c.queues.hostWaited(waited)
	}
}

// work enqueues a copy, a memset or a launch, and checks what it touches.
func (c *checker) work(i int, r *trace.Record) mark {
	q := c.queues.enqueue(r.Stream, i)
	if r.Op == trace.OpMemcpyDtoD || r.Op == trace.OpMemcpyDtoDAsync {
		c.overlap(i, r)
	}
	c.access(i, r, q)
	c.legacy.note(i, r)
	if waits(r) {
		return q.mark()
	}
	return mark{}
}

// waits reports whether a copy returns only when it is complete (CUDA driver API, "API synchronization behavior"):
// synchronous copies to the host and out of pinned memory, and asynchronous ones into pageable memory.
// A copy from pageable memory may return once it is staged; memsets and copies within the device return at once.
func waits(r *trace.Record) bool {
	switch r.Op {
	case trace.OpMemcpyDtoH:
		return true
	case trace.OpMemcpyHtoD:
		return r.Host == trace.Pinned
	case trace.OpMemcpyDtoHAsync:
		return r.Host == trace.Pageable
	}
	return false
}

// The answer that tells a wrong argument from all that may go wrong through no fault of this call (CUresult in cuda.h).
const invalidValue = 1

// failed takes in a call that had no effect. What it names may still be a fault of the program's.
func (c *checker) failed(i int, r, done *trace.Record) {
	if done.Stale {
		c.stale(i, r)
		return
	}
	switch r.Op {
	case trace.OpFree, trace.OpFreeAsync, trace.OpFreeHost:
		c.failedFree(i, r, done)
	case trace.OpStreamDestroy:
		if done.Faked {
			c.queues.stream(r.Stream).destroyed = true
		}
	case trace.OpEventDestroy:
		if done.Faked {
			c.destroyEvent(r.Event)
		}
	case trace.OpMemPoolDestroy:
		if done.Faked {
			delete(c.pools, r.Pool)
		}
	case trace.OpMemAddressFree:
		c.failedGiveBack(i, r, done)
	case trace.OpMemRelease:
		c.failedRelease(i, r, done)
	case trace.OpMemUnmap:
		c.failedUnmap(i, r, done)
	default:
		if done.Code == invalidValue && !done.Faked {
			c.failedAccess(i, r)
		}
	}
}
