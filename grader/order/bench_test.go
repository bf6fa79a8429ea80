package order

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"cudalab/native/trace"
)

// workloads make right traces of about n records, each hard on another part of the checker.
var workloads = []struct {
	name string
	make func(n int) *trace.Trace
}{
	{"pipeline", pipeline}, {"events", ringOfEvents}, {"short-lived-streams", shortLivedStreams}, {"pieces", pieces},
	{"readers", manyReaders}, {"blocks", manyBlocks}, {"mappings", growingArena},
}

// BenchmarkCheck reports how many records a second are checked; the rate must not depend on the size of the trace.
func BenchmarkCheck(b *testing.B) {
	for _, w := range workloads {
		for _, n := range []int{1e4, 1e5, 1e6} {
			b.Run(fmt.Sprintf("%s/%.0e", w.name, float64(n)), func(b *testing.B) {
				t := w.make(n)
				if found := Check(t); len(found) > 0 {
					b.Fatalf("a right trace has findings: %v", found[0])
				}
				for b.Loop() {
					Check(t)
				}
				b.ReportMetric(float64(len(t.Records))*float64(b.N)/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}

// tape is a trace being written, without sites.
type tape struct{ trace.Trace }

func (p *tape) add(op trace.Op, stream, event, alloc trace.ID, accesses ...trace.Access) {
	p.Records = append(p.Records, trace.Record{
		Op: op, Stream: stream, Event: event, Alloc: alloc, Size: 1 << 20, Accesses: accesses, Flags: nonBlocking,
	})
}

func whole(m trace.ID, kind trace.AccessKind) trace.Access {
	return trace.Access{Alloc: m, Size: 1 << 20, Kind: kind}
}

func (p *tape) streams(n trace.ID) {
	for s := range n {
		p.add(trace.OpStreamCreate, s+1, 0, 0)
	}
}

// pipeline is batches on four streams, each allocated, set, written, read and freed in its stream.
func pipeline(n int) *trace.Trace {
	p := &tape{}
	p.streams(4)
	for m := trace.ID(1); len(p.Records) < n; m++ {
		s := m%4 + 1
		p.add(trace.OpMallocAsync, s, 0, m)
		p.add(trace.OpMemsetAsync, s, 0, 0, whole(m, trace.Write))
		p.add(trace.OpLaunch, s, 0, 0, whole(m, trace.Read), whole(m, trace.Write))
		p.add(trace.OpLaunch, s, 0, 0, whole(m, trace.Read))
		p.add(trace.OpFreeAsync, s, 0, m)
	}
	return &p.Trace
}

// ringOfEvents passes one buffer around a ring of sixteen streams, by events that are never waited for by the host.
func ringOfEvents(n int) *trace.Trace {
	p := &tape{}
	p.streams(16)
	p.add(trace.OpMalloc, 0, 0, 1)
	for i := trace.ID(0); len(p.Records) < n; i++ {
		s, e := i%16+1, i%64+1
		p.add(trace.OpLaunch, s, 0, 0, whole(1, trace.Write))
		p.add(trace.OpEventRecord, s, e, 0)
		p.add(trace.OpStreamWaitEvent, (i+1)%16+1, e, 0)
	}
	return &p.Trace
}

// shortLivedStreams forks a new stream and a new event off one main stream for each piece of work, and joins it.
func shortLivedStreams(n int) *trace.Trace {
	p := &tape{}
	p.streams(1)
	p.add(trace.OpMalloc, 0, 0, 1)
	p.add(trace.OpMemsetAsync, 1, 0, 0, whole(1, trace.Write))
	for i := trace.ID(1); len(p.Records) < n; i++ {
		s, fork, join := i+1, 2*i, 2*i+1
		p.add(trace.OpStreamCreate, s, 0, 0)
		p.add(trace.OpEventCreate, 0, fork, 0)
		p.add(trace.OpEventCreate, 0, join, 0)
		p.add(trace.OpEventRecord, 1, fork, 0)
		p.add(trace.OpStreamWaitEvent, s, fork, 0)
		p.add(trace.OpLaunch, s, 0, 0, whole(1, trace.Read))
		p.add(trace.OpEventRecord, s, join, 0)
		p.add(trace.OpStreamWaitEvent, 1, join, 0)
		p.add(trace.OpEventDestroy, 0, fork, 0)
		p.add(trace.OpEventDestroy, 0, join, 0)
		p.add(trace.OpStreamDestroy, s, 0, 0)
		p.add(trace.OpLaunch, 1, 0, 0, whole(1, trace.Write))
	}
	return &p.Trace
}

// pieces writes and reads a buffer in small pieces, in random order, and now and then reads it whole.
func pieces(n int) *trace.Trace {
	p := &tape{}
	p.streams(1)
	p.add(trace.OpMalloc, 0, 0, 1)
	p.add(trace.OpMemsetAsync, 1, 0, 0, whole(1, trace.Write))
	random := rand.New(rand.NewPCG(1, 1))
	for len(p.Records) < n {
		x := trace.Access{Alloc: 1, Offset: random.Int64N(1<<20 - 64), Size: 1 + random.Int64N(64), Kind: trace.Read}
		switch random.IntN(16) {
		case 0:
			x = whole(1, trace.Read)
		case 1, 2, 3, 4, 5, 6, 7:
			x.Kind = trace.Write
		}
		p.add(trace.OpLaunch, 1, 0, 0, x)
	}
	return &p.Trace
}

// manyReaders has a thousand streams read one buffer, and one write it again after the host has waited for them.
func manyReaders(n int) *trace.Trace {
	p := &tape{}
	p.streams(1000)
	p.add(trace.OpMalloc, 0, 0, 1)
	for len(p.Records) < n {
		p.add(trace.OpLaunch, 1, 0, 0, whole(1, trace.Write))
		p.add(trace.OpDeviceSynchronize, 0, 0, 0)
		for s := range trace.ID(1000) {
			p.add(trace.OpLaunch, s+1, 0, 0, whole(1, trace.Read))
		}
		p.add(trace.OpDeviceSynchronize, 0, 0, 0)
	}
	return &p.Trace
}

// manyBlocks hands out a thousand blocks of one allocation, uses each on a stream of its own, and takes them back.
func manyBlocks(n int) *trace.Trace {
	const blocks = 1000
	p := &tape{}
	p.streams(blocks)
	p.add(trace.OpMalloc, 0, 0, 1)
	p.last().Addr, p.last().Size = 1<<40, blocks<<20
	for m := trace.ID(2); len(p.Records) < n; m += blocks {
		for b := range trace.ID(blocks) {
			p.add(trace.OpBlockAlloc, 0, 0, m+b)
			p.last().Addr, p.last().Value = 1<<40+uint64(b)<<20, 1
			p.add(trace.OpLaunch, b+1, 0, 0, whole(m+b, trace.Write))
		}
		p.add(trace.OpDeviceSynchronize, 0, 0, 0)
		for b := range trace.ID(blocks) {
			p.add(trace.OpBlockFree, 0, 0, m+b)
			p.last().Addr = 1<<40 + uint64(b)<<20
		}
	}
	return &p.Trace
}

// growingArena maps a thousand pieces of memory side by side, uses each, and unmaps all of them at once.
func growingArena(n int) *trace.Trace {
	const pieces = 1000
	p := &tape{}
	p.streams(1)
	p.add(trace.OpMemAddressReserve, 0, 0, 0)
	p.last().Addr, p.last().Size = 1<<40, pieces<<20
	for m := trace.ID(1); len(p.Records) < n; m += pieces {
		for k := range trace.ID(pieces) {
			p.add(trace.OpMemCreate, 0, 0, m+k)
			p.last().Site = 1 // made within the trace, so that its access counts
			for _, op := range []trace.Op{trace.OpMemMap, trace.OpMemSetAccess} {
				p.add(op, 0, 0, m+k)
				p.last().Addr, p.last().Flags = 1<<40+uint64(k)<<20, readWrite
			}
			p.add(trace.OpMemRelease, 0, 0, m+k)
			p.add(trace.OpLaunch, 1, 0, 0, whole(m+k, trace.Write))
		}
		p.add(trace.OpStreamSynchronize, 1, 0, 0)
		p.add(trace.OpMemUnmap, 0, 0, 0)
		p.last().Addr, p.last().Size = 1<<40, pieces<<20
	}
	return &p.Trace
}

func (p *tape) last() *trace.Record { return &p.Records[len(p.Records)-1] }
