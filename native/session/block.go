package session

import (
	"cudalab/native/device"
	"cudalab/native/trace"
)

// BlockAlloc notes that an allocator under test has handed out the size bytes at p, a part of memory of its own. From
// now until BlockFree an access that begins there is one to this block, whatever allocation lies around it. The block
// has an identity as an allocation has. Nothing is noted with tracing off.
func (s *Session) BlockAlloc(p device.Ptr, size int64) { s.blockAlloc(p, size, 0, nil, 0) }

// BlockAllocIn is BlockAlloc by an allocator that hands blocks out in the order of a stream: the block is there for the
// work that comes into x from now on. by is where the code of the function begins that has handed it out, whose line
// the record has then; 0: it is the caller's.
func (s *Session) BlockAllocIn(p device.Ptr, size int64, x *Stream, by uintptr) {
	s.blockAlloc(p, size, trace.InStream, x, by)
}

// BlockFree notes that an allocator under test has taken back the block at p. Until another is handed out there, or the
// memory around it is freed, an access there is one to this block, freed.
func (s *Session) BlockFree(p device.Ptr) { s.blockFree(p, 0, nil, 0) }

// BlockFreeIn is BlockFree by an allocator that takes blocks back in the order of a stream: behind all that is in x
// now. by is as in BlockAllocIn.
func (s *Session) BlockFreeIn(p device.Ptr, x *Stream, by uintptr) {
	s.blockFree(p, trace.InStream, x, by)
}

func (s *Session) blockAlloc(p device.Ptr, size int64, flags uint32, x *Stream, by uintptr) {
	if !s.watched.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.tracing {
		return
	}
	s.counts.allocations++
	r := trace.Record{Op: trace.OpBlockAlloc, Addr: uint64(p), Size: size, Alloc: s.counts.allocations, Flags: flags,
		Stream: s.streamID(x),
		Site:   s.sites.of(by, 4), Time: s.dev.Now()}
	if around, freed, _ := s.memory.find(p); around != nil && !freed {
		r.Value = uint64(around.id)
	}
	s.blocks.add(&allocation{id: r.Alloc, base: p, size: size})
	s.add(r)
}

func (s *Session) blockFree(p device.Ptr, flags uint32, x *Stream, by uintptr) {
	if !s.watched.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.tracing {
		return
	}
	r := trace.Record{Op: trace.OpBlockFree, Addr: uint64(p), Flags: flags, Stream: s.streamID(x), Site: s.sites.of(by, 4),
		Time: s.dev.Now()}
	if block, freed, _ := s.blocks.find(p); block != nil {
		r.Alloc, r.Freed = block.id, freed
		if !freed && block.base == p {
			s.blocks.remove(block)
		}
	}
	s.add(r)
}
