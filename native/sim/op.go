package sim

import "cudalab/native/device"

// op is one operation in a stream. Its times are known from the start; its effect is applied when run needs it.
type op struct {
	end int64 // on the host's clock

	prev  *op    // the operation before it in its stream
	deps  []*op  // what else it is ordered behind
	does  effect // nil: it only orders
	done  bool
	slot  int // with seq, its name in a clock
	seq   uint64
	clock clock // what is ordered before it
}

// settleLength is how many operations may be outstanding before those that have ended are run. It bounds memory, staged
// copies of 64 KiB included, and is more than a lesson's program keeps in flight.
const settleLength = 1 << 12

// vary is a duration under Jitter: between half and twice as long.
func (d *Device) vary(length int64) int64 {
	if !d.jitter {
		return length
	}
	d.random += 0x9e3779b97f4a7c15 // splitmix64
	z := d.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return length/2 + int64(scale(uint64(length)+uint64(length)/2, z>>1, 1<<63))
}

// enqueue puts an operation at the end of s, and behind deps as well. What of these the program may rely on is the
// caller's to add to s.clock; the others only keep the old and the new owner of memory in order.
func (d *Device) enqueue(s *stream, does effect, w demand, deps ...*op) *op {
	if !w.none() {
		d.holdQueue(s)
		if s.pooled {
			w.lead += d.profile.PoolGap
		}
	}
	if _, s.pooled = does.(poisoning); d.idle && !s.pooled {
		does = nil
	}
	o := &op{does: does, slot: s.slot}
	if s.tail != nil && !s.tail.done {
		o.prev = s.tail
	}
	if s.seenVersion != d.seenVersion {
		s.clock, s.seenVersion = s.clock.join(d.seen), d.seenVersion
	}
	o.end = max(s.end, d.now+w.latency) // the earliest start, until it is scheduled
	for _, dep := range deps {
		o.behind(dep)
	}
	d.legacyBarrier(s, o)
	o.end = d.schedule(o.end, w)
	if !w.none() {
		s.queued = append(s.queued, o.end)
		s.work = o
	}
	s.seq++
	o.seq, o.clock = s.seq, s.clock
	s.tail, s.end = o, o.end
	d.outstanding = append(d.outstanding, o)
	if len(d.outstanding) >= d.settleAt {
		d.settle()
	}
	return o
}

// behind orders o, which is not scheduled yet, behind dep.
func (o *op) behind(dep *op) {
	if !dep.done {
		o.deps = append(o.deps, dep)
	}
	o.end = max(o.end, dep.end)
}

// holdQueue blocks the host while the stream's queue is full, as a launch does on a GPU.
func (d *Device) holdQueue(s *stream) {
	for len(s.queued) > 0 && s.queued[0] <= d.now {
		s.queued = s.queued[1:]
	}
	if len(s.queued) >= d.profile.QueueDepth {
		d.now = s.queued[0]
		s.queued = s.queued[1:]
	}
}

// settle runs what has ended on the clock and lets go of what has run.
func (d *Device) settle() {
	kept := d.outstanding[:0]
	for _, o := range d.outstanding {
		if !o.done && o.end <= d.now {
			d.run(o)
		}
		if !o.done {
			kept = append(kept, o)
		}
	}
	clear(d.outstanding[len(kept):])
	d.outstanding = kept
	d.settleAt = max(settleLength, 2*len(kept))
}

// run applies o's effect, and before it the effect of all that o is ordered behind, and nothing else's. It keeps a
// stack of its own: a program may have a million operations in a row outstanding.
func (d *Device) run(o *op) {
	stack := append(d.stack[:0], o)
	for len(stack) > 0 && d.fault == device.Success {
		o := stack[len(stack)-1]
		if o.done {
			stack = stack[:len(stack)-1]
			continue
		}
		if before := o.unfinished(); before != nil {
			stack = append(stack, before)
			continue
		}
		stack = stack[:len(stack)-1]
		does := o.does
		o.does, o.done = nil, true
		if does != nil && !does.apply(d) {
			d.fault = device.ErrorIllegalAddress
		}
	}
	clear(stack)
	d.stack = stack
}

// unfinished is an operation that must run before o, or nil. It drops those that have run.
func (o *op) unfinished() *op {
	if o.prev != nil {
		if !o.prev.done {
			return o.prev
		}
		o.prev = nil
	}
	for n := len(o.deps); n > 0; n-- {
		if dep := o.deps[n-1]; !dep.done {
			return dep
		}
		o.deps = o.deps[:n-1]
	}
	o.deps = nil
	return nil
}

// wait blocks the host until o has ended and orders it before everything the host does next.
func (d *Device) wait(o *op) {
	d.now = max(d.now, o.end) + d.profile.Wake
	d.observe(o)
	d.awaited = d.awaited.behind(o)
}

// observe runs o, which the host has learned to be finished.
func (d *Device) observe(o *op) {
	if d.seen.covers(o) {
		return
	}
	d.run(o)
	if d.fault == device.Success {
		d.seen = d.seen.behind(o)
		d.seenVersion++
	}
}
