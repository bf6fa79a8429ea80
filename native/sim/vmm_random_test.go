package sim

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// vmmProgram makes calls at random, good and bad, beside a model of granules, and keeps what the device said, and when.
type vmmProgram struct {
	*testing.T
	d           *Device
	r           *rand.Rand
	granularity uint64
	ranges      []vmmRange
	handles     []*vmmHandle
	slots       map[device.Ptr]vmmSlot // what is mapped, by the address of each granule
	taken       int                    // granules of physical memory
	log         []int64
}

// vmmHandle is physical memory: for each granule the byte that its first eight are.
type vmmHandle struct {
	h      device.MemHandle
	bytes  []byte
	held   bool
	mapped int
}

// vmmRange is a reservation of so many granules.
type vmmRange struct {
	p     device.Ptr
	count int
}

// vmmSlot is a granule where something is mapped.
type vmmSlot struct {
	handle *vmmHandle
	index  int // which granule of it
	access bool
}

// vmmMemory is how many granules the device has.
const vmmMemory = 40

func one[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func (p *vmmProgram) size(granules int) uint64 { return uint64(granules) * p.granularity }

func (p *vmmProgram) next(at device.Ptr, granules int) device.Ptr {
	return at + device.Ptr(p.size(granules))
}

// somewhere is a granule of a reservation, and how many are left there from it on.
func (p *vmmProgram) somewhere() (at device.Ptr, left int) {
	x := one(p.r, p.ranges)
	i := p.r.IntN(x.count)
	return p.next(x.p, i), x.count - i
}

// empty reports whether nothing is mapped in these granules.
func (p *vmmProgram) empty(at device.Ptr, count int) bool {
	for i := range count {
		if _, mapped := p.slots[p.next(at, i)]; mapped {
			return false
		}
	}
	return true
}

// say notes an answer and demands that it is the model's.
func (p *vmmProgram) say(good bool, code device.Code) {
	p.Helper()
	want := device.Success
	if !good {
		want = device.ErrorInvalidValue
	}
	require.Equal(p, want, code)
	p.log = append(p.log, int64(code), p.d.Now())
}

func (p *vmmProgram) reserve() {
	x := vmmRange{count: 1 + p.r.IntN(24)}
	x.p = reserve(p, p.d, p.size(x.count))
	p.ranges = append(p.ranges, x)
	p.log = append(p.log, int64(x.p))
}

func (p *vmmProgram) free() {
	i := p.r.IntN(len(p.ranges))
	x := p.ranges[i]
	empty := p.empty(x.p, x.count)
	p.say(empty, p.d.MemAddressFree(x.p, p.size(x.count)))
	if empty {
		p.ranges = slices.Delete(p.ranges, i, i+1)
	}
}

func (p *vmmProgram) create() {
	count := 1 + p.r.IntN(8)
	h, code := p.d.MemCreate(p.size(count), pinnedMem, 0)
	if p.taken+count > vmmMemory {
		require.Equal(p, device.ErrorOutOfMemory, code)
		return
	}
	p.say(true, code)
	p.handles = append(p.handles, &vmmHandle{h: h, bytes: filled(count, poisonByte), held: true})
	p.taken += count
}

func (p *vmmProgram) release() {
	h := one(p.r, p.handles)
	p.say(h.held, p.d.MemRelease(h.h))
	if h.held {
		h.held = false
		p.letGo(h)
	}
}

func (p *vmmProgram) letGo(h *vmmHandle) {
	if !h.held && h.mapped == 0 {
		p.taken -= len(h.bytes)
	}
}

func (p *vmmProgram) mapOne() {
	h := one(p.r, p.handles)
	at, _ := p.somewhere()
	count := len(h.bytes)
	good := h.held && p.empty(at, count)
	p.say(good, p.d.MemMap(at, p.size(count), 0, h.h, 0))
	if good {
		h.mapped++
		for i := range count {
			p.slots[p.next(at, i)] = vmmSlot{handle: h, index: i}
		}
	}
}

// stretch chooses granules that begin in a reservation and may reach beyond it, every other time a whole mapping where
// there is one. It says whether they cut no mapping, and whether they begin and end with one.
func (p *vmmProgram) stretch() (at device.Ptr, count int, whole, ends bool) {
	at, left := p.somewhere()
	count = 1 + p.r.IntN(left+2)
	if s, mapped := p.slots[at]; mapped && p.r.IntN(2) == 0 {
		at, count = at-device.Ptr(p.size(s.index)), len(s.handle.bytes)
	}
	first, begins := p.slots[at]
	last, ends := p.slots[p.next(at, count-1)]
	whole = (!begins || first.index == 0) && (!ends || last.index == len(last.handle.bytes)-1)
	return at, count, whole, begins && ends
}

func (p *vmmProgram) access() {
	at, count, whole, ends := p.stretch()
	access := one(p.r, []device.MemAccess{device.MemAccessNone, device.MemAccessReadWrite})
	p.say(whole && ends, setAccess(p.d, at, p.size(count), access))
	for i := 0; whole && ends && i < count; i++ {
		s, mapped := p.slots[p.next(at, i)]
		if !mapped {
			break
		}
		s.access = access != device.MemAccessNone
		p.slots[p.next(at, i)] = s
	}
}

func (p *vmmProgram) unmap() {
	at, count, whole, _ := p.stretch()
	p.say(whole, p.d.MemUnmap(at, p.size(count)))
	for i := 0; whole && i < count; i++ {
		if s, mapped := p.slots[p.next(at, i)]; mapped && s.index == 0 {
			s.handle.mapped--
			p.letGo(s.handle)
		}
		delete(p.slots, p.next(at, i))
	}
}

func (p *vmmProgram) write() {
	at, _ := p.somewhere()
	value, s := byte(p.r.IntN(256)), p.slots[at]
	p.say(s.access, p.d.MemsetD8(at, value, 8))
	ok(p, p.d.CtxSynchronize())
	if s.access {
		s.handle.bytes[s.index] = value
	}
}

func (p *vmmProgram) read() {
	at, _ := p.somewhere()
	got, s := make([]byte, 8), p.slots[at]
	p.say(s.access, p.d.MemcpyDtoH(got, at))
	if s.access {
		require.Equal(p, filled(8, s.handle.bytes[s.index]), got)
	}
	p.log = append(p.log, int64(binary.LittleEndian.Uint64(got)))
}

func (p *vmmProgram) step() {
	switch n := p.r.IntN(20); {
	case len(p.ranges) == 0, n == 0 && len(p.ranges) < 6:
		p.reserve()
	case len(p.handles) == 0, n < 4:
		p.create()
	case n < 6:
		p.release()
	case n < 10:
		p.mapOne()
	case n < 12:
		p.access()
	case n < 14:
		p.unmap()
	case n < 15:
		p.free()
	case n < 17:
		p.write()
	default:
		p.read()
	}
	require.Equal(p, p.size(vmmMemory-p.taken), freeBytes(p, p.d))
}

// Calls at random answer as a model says, and the same twice, to the nanosecond.
func TestRandomVirtualMemory(t *testing.T) {
	run := func(seed, granularity uint64) []int64 {
		d := New(Options{Granularity: granularity, Memory: vmmMemory * granularity})
		p := &vmmProgram{T: t, d: d, r: rand.New(rand.NewPCG(seed, 1)), granularity: granularity,
			slots: map[device.Ptr]vmmSlot{}}
		for range 3000 {
			p.step()
		}
		return p.log
	}
	for seed := range uint64(5) {
		for _, granularity := range []uint64{64 << 10, 512 << 10} {
			require.Equal(t, run(seed, granularity), run(seed, granularity))
		}
	}
}
