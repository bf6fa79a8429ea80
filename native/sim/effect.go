package sim

import "cudalab/native/device"

// effect is what an operation does to memory. It answers false for an access outside mapped memory.
type effect interface {
	apply(d *Device) bool
}

// TimeOnly has the operations that are enqueued from now on take their time, but write no memory, until it is called
// with false: for code that is timed and whose results nobody looks at.
func (d *Device) TimeOnly(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.idle = on
}

type poisoning struct{ address, size uint64 }

// A pending allocation or free of memory that is no longer mapped touches nothing: it is not an access.
func (e poisoning) apply(d *Device) bool {
	d.mem.poison(e.address, e.size)
	return true
}

type memset struct {
	address, size uint64
	value         byte
}

func (e memset) apply(d *Device) bool {
	return d.mem.fill(e.address, e.size, func(_ int64, bytes []byte) { fill(bytes, e.value) })
}

type upload struct {
	address uint64
	from    []byte
}

func (e upload) apply(d *Device) bool {
	for len(e.from) > 0 {
		b := d.mem.view(e.address, uint64(len(e.from)), true)
		if b == nil {
			return false
		}
		copy(b, e.from)
		e.address += uint64(len(b))
		e.from = e.from[len(b):]
	}
	return true
}

type download struct {
	to      []byte
	address uint64
}

func (e download) apply(d *Device) bool {
	for len(e.to) > 0 {
		b := d.mem.view(e.address, uint64(len(e.to)), false)
		if b == nil {
			return false
		}
		e.to = e.to[copy(e.to, b):]
		e.address += uint64(len(b))
	}
	return true
}

type transfer struct{ to, from, size uint64 }

func (e transfer) apply(d *Device) bool {
	for e.size > 0 {
		// A copy of what nobody has written needs no memory of its own.
		if n := d.mem.writable(e.to, d.mem.unwritten(e.from, e.size)); n > 0 {
			d.mem.poison(e.to, n)
			e.to, e.from, e.size = e.to+n, e.from+n, e.size-n
			continue
		}
		from := d.mem.view(e.from, e.size, false)
		if from == nil {
			return false
		}
		to := d.mem.view(e.to, uint64(len(from)), true)
		if to == nil {
			return false
		}
		n := uint64(copy(to, from))
		e.to, e.from, e.size = e.to+n, e.from+n, e.size-n
	}
	return true
}

type kernel struct{ launch device.Launch }

func (e *kernel) apply(d *Device) bool {
	if d.virtual.forbids(&e.launch) {
		return false
	}
	v := &viewer{memory: &d.mem}
	e.launch.Kernel.Exec(&e.launch, v)
	return !v.faulted
}

// viewer is device memory as a kernel sees it.
type viewer struct {
	memory  *memory
	faulted bool
}

// View is device.Memory's.
func (v *viewer) View(p device.Ptr, n uint64) []byte {
	b := v.memory.view(uint64(p), n, false)
	v.faulted = v.faulted || b == nil
	return b
}

// Fill is device.Memory's.
func (v *viewer) Fill(p device.Ptr, n uint64, write func(first int64, bytes []byte)) bool {
	filled := v.memory.fill(uint64(p), n, write)
	v.faulted = v.faulted || !filled
	return filled
}
