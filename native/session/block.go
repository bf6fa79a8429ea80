package session

import (
	"cudalab/native/device"
	"cudalab/native/trace"
)

// BlockAlloc notes that an allocator under test has handed out the size bytes at p, a part of memory of its own. From now
// until BlockFree an access that begins there is one to this block, whatever allocation lies around it. The block has
// an identity as an allocation has. Nothing is noted with tracing off.
func (s *Session) BlockAlloc(p device.Ptr, size int64) {
	if !s.watched.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.tracing {
		return
	}
	s.counts.allocations++
	r := trace.Record{Op: trace.OpBlockAlloc, Addr: uint64(p), Size: size, Alloc: s.counts.allocations,
		Site: s.sites.here(2), Time: s.dev.Now()}
	if around, freed, _ := s.memory.find(p); around != nil && !freed {
		r.Value = uint64(around.id)
	}
	s.blocks.add(&allocation{id: r.Alloc, base: p, size: size})
	s.add(r)
}

// BlockFree notes that an allocator under test has taken back the block at p. Until another is handed out there, or the
// memory around it is freed, an access there is one to this block, freed.
func (s *Session) BlockFree(p device.Ptr) {
	if !s.watched.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.tracing {
		return
	}
	r := trace.Record{Op: trace.OpBlockFree, Addr: uint64(p), Site: s.sites.here(2), Time: s.dev.Now()}
	if block, freed, _ := s.blocks.find(p); block != nil {
		r.Alloc, r.Freed = block.id, freed
		if !freed && block.base == p {
			s.blocks.remove(block)
		}
	}
	s.add(r)
}
