package session

import (
	"fmt"
	"slices"

	"cudalab/native/device"
)

// Sweep waits for the device, then unmaps and frees all memory, gives reserved addresses back, and destroys every
// event, stream and pool that was made since StartTrace and is still there; the default pool is current again. Nothing
// of this is recorded. The error is the first thing that went wrong; Sweep goes on after it.
func (s *Session) Sweep() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var first error
	check := func(what string, code device.Code) {
		if code != device.Success && first == nil {
			first = fmt.Errorf("cleaning up the device: %s: %w", what, code)
		}
	}
	check("waiting for it", s.dev.CtxSynchronize())
	for _, a := range s.memory.all() {
		switch {
		case a.memory != nil:
			check("unmapping memory", s.dev.MemUnmap(a.base, uint64(a.size)))
		case a.pooled:
			// cuMemFree would free it too, but the pool would count it as used for ever.
			check("freeing memory", s.dev.MemFreeAsync(a.base, 0))
		default:
			check("freeing memory", s.dev.MemFree(a.base))
		}
		s.memory.remove(a)
	}
	for _, x := range s.handles {
		if !x.dead.Swap(true) {
			check("releasing physical memory", s.dev.MemRelease(x.handle))
		}
	}
	for _, x := range s.ranges {
		check("giving addresses back", s.dev.MemAddressFree(x.base, x.size))
	}
	for _, x := range s.buffers {
		if !x.dead.Swap(true) {
			check("freeing pinned memory", s.dev.MemFreeHost(x.handle))
		}
	}
	for _, x := range s.events {
		if !x.dead.Swap(true) {
			check("destroying an event", s.dev.EventDestroy(x.handle))
		}
	}
	for _, x := range s.streams {
		if !x.dead.Swap(true) {
			check("destroying a stream", s.dev.StreamDestroy(x.handle))
		}
	}
	if s.current != nil {
		pool, code := s.dev.DeviceGetDefaultMemPool()
		if code == device.Success {
			code = s.dev.DeviceSetMemPool(pool)
		}
		check("making the default pool current", code)
		s.current = nil
	}
	for _, x := range slices.Clone(s.pools) {
		if x.made != 0 && x.made == s.epoch {
			check("destroying a pool", s.dev.MemPoolDestroy(x.handle))
			s.forgetPool(x)
		}
	}
	// A pool gives back at a synchronisation what was freed.
	check("waiting for it", s.dev.CtxSynchronize())
	s.streams, s.events, s.buffers, s.handles, s.ranges = nil, nil, nil, nil, nil
	s.blocks = newTable()
	s.asked = 0
	s.lent = nil
	if first == nil {
		s.taken = nil
	}
	s.rewatch()
	return first
}

// Restore sets the attributes of the device's default pool back to what they are in a new process, and waits for the
// device, so that the pool gives back what it kept. On a device without memory pools it does nothing.
func (s *Session) Restore() {
	pool, code := s.dev.DeviceGetDefaultMemPool()
	if code != device.Success {
		return
	}
	s.dev.MemPoolSetAttribute(pool, device.PoolReleaseThreshold, 0)
	s.dev.MemPoolSetAttribute(pool, device.PoolReuseFollowEventDependencies, 1)
	s.dev.MemPoolSetAttribute(pool, device.PoolReuseAllowOpportunistic, 1)
	s.dev.MemPoolSetAttribute(pool, device.PoolReuseAllowInternalDependencies, 1)
	s.dev.CtxSynchronize()
}
