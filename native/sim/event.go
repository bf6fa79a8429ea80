package sim

import "cudalab/native/device"

// event remembers a place in a stream.
type event struct {
	timing   bool
	recorded *op // nil: never recorded
}

// EventCreate makes an event.
func (d *Device) EventCreate(flags uint32) (device.Event, device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.EventCreate); c != device.Success {
		return 0, c
	}
	timing := flags&device.EventDisableTiming == 0
	if flags&^(device.EventBlockingSync|device.EventDisableTiming|device.EventInterprocess) != 0 ||
		timing && flags&device.EventInterprocess != 0 {
		return 0, device.ErrorInvalidValue
	}
	h := device.Event(d.newHandle())
	d.events[h] = &event{timing: timing}
	return h, device.Success
}

// EventDestroy returns at once, whether what the event remembers has finished or not.
func (d *Device) EventDestroy(h device.Event) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.EventDestroy); c != device.Success {
		return c
	}
	if d.events[h] == nil {
		return device.ErrorInvalidHandle
	}
	delete(d.events, h)
	return device.Success
}

// EventRecord makes an event remember where a stream stands, instead of what it remembered. With timing, the device
// writes down when that was, which takes it a while.
func (d *Device) EventRecord(e device.Event, h device.Stream) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.EventRecord); c != device.Success {
		return c
	}
	ev, s := d.events[e], d.streams[h]
	if ev == nil || s == nil {
		return device.ErrorInvalidHandle
	}
	w := demand{latency: d.profile.LaunchLatency}
	if ev.timing {
		d.now += d.profile.EventTiming
		w.lead = d.profile.EventStamp
	}
	ev.recorded = d.enqueue(s, nil, w)
	return device.Success
}

// EventSynchronize waits until what an event remembers has finished; not at all for one never recorded.
func (d *Device) EventSynchronize(h device.Event) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Synchronize); c != device.Success {
		return c
	}
	ev := d.events[h]
	if ev == nil {
		return device.ErrorInvalidHandle
	}
	switch {
	case ev.recorded == nil:
	case d.seen.covers(ev.recorded):
		d.awaited = d.awaited.behind(ev.recorded)
	default:
		d.wait(ev.recorded)
	}
	d.release()
	return d.fault
}

// EventQuery answers ErrorNotReady while EventSynchronize would wait. Once it answers Success, the host knows that the
// work is done.
func (d *Device) EventQuery(h device.Event) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Query); c != device.Success {
		return c
	}
	ev := d.events[h]
	switch {
	case ev == nil:
		return device.ErrorInvalidHandle
	case ev.recorded == nil:
		return device.Success
	case ev.recorded.end > d.now:
		return device.ErrorNotReady
	}
	d.observe(ev.recorded)
	return d.fault
}

// EventElapsedTime is the device's time between two events that were recorded with timing and have finished.
func (d *Device) EventElapsedTime(start, end device.Event) (milliseconds float32, code device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.Lookup); c != device.Success {
		return 0, c
	}
	a, b := d.events[start], d.events[end]
	switch {
	case a == nil || b == nil || !a.timing || !b.timing || a.recorded == nil || b.recorded == nil:
		return 0, device.ErrorInvalidHandle
	case a.recorded.end > d.now || b.recorded.end > d.now:
		return 0, device.ErrorNotReady
	}
	return float32(float64(b.recorded.end-a.recorded.end) / 1e6), device.Success
}
