package conformance

import (
	"fmt"
	"time"

	"cudalab/kernels/probe"
	"cudalab/native/cuda"
)

// freedBlock is a block that has been allocated in one stream and is to be freed there, in a pool of the row's own.
type freedBlock struct {
	*log
	pool  cuda.MemPool
	s     cuda.Stream // allocated and freed here
	other cuda.Stream // allocated again here, unless a situation says otherwise
	p     cuda.DevicePtr
}

func (b *freedBlock) free() { b.must(cuda.FreeAsync(b.p, b.s)) }

// freePending frees the block behind a delay.
func (b *freedBlock) freePending() {
	b.delay(b.s)
	b.free()
}

// elsewhere is an event in a third stream, behind so much work that what little is in s will be done before it.
func (b *freedBlock) elsewhere() (cuda.Stream, cuda.Event) {
	third := b.stream(cuda.StreamNonBlocking)
	b.must(probe.Delay(third, int64(5*time.Millisecond)))
	return third, b.recorded(third)
}

// reuseSituations free the block and do what is between the free and the next allocation.
var reuseSituations = []struct {
	name string
	run  func(b *freedBlock)
}{
	{"same-stream-busy", func(b *freedBlock) {
		b.freePending()
		b.other = b.s
	}},
	{"same-stream-synchronised", func(b *freedBlock) {
		b.free()
		b.must(cuda.StreamSynchronize(b.s))
		b.other = b.s
	}},
	{"other-stream-busy", func(b *freedBlock) { b.freePending() }},
	{"other-stream-idle", func(b *freedBlock) {
		b.free()
		_, e := b.elsewhere()
		b.poll(func() error { return cuda.EventQuery(e) })
	}},
	{"other-stream-idle-third-synchronised", func(b *freedBlock) {
		b.free()
		third, _ := b.elsewhere()
		b.must(cuda.StreamSynchronize(third))
	}},
	{"behind-event", func(b *freedBlock) {
		b.freePending()
		b.must(cuda.StreamWaitEvent(b.other, b.recorded(b.s)))
	}},
	{"behind-event-of-before", func(b *freedBlock) {
		b.delay(b.s)
		e := b.recorded(b.s)
		b.free()
		b.must(cuda.StreamWaitEvent(b.other, e))
	}},
	{"behind-two-events", func(b *freedBlock) {
		b.freePending()
		third := b.stream(cuda.StreamNonBlocking)
		b.must(cuda.StreamWaitEvent(third, b.recorded(b.s)))
		b.must(cuda.StreamWaitEvent(b.other, b.recorded(third)))
	}},
	{"behind-event-re-recorded-later", func(b *freedBlock) {
		b.freePending()
		e := b.recorded(b.s)
		b.must(cuda.StreamWaitEvent(b.other, e))
		b.must(cuda.EventRecord(e, b.stream(cuda.StreamNonBlocking)))
	}},
	{"behind-event-destroyed", func(b *freedBlock) {
		b.freePending()
		e := b.recorded(b.s)
		b.must(cuda.StreamWaitEvent(b.other, e))
		b.must(cuda.EventDestroy(e))
	}},
	{"stream-queried", func(b *freedBlock) {
		b.freePending()
		b.poll(func() error { return cuda.StreamQuery(b.s) })
	}},
	{"event-queried", func(b *freedBlock) {
		b.freePending()
		e := b.recorded(b.s)
		b.poll(func() error { return cuda.EventQuery(e) })
	}},
	{"stream-synchronised", func(b *freedBlock) {
		b.freePending()
		b.must(cuda.StreamSynchronize(b.s))
	}},
	{"event-synchronised", func(b *freedBlock) {
		b.freePending()
		b.must(cuda.EventSynchronize(b.recorded(b.s)))
	}},
	{"device-synchronised", func(b *freedBlock) {
		b.freePending()
		b.must(cuda.DeviceSynchronize())
	}},
	{"legacy-stream-next", func(b *freedBlock) {
		b.freePending()
		b.other = cuda.Stream{}
	}},
}

// reusePolicies are the eight settings of a pool's switches.
const reusePolicies = 8

// poolsReuseRows ask, under each setting of a pool's three reuse switches, whether a freed block is handed out again.
func poolsReuseRows() []row {
	var rows []row
	for _, x := range reuseSituations {
		rows = append(rows, row{Name: "pools/reuse/" + x.name, Run: func(l *log) {
			for policy := range uint64(reusePolicies) {
				follow, opportunistic, internal := policy>>2, policy>>1&1, policy&1
				b := &freedBlock{log: l, pool: l.keepingPool(), s: l.stream(cuda.StreamNonBlocking),
					other: l.stream(cuda.StreamNonBlocking)}
				l.set(b.pool, cuda.MemPoolReuseFollowEventDependencies, follow)
				l.set(b.pool, cuda.MemPoolReuseAllowOpportunistic, opportunistic)
				l.set(b.pool, cuda.MemPoolReuseAllowInternalDependencies, internal)
				b.p = l.mallocFrom(b.pool, 20*mib, b.s)
				x.run(b)
				l.saw("follow %d, opportunistic %d, internal %d: %s", follow, opportunistic, internal, b.again())
				l.must(cuda.DeviceSynchronize())
			}
		}})
	}
	return append(rows, memoryShortRows()...)
}

// again allocates the same size once more and says whether it is the same block.
func (b *freedBlock) again() string {
	if b.mallocFrom(b.pool, 20*mib, b.other) == b.p {
		return "the same block"
	}
	return "another block"
}

// memoryShortRows allocate more than the device has beside a block whose free is pending in another stream.
func memoryShortRows() []row {
	var rows []row
	for _, internal := range []uint64{1, 0} {
		rows = append(rows, row{Name: fmt.Sprintf("pools/reuse/memory-short-internal-%d", internal), Run: func(l *log) {
			s, other, pool := l.stream(cuda.StreamNonBlocking), l.stream(cuda.StreamNonBlocking), l.keepingPool()
			l.set(pool, cuda.MemPoolReuseAllowInternalDependencies, internal)
			size := l.freeMemory() / 10 * 6
			p, err := cuda.MallocFromPoolAsync(size, pool, s)
			l.pointer("MallocFromPoolAsync(60 % of what is free, s)", p, err)
			l.must(cuda.StreamSynchronize(s))
			l.delay(s)
			l.must(cuda.FreeAsync(p, s))
			p, err = cuda.MallocFromPoolAsync(size, pool, other) // how long this takes varies: much memory is mapped, or not
			l.pointer("the same in other", p, err)
			l.answer("StreamSynchronize(other)", cuda.StreamSynchronize(other))
		}})
	}
	return rows
}
