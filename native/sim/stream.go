package sim

import "cudalab/native/device"

// stream is a queue of operations.
type stream struct {
	blocking  bool // takes part in the legacy stream's barriers
	destroyed bool

	tail   *op     // the last operation enqueued; nil before the first
	end    int64   // when it ends
	queued []int64 // ends of the kernels, copies and memsets that may not have ended yet

	work   *op  // the last operation that took the device time; nil before the first
	pooled bool // an allocation or free was the last operation
	slot   int  // the stream's place in clocks
	seq    uint64
	clock  clock // what later operations of the stream are ordered behind

	seenVersion uint64 // of Device.seen, as joined to clock
	barrier     *op    // of a blocking stream: the last operation that the legacy stream waits for
	joined      *op    // of a blocking stream: the last operation of the legacy stream that it waits for
}

// pruneLength is how many streams are kept before destroyed ones are looked for among them.
const pruneLength = 64

func (d *Device) newStream(h device.Stream, blocking bool) *stream {
	if len(d.order) >= d.pruneAt {
		d.pruneStreams()
	}
	s := &stream{blocking: blocking}
	if n := len(d.vacant); n > 0 {
		old := d.vacant[n-1]
		d.vacant = d.vacant[:n-1]
		s.slot, s.seq = old.slot, old.seq
	} else {
		s.slot = d.slots
		d.slots++
	}
	d.streams[h] = s
	d.order = append(d.order, s)
	return s
}

// pruneStreams lets go of destroyed streams whose work has ended.
func (d *Device) pruneStreams() {
	kept := d.order[:0]
	for _, s := range d.order {
		if s.destroyed && s.end <= d.now {
			if s.tail != nil {
				d.run(s.tail)
			}
			d.vacant = append(d.vacant, s)
			continue
		}
		kept = append(kept, s)
	}
	clear(d.order[len(kept):])
	d.order = kept
	d.pruneAt = max(pruneLength, 2*len(kept))
}

// legacyBarrier orders o, about to be the last operation of s, as the legacy default stream demands: work in it waits
// for all earlier work in blocking streams, and later work in blocking streams waits for it.
func (d *Device) legacyBarrier(s *stream, o *op) {
	switch {
	case s == d.legacy:
		for _, t := range d.order {
			if t.blocking && t != s && t.tail != t.barrier {
				t.barrier = t.tail
				s.clock = s.clock.behind(t.tail)
				o.behind(t.tail)
			}
		}
	case s.blocking && d.legacy.tail != s.joined:
		s.joined = d.legacy.tail
		s.clock = s.clock.behind(s.joined)
		o.behind(s.joined)
	}
}

// StreamCreate makes a stream.
func (d *Device) StreamCreate(flags uint32) (device.Stream, device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.StreamCreate); c != device.Success {
		return 0, c
	}
	if flags&^device.StreamNonBlocking != 0 {
		return 0, device.ErrorInvalidValue
	}
	h := device.Stream(d.newHandle())
	d.newStream(h, flags&device.StreamNonBlocking == 0)
	return h, device.Success
}

// StreamDestroy returns at once; work in the stream completes. The legacy stream cannot be destroyed.
func (d *Device) StreamDestroy(h device.Stream) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.StreamDestroy); c != device.Success {
		return c
	}
	s := d.streams[h]
	if s == nil || s == d.legacy {
		return device.ErrorInvalidHandle
	}
	s.destroyed = true
	delete(d.streams, h)
	return device.Success
}

// StreamSynchronize waits for all work in a stream; for the legacy stream, that is all work in blocking streams.
func (d *Device) StreamSynchronize(h device.Stream) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Synchronize); c != device.Success {
		return c
	}
	s := d.streams[h]
	if s == nil {
		return device.ErrorInvalidHandle
	}
	d.waitForAll(d.awaitedBy(s))
	d.release()
	return d.fault
}

// awaitedBy chooses the streams whose work a synchronisation with s waits for.
func (d *Device) awaitedBy(s *stream) func(*stream) bool {
	return func(t *stream) bool { return t == s || s == d.legacy && t.blocking }
}

// StreamQuery answers ErrorNotReady while StreamSynchronize would wait. Once it answers Success, the host knows that
// the work is done, as after StreamSynchronize.
func (d *Device) StreamQuery(h device.Stream) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Query); c != device.Success {
		return c
	}
	s := d.streams[h]
	if s == nil {
		return device.ErrorInvalidHandle
	}
	awaited := d.awaitedBy(s)
	for _, t := range d.order {
		if t.end > d.now && awaited(t) {
			return device.ErrorNotReady
		}
	}
	for _, t := range d.order {
		if t.tail != nil && awaited(t) {
			d.observe(t.tail)
		}
	}
	return d.fault
}

// StreamWaitEvent makes later work in a stream wait for what an event remembers at this moment.
func (d *Device) StreamWaitEvent(h device.Stream, e device.Event) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.StreamWaitEvent); c != device.Success {
		return c
	}
	s, ev := d.streams[h], d.events[e]
	if s == nil || ev == nil {
		return device.ErrorInvalidHandle
	}
	if ev.recorded != nil {
		s.clock = s.clock.behind(ev.recorded)
		d.enqueue(s, nil, demand{}, ev.recorded)
	}
	return device.Success
}

// waitForDevice blocks the host until all work has ended.
func (d *Device) waitForDevice() { d.waitForAll(func(*stream) bool { return true }) }

// waitForAll blocks the host until all work in the chosen streams has ended.
func (d *Device) waitForAll(chosen func(*stream) bool) {
	end, wake := d.now, int64(0)
	for _, s := range d.order {
		if s.tail == nil || !chosen(s) {
			continue
		}
		if s.work != nil && !d.seen.covers(s.work) {
			wake = d.profile.Wake
		}
		if !d.seen.covers(s.tail) {
			end = max(end, s.end)
			d.observe(s.tail)
		}
		d.awaited = d.awaited.behind(s.tail)
	}
	d.now = end + wake
}
