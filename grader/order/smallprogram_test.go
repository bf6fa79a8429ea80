package order

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"cudalab/native/trace"
)

// steps is a program without sense, in which everything meets everything: few streams and events, and accesses to small
// pieces of little memory.
type steps struct {
	flags   []uint32 // of the streams 1, 2, ...
	bytes   int64    // of every allocation
	virtual bool     // it has virtual memory, and blocks of memory
	list    []step
}

// step is a call. Memory and events are named by places that hold one after another; a step that names an empty place,
// or a stream that is destroyed, is left out. So any steps make a program, whichever are taken away.
type step struct {
	op            trace.Op
	host          trace.HostMemory
	stream        trace.ID
	event, event2 int
	// what is written, or updated, and what is read; of a mapping the addresses and the memory; of a block its bytes and
	// its place
	to, from piece
	update   bool // the launch updates atomically
	notReady bool // the query's answer
	slots    int  // that are unmapped, or given an access, at once
	access   uint32
	inStream bool // the block is handed out, or taken back, in the order of the stream
}

// piece is some bytes of the memory in a place; none if it has no size.
type piece struct {
	place    int
	lo, size int64
}

// The places of memory.
const (
	old    = 0 // device memory from before the program, with something in it
	made   = 1 // and 2: device memory that the program makes and frees
	pinned = 3 // host memory, at first from before the program too
	places = 4

	slot    = places      // and the next two: addresses that physical memory is mapped to; the first two lie side by side
	handed  = slot + 3    // and 8: blocks of other memory
	handles = handed + 2  // and 10: physical memory
	nothing = handles + 2 // behind the last place
)

const eventPlaces = 2

// randomProgram is a program of a number of steps on at most so many streams, with allocations of so many bytes.
func randomProgram(random *rand.Rand, length, streams int, bytes int64) *steps {
	p := &steps{bytes: bytes, virtual: random.IntN(2) == 0}
	for range 1 + random.IntN(streams) {
		p.flags = append(p.flags, []uint32{0, nonBlocking, nonBlocking}[random.IntN(3)])
	}
	for place := made; place < pinned; place++ {
		if random.IntN(2) == 0 {
			p.list = append(p.list, step{op: trace.OpMallocAsync, stream: p.randomStream(random), to: piece{place: place}})
		}
	}
	if p.virtual {
		p.list = append(p.list, p.randomMapping(random)...)
		if random.IntN(2) == 0 {
			p.list = append(p.list, p.randomMapping(random)...)
		}
		if random.IntN(2) == 0 {
			p.list = append(p.list, p.randomBlock(random)...)
		}
	}
	for len(p.list) < length {
		if p.virtual && random.IntN(4) == 0 {
			p.list = append(p.list, p.randomVirtual(random)...)
		} else {
			p.list = append(p.list, p.randomSteps(random)...)
		}
	}
	return p
}

// randomStream is seldom the legacy default stream, which orders so much that little is left to see.
func (p *steps) randomStream(random *rand.Rand) trace.ID {
	if random.IntN(8) == 0 {
		return legacyID
	}
	return trace.ID(1 + random.IntN(len(p.flags)))
}

func (p *steps) randomPiece(random *rand.Rand, place int) piece {
	switch random.IntN(4) {
	case 0:
		return piece{place, 0, p.bytes}
	case 1:
		return piece{place, 0, 1}
	}
	lo := random.Int64N(p.bytes)
	return piece{place, lo, 1 + random.Int64N(min(p.bytes-lo, 3))}
}

// randomSteps are one step, or a few that go together.
func (p *steps) randomSteps(random *rand.Rand) []step {
	s := step{stream: p.randomStream(random), event: random.IntN(eventPlaces), event2: random.IntN(eventPlaces)}
	one := func(ops ...trace.Op) []step {
		s.op = ops[random.IntN(len(ops))]
		return []step{s}
	}
	switch n := random.IntN(100); {
	case n < 30:
		return p.randomLaunch(random, s)
	case n < 44: // an edge from one stream to another
		wait := s
		s.stream, wait.op = p.randomStream(random), trace.OpStreamWaitEvent
		return append(one(trace.OpEventRecord), wait)
	case n < 47:
		return one(trace.OpEventRecord)
	case n < 49:
		return one(trace.OpStreamWaitEvent)
	case n < 52:
		return one(trace.OpStreamSynchronize, trace.OpStreamQuery)
	case n < 54:
		return one(trace.OpEventSynchronize, trace.OpEventQuery, trace.OpEventElapsedTime)
	case n < 55:
		s.notReady = true
		return one(trace.OpStreamQuery, trace.OpEventQuery)
	case n < 56:
		return one(trace.OpDeviceSynchronize)
	case n < 68:
		s.to.place = made + random.IntN(2)
		list := one(trace.OpMallocAsync, trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpMalloc, trace.OpMalloc,
			trace.OpBlockAlloc)
		if random.IntN(2) == 0 {
			s.to.size = p.bytes
			list = append(list, one(trace.OpMemsetAsync)...)
		}
		return list
	case n < 75:
		s.to.place = made + random.IntN(2)
		return one(trace.OpFreeAsync, trace.OpFreeAsync, trace.OpFree)
	case n < 77:
		s.to.place = pinned
		return one(trace.OpMallocHost, trace.OpFreeHost)
	case n < 81:
		s.to = p.randomPiece(random, pinned)
		return one(trace.OpHostWrite)
	case n < 85:
		s.from = p.randomPiece(random, pinned)
		return one(trace.OpHostRead)
	case n < 86:
		return one(trace.OpStreamDestroy, trace.OpEventDestroy)
	case n < 89:
		s.to = p.randomReach(random)
		return one(trace.OpMemset, trace.OpMemsetAsync)
	}
	return p.randomCopy(random, s)
}

// randomLaunch is mostly of a kernel that writes or reads, seldom of one that updates atomically, or does both.
func (p *steps) randomLaunch(random *rand.Rand, s step) []step {
	s.op = trace.OpLaunch
	some := p.randomReach(random)
	switch n := random.IntN(8); {
	case n == 0:
		s.to, s.from = some, p.randomPiece(random, p.randomPlace(random))
	case n == 1:
		s.to, s.update = some, true
	case n < 5:
		s.to = some
	default:
		s.from = some
	}
	return []step{s}
}

func (p *steps) randomCopy(random *rand.Rand, s step) []step {
	s.to, s.from = p.randomPiece(random, p.randomPlace(random)), p.randomPiece(random, p.randomPlace(random))
	s.to.size = min(s.to.size, s.from.size)
	s.from.size = s.to.size
	synchronous := random.IntN(3) == 0
	op := func(async, sync trace.Op) {
		if s.op = async; synchronous {
			s.op = sync
		}
	}
	switch random.IntN(5) {
	case 0:
		op(trace.OpMemcpyDtoDAsync, trace.OpMemcpyDtoD)
		return []step{s}
	case 1, 2:
		op(trace.OpMemcpyDtoHAsync, trace.OpMemcpyDtoH)
		s.to.place = pinned
	default:
		op(trace.OpMemcpyHtoDAsync, trace.OpMemcpyHtoD)
		s.from.place = pinned
	}
	s.host = []trace.HostMemory{trace.Pageable, trace.Pinned}[random.IntN(2)]
	return []step{s}
}

// shrink takes away whatever p can do without and still fail.
func (p *steps) shrink(fails func(*steps) bool) *steps {
	for again := true; again; {
		again = false
		try := func(q *steps) {
			if fails(q) {
				p, again = q, true
			}
		}
		for i := len(p.list) - 1; i >= 0; i-- {
			try(&steps{p.flags, p.bytes, p.virtual, slices.Delete(slices.Clone(p.list), i, i+1)})
		}
		for i, s := range p.list {
			s.to.lo, s.from.lo = 0, 0
			s.to.size, s.from.size = min(s.to.size, 1), min(s.from.size, 1)
			s.slots = min(s.slots, 1)
			if s != p.list[i] {
				try(&steps{p.flags, p.bytes, p.virtual, slices.Concat(p.list[:i], []step{s}, p.list[i+1:])})
			}
		}
		for i, flags := range p.flags {
			if flags != nonBlocking {
				try(&steps{slices.Concat(p.flags[:i], []uint32{nonBlocking}, p.flags[i+1:]), p.bytes, p.virtual, p.list})
			}
		}
	}
	return p
}

// String is the program's calls with their numbers, by which verdicts name them.
func (p *steps) String() string {
	var b strings.Builder
	for i, flags := range p.flags {
		fmt.Fprintf(&b, "stream %d is created with flags %d\n", i+1, flags)
	}
	built := p.build()
	for i, c := range built.calls {
		r := &built.trace.Records[c.record]
		fmt.Fprintf(&b, "%2d %v: stream %d, event %d, memory %d, host memory %d", i, r.Op, r.Stream, r.Event, r.Alloc, r.Host)
		if r.Size > 0 {
			fmt.Fprintf(&b, ", %d bytes at 0x%x, flags %d", r.Size, r.Addr, r.Flags)
		}
		for _, x := range r.Accesses {
			fmt.Fprintf(&b, ", %s bytes %d to %d of %d", verb(x.Kind), x.Offset, x.Offset+x.Size, x.Alloc)
			if x.Addr > 0 {
				fmt.Fprintf(&b, " at 0x%x", x.Addr)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
