package sim

import (
	"cudalab/native/device"
)

// Synchronous copies and memsets are the asynchronous ones on the legacy stream; which of both wait is a matter of the
// memory, not of the name.

// MemcpyHtoD copies pageable memory on the legacy stream and waits until the copy has run behind that stream's earlier
// work. The manual promises no more than that the source was staged.
func (d *Device) MemcpyHtoD(dst device.Ptr, src []byte) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, c := d.beginTransfer(d.profile.Copy, 0, dst, uint64(len(src)), device.Write)
	if s == nil {
		return c
	}
	d.wait(d.enqueue(s, upload{uint64(dst), src}, d.uploadDemand(uint64(len(src)), d.profile.PageableBandwidth)))
	return d.fault
}

// MemcpyHtoDAsync copies pageable memory. Up to 64 KiB are staged: the host copies them elsewhere and returns. More
// makes the host wait until the copy has run behind the stream's earlier work.
func (d *Device) MemcpyHtoDAsync(dst device.Ptr, src []byte, h device.Stream) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	size := uint64(len(src))
	s, c := d.beginTransfer(d.profile.Copy, h, dst, size, device.Write)
	if s == nil {
		return c
	}
	if size <= d.profile.StageLimit {
		staged := append([]byte(nil), src...)
		d.now += timeFor(size, d.profile.PageableBandwidth)
		d.enqueue(s, upload{uint64(dst), staged}, d.uploadDemand(size, d.profile.HtoDBandwidth))
		return device.Success
	}
	d.wait(d.enqueue(s, upload{uint64(dst), src}, d.uploadDemand(size, d.profile.PageableBandwidth)))
	return d.fault
}

// MemcpyDtoH copies to pageable memory on the legacy stream and waits for the copy.
func (d *Device) MemcpyDtoH(dst []byte, src device.Ptr) device.Code {
	return d.MemcpyDtoHAsync(dst, src, 0)
}

// MemcpyDtoHAsync copies to pageable memory. It waits for the copy, however small.
func (d *Device) MemcpyDtoHAsync(dst []byte, src device.Ptr, h device.Stream) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	size := uint64(len(dst))
	s, c := d.beginTransfer(d.profile.Copy, h, src, size, device.Read)
	if s == nil {
		return c
	}
	w := d.downloadDemand(size, d.profile.PageableBandwidth)
	w.length += timeFor(min(size, bounceBuffer), d.profile.DtoHBandwidth) // the host copies on while the next part arrives
	d.wait(d.enqueue(s, download{dst, uint64(src)}, w))
	return d.fault
}

// MemcpyHostToD copies pinned memory on the legacy stream and waits for the copy.
func (d *Device) MemcpyHostToD(dst device.Ptr, src device.Host, offset, size uint64) device.Code {
	return d.copyPinned(dst, src, offset, size, 0, true, true)
}

// MemcpyDToHost copies to pinned memory on the legacy stream and waits for the copy.
func (d *Device) MemcpyDToHost(dst device.Host, offset uint64, src device.Ptr, size uint64) device.Code {
	return d.copyPinned(src, dst, offset, size, 0, false, true)
}

// MemcpyHostToDAsync copies what pinned memory holds when the copy runs. It returns at once.
func (d *Device) MemcpyHostToDAsync(dst device.Ptr, src device.Host, offset, size uint64, s device.Stream) device.Code {
	return d.copyPinned(dst, src, offset, size, s, true, false)
}

// MemcpyDToHostAsync copies to pinned memory. It returns at once.
func (d *Device) MemcpyDToHostAsync(dst device.Host, offset uint64, src device.Ptr, size uint64,
	s device.Stream) device.Code {
	return d.copyPinned(src, dst, offset, size, s, false, false)
}

func (d *Device) copyPinned(p device.Ptr, host device.Host, offset, size uint64, h device.Stream, up,
	wait bool) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	kind := device.Read
	if up {
		kind = device.Write
	}
	s, c := d.beginTransfer(d.profile.Copy, h, p, size, kind)
	if s == nil {
		return c
	}
	b := d.pinned.buffers[host]
	if offset > uint64(len(b)) || size > uint64(len(b))-offset {
		return device.ErrorInvalidValue
	}
	b = b[offset : offset+size]
	var o *op
	if up {
		o = d.enqueue(s, upload{uint64(p), b}, d.uploadDemand(size, d.profile.HtoDBandwidth))
	} else {
		o = d.enqueue(s, download{b, uint64(p)}, d.downloadDemand(size, d.profile.DtoHBandwidth))
	}
	if wait {
		d.wait(o)
	}
	return d.fault
}

// MemcpyDtoD copies on the legacy stream and does not wait.
func (d *Device) MemcpyDtoD(dst, src device.Ptr, size uint64) device.Code {
	return d.MemcpyDtoDAsync(dst, src, size, 0)
}

// MemcpyDtoDAsync copies within the device's memory. It returns at once.
func (d *Device) MemcpyDtoDAsync(dst, src device.Ptr, size uint64, h device.Stream) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, c := d.beginTransfer(d.profile.CopyWithin, h, dst, size, device.Write)
	if s == nil {
		return c
	}
	if !d.inside(src, size, device.Read) {
		return device.ErrorInvalidValue
	}
	d.enqueue(s, transfer{uint64(dst), uint64(src), size}, d.memoryDemand(2*size))
	return device.Success
}

// MemsetD8 fills memory on the legacy stream and does not wait.
func (d *Device) MemsetD8(p device.Ptr, value byte, size uint64) device.Code {
	return d.MemsetD8Async(p, value, size, 0)
}

// MemsetD8Async fills memory. It returns at once.
func (d *Device) MemsetD8Async(p device.Ptr, value byte, size uint64, h device.Stream) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, c := d.beginTransfer(d.profile.Memset.At(size), h, p, size, device.Write)
	if s == nil {
		return c
	}
	d.enqueue(s, memset{uint64(p), size, value}, d.memoryDemand(size))
	return device.Success
}

// beginTransfer opens a copy or memset that costs the host so much and reads or writes size bytes at p. Where it
// answers no stream, the call ends with the code: a fault, or success for 0 bytes.
func (d *Device) beginTransfer(cost int64, h device.Stream, p device.Ptr, size uint64, kind device.AccessKind) (*stream,
	device.Code) {
	if c := d.begin(cost); c != device.Success {
		return nil, c
	}
	s := d.streams[h]
	switch {
	case s == nil:
		return nil, device.ErrorInvalidHandle
	case size == 0:
		return nil, device.Success
	case !d.inside(p, size, kind):
		return nil, device.ErrorInvalidValue
	}
	return s, device.Success
}

// bounceBuffer is how much of a copy to pageable memory the driver has arrive in memory of its own before it copies it
// on: a copy of 1 MiB takes as long as both one after the other, one of 16 MiB hardly longer than the second.
const bounceBuffer = 1 << 20

// uploadDemand is what a copy to the device asks for: one of the two copy engines, and its share of the link.
func (d *Device) uploadDemand(size uint64, bandwidth int64) demand {
	return d.copyDemand(d.profile.HtoD+timeFor(size, bandwidth), &d.htod, bandwidth)
}

// downloadDemand is what a copy to the host asks for: the other engine.
func (d *Device) downloadDemand(size uint64, bandwidth int64) demand {
	return d.copyDemand(d.profile.DtoH+timeFor(size, bandwidth), &d.dtoh, bandwidth)
}

func (d *Device) copyDemand(length int64, engine *timeline, bandwidth int64) demand {
	return demand{latency: d.profile.LaunchLatency, length: d.vary(length),
		needs: [3]need{{engine, 1, 1}, {&d.link, bandwidth / megabyte, 1}}}
}

// memoryDemand is what an operation asks for that moves so many bytes within the device: memory bandwidth, unless it is
// over before it has used any to speak of.
func (d *Device) memoryDemand(bytes uint64) demand {
	length := timeFor(bytes, d.profile.MemoryBandwidth)
	took := d.vary(d.profile.Move + length)
	w := demand{latency: d.profile.LaunchLatency, lead: min(took, d.profile.Move)}
	w.length = took - w.lead
	if length > d.profile.Move {
		w.needs[0] = need{&d.bandwidth, d.profile.MemoryBandwidth / megabyte, 1}
	}
	return w
}
