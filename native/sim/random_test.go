package sim

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// set is a set of operations, by number.
type set [8]uint64

func (s *set) add(id int)      { s[id/64] |= 1 << (id % 64) }
func (s *set) has(id int) bool { return s[id/64]>>(id%64)&1 == 1 }
func (s *set) join(o set) {
	for i := range s {
		s[i] |= o[i]
	}
}

// buffer is a live allocation with what it must hold.
type buffer struct {
	p       device.Ptr
	pooled  bool
	cells   []uint64 // nil until written
	written int      // the operation that allocated or last wrote it; -1: the host
	touched []int    // operations since then
}

// program makes a random program in which everything is ordered, tells the device and an interpreter that runs every
// call at once the same, and compares what is read. It keeps its own account of what is ordered before what.
type program struct {
	*testing.T
	d        *Device
	r        *rand.Rand
	streams  []device.Stream // the first is the legacy stream
	blocking []bool
	before   []set // by stream: what its next operation is ordered behind
	owner    []int // by operation: the stream
	host     set
	buffers  []*buffer
	log      []string
}

func (p *program) say(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

// op is a new operation in a stream.
func (p *program) op(s int) int {
	id := len(p.owner)
	p.owner = append(p.owner, s)
	p.before[s].join(p.host)
	for t := range p.streams {
		if s == 0 && p.blocking[t] || t == 0 && p.blocking[s] {
			p.before[s].join(p.before[t])
		}
	}
	p.before[s].add(id)
	return id
}

// knows reports whether the next operation of s is ordered behind id.
func (p *program) knows(s, id int) bool {
	if id < 0 || p.host.has(id) || p.before[s].has(id) {
		return true
	}
	for t := range p.streams {
		if (s == 0 && p.blocking[t] || t == 0 && p.blocking[s]) && p.before[t].has(id) {
			return true
		}
	}
	return false
}

// order makes the next operation of s come behind these, in one of the ways there are.
func (p *program) order(s int, ids ...int) {
	for _, id := range ids {
		if p.knows(s, id) {
			continue
		}
		from := p.owner[id]
		e := newEvent(p, p.d)
		switch way := p.r.IntN(6); way {
		case 0:
			p.say("synchronise stream %d", from)
			ok(p, p.d.StreamSynchronize(p.streams[from]))
			p.learn(from)
		case 1:
			p.say("synchronise device")
			ok(p, p.d.CtxSynchronize())
			for t := range p.streams {
				p.learn(t)
			}
		case 2:
			p.say("query stream %d", from)
			for p.d.StreamQuery(p.streams[from]) == device.ErrorNotReady {
			}
			p.learn(from)
		default:
			p.op(from)
			ok(p, p.d.EventRecord(e, p.streams[from]))
			known := p.before[from]
			if way == 3 {
				p.say("event of stream %d synchronised", from)
				ok(p, p.d.EventSynchronize(e))
				p.host.join(known)
				break
			}
			p.say("stream %d waits for stream %d", s, from)
			p.op(s)
			ok(p, p.d.StreamWaitEvent(p.streams[s], e))
			p.before[s].join(known)
		}
		ok(p, p.d.EventDestroy(e))
	}
}

// learn is the host having waited for a stream.
func (p *program) learn(s int) {
	p.host.join(p.before[s])
	for t := range p.streams {
		if s == 0 && p.blocking[t] {
			p.host.join(p.before[t])
		}
	}
}

const cells = 5

func (p *program) step() {
	s := p.r.IntN(len(p.streams))
	stream := p.streams[s]
	if len(p.buffers) == 0 || p.r.IntN(6) == 0 {
		p.allocate(s)
		return
	}
	i := p.r.IntN(len(p.buffers))
	b := p.buffers[i]
	switch p.r.IntN(7) {
	case 0:
		p.order(s, append(b.touched, b.written)...)
		value := p.r.Uint64() % 256
		p.say("memset %x to %d in stream %d", b.p, value, s)
		ok(p, p.d.MemsetD8Async(b.p, byte(value), 8*cells, stream))
		b.write(p.op(s), func(int) uint64 { return value * 0x0101010101010101 })
	case 1:
		p.order(s, append(b.touched, b.written)...)
		size := cells
		if p.r.IntN(4) == 0 {
			size = 64 << 10 / 4 // beyond what is staged
		}
		src := make([]byte, 8*size)
		values := make([]uint64, cells)
		for i := range values {
			values[i] = p.r.Uint64()
			binary.LittleEndian.PutUint64(src[8*i:], values[i])
		}
		p.say("upload to %x in stream %d", b.p, s)
		ok(p, p.d.MemcpyHtoDAsync(b.p, src, stream))
		b.write(p.op(s), func(i int) uint64 { return values[i] })
		if size > cells {
			p.learnLast(s)
		}
	case 2, 3:
		if b.cells == nil {
			return
		}
		p.order(s, append(b.touched, b.written)...)
		value := p.r.Uint64()
		p.say("add to %x in stream %d", b.p, s)
		add(p, p.d, stream, b.p, cells, value)
		old := b.cells
		b.write(p.op(s), func(i int) uint64 { return old[i] + value })
	case 4:
		from := p.buffers[p.r.IntN(len(p.buffers))]
		if from.cells == nil || from == b {
			return
		}
		p.order(s, append(b.touched, b.written, from.written)...)
		p.say("copy %x to %x in stream %d", from.p, b.p, s)
		ok(p, p.d.MemcpyDtoDAsync(b.p, from.p, 8*cells, stream))
		id := p.op(s)
		from.touched = append(from.touched, id)
		b.write(id, func(i int) uint64 { return from.cells[i] })
	case 5:
		if b.cells == nil {
			return
		}
		p.order(s, b.written)
		p.say("read %x in stream %d", b.p, s)
		got := make([]byte, 8*cells)
		ok(p, p.d.MemcpyDtoHAsync(got, b.p, stream))
		b.touched = append(b.touched, p.op(s))
		p.learnLast(s)
		for i, want := range b.cells {
			require.Equal(p, want, binary.LittleEndian.Uint64(got[8*i:]), "cell %d after %v", i, p.log)
		}
	case 6:
		p.order(s, append(b.touched, b.written)...)
		p.say("free %x in stream %d", b.p, s)
		ok(p, p.d.MemFreeAsync(b.p, stream))
		p.op(s)
		p.buffers = append(p.buffers[:i], p.buffers[i+1:]...)
	}
}

// learnLast is the host having waited for the last operation of s, and so for what that is ordered behind.
func (p *program) learnLast(s int) { p.host.join(p.before[s]) }

func (p *program) allocate(s int) {
	size := uint64(1+p.r.IntN(20)) * mib
	b := &buffer{written: -1, pooled: p.r.IntN(4) > 0}
	var c device.Code
	if b.pooled {
		b.p, c = p.d.MemAllocAsync(size, p.streams[s])
	} else {
		b.p, c = p.d.MemAlloc(size)
	}
	if c == device.ErrorOutOfMemory {
		p.say("no room")
		if len(p.buffers) > 0 && !p.buffers[0].pooled {
			p.say("free %x", p.buffers[0].p)
			ok(p, p.d.MemFree(p.buffers[0].p))
			p.buffers = p.buffers[1:]
		}
		return
	}
	ok(p, c)
	p.say("allocate %x in stream %d", b.p, s)
	if b.pooled {
		b.written = p.op(s)
	}
	p.buffers = append(p.buffers, b)
}

func (b *buffer) write(id int, value func(i int) uint64) {
	next := make([]uint64, cells)
	for i := range next {
		next[i] = value(i)
	}
	b.cells, b.written, b.touched = next, id, nil
}

// In a program where everything is ordered, every read sees what running the calls one after the other gives: on any
// schedule, with memory so short that addresses are handed out again all the time.
func TestOrderedProgramsReadWhatTheyWrote(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p := &program{T: t, r: rand.New(rand.NewPCG(seed, 0))}
			p.d = New(Options{Memory: 160 * mib, Jitter: seed%2 == 1, Seed: seed})
			if seed%3 == 0 {
				setPool(t, p.d, device.PoolReleaseThreshold, keepAll)
			}
			p.streams, p.blocking = []device.Stream{0}, []bool{false}
			for i := range 4 {
				create := newStream
				if i < 2 {
					create = blockingStream
				}
				p.streams, p.blocking = append(p.streams, create(t, p.d)), append(p.blocking, i < 2)
			}
			p.before = make([]set, len(p.streams))
			for len(p.owner) < 400 {
				if p.r.IntN(10) == 0 {
					s := p.r.IntN(len(p.streams))
					delay(t, p.d, p.streams[s], int64(p.r.IntN(200_000)))
					p.op(s)
				}
				p.step()
			}
			ok(t, p.d.CtxSynchronize())
		})
	}
}
