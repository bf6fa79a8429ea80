package order

import (
	"github.com/stretchr/testify/require"

	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/trace"
)

// recordedVirtual is what recorded knows of addresses. In recorded.memory physical memory and blocks are marked as
// dead: they are not to be freed.
type recordedVirtual struct {
	on      *session.Session
	ranges  []cuda.DevicePtr
	sizes   []int64 // of the ranges; 0 once given back
	handles map[trace.ID]cuda.MemGenericAllocationHandle
	held    map[trace.ID]bool // the handles that are not released
	extents map[trace.ID]int64
	placed  map[cuda.DevicePtr]int64 // sizes of the mappings
}

func newRecordedVirtual(on *session.Session) recordedVirtual {
	return recordedVirtual{on: on, handles: map[trace.ID]cuda.MemGenericAllocationHandle{}, held: map[trace.ID]bool{},
		extents: map[trace.ID]int64{}, placed: map[cuda.DevicePtr]int64{}}
}

var device0 = cuda.MemLocation{Type: cuda.MemLocationTypeDevice}

func (p *recorded) at(v int, offset int64) cuda.DevicePtr {
	return p.ranges[v-1] + cuda.DevicePtr(offset)
}

func (p *recorded) Reserve(size int64) int {
	at, err := cuda.MemAddressReserve(size, 0, 0, 0)
	require.NoError(p.t, err)
	p.ranges, p.sizes = append(p.ranges, at), append(p.sizes, size)
	return len(p.ranges)
}

func (p *recorded) FreeRange(v int, size int64) {
	if cuda.MemAddressFree(p.at(v, 0), size) == nil {
		p.sizes[v-1] = 0
	}
}

func (p *recorded) Create(size int64) trace.ID {
	x, err := cuda.MemCreate(size, cuda.MemAllocationProp{Type: cuda.MemAllocationTypePinned, Location: device0}, 0)
	m := keep(p.t, &p.memory)(dead, err)
	p.handles[m], p.held[m], p.extents[m] = x, true, size
	return m
}

func (p *recorded) Release(m trace.ID) {
	require.Equal(p.t, p.held[m], cuda.MemRelease(p.handles[m]) == nil)
	delete(p.held, m)
}

func (p *recorded) Map(v int, offset int64, m trace.ID) {
	if cuda.MemMap(p.at(v, offset), p.extents[m], 0, p.handles[m], 0) == nil {
		p.memory[m] = p.at(v, offset) | dead
		p.placed[p.at(v, offset)] = p.extents[m]
	}
}

func (p *recorded) Unmap(v int, offset, size int64) {
	if cuda.MemUnmap(p.at(v, offset), size) == nil {
		for at := range p.placed {
			if p.at(v, offset) <= at && at < p.at(v, offset+size) {
				delete(p.placed, at)
			}
		}
	}
}

func (p *recorded) SetAccess(v int, offset, size int64, flags uint32) {
	require.NoError(p.t, cuda.MemSetAccess(p.at(v, offset), size,
		[]cuda.MemAccessDesc{{Location: device0, Flags: cuda.MemAccessFlags(flags)}}))
}

func (p *recorded) MemsetAt(v int, offset, size int64) {
	require.Error(p.t, cuda.Memset(p.at(v, offset), 0, size))
}

func (p *recorded) HandOut(m trace.ID, offset, size int64) trace.ID {
	at := p.address(m) + cuda.DevicePtr(offset)
	p.on.BlockAlloc(device.Ptr(at), size)
	return keep(p.t, &p.memory)(at|dead, nil)
}

func (p *recorded) HandOutIn(m trace.ID, offset, size int64, s trace.ID) trace.ID {
	at := p.address(m) + cuda.DevicePtr(offset)
	p.on.BlockAllocIn(device.Ptr(at), size, session.StreamOf(p.streams[s]), 0)
	return keep(p.t, &p.memory)(at|dead, nil)
}

func (p *recorded) TakeBack(b trace.ID) { p.on.BlockFree(device.Ptr(p.address(b))) }

func (p *recorded) TakeBackIn(b, s trace.ID) {
	p.on.BlockFreeIn(device.Ptr(p.address(b)), session.StreamOf(p.streams[s]), 0)
}

// finishVirtual gives back what is left.
func (p *recorded) finishVirtual() {
	for at, size := range p.placed {
		require.NoError(p.t, cuda.MemUnmap(at, size))
	}
	for m := range p.held {
		require.NoError(p.t, cuda.MemRelease(p.handles[m]))
	}
	for i, size := range p.sizes {
		if size > 0 {
			require.NoError(p.t, cuda.MemAddressFree(p.ranges[i], size))
		}
	}
}
