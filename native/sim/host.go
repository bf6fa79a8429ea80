package sim

import "cudalab/native/device"

// hostMemory is pinned host memory. Operations that are still to run keep the buffers they use.
type hostMemory struct {
	buffers map[device.Host][]byte
	total   uint64
	next    device.Host
}

// pinnedLimit is how many bytes may be pinned at a time: they are real memory of this machine.
const pinnedLimit = 4 << 30

// Where addresses of pinned memory start, and their alignment.
const (
	pinnedBase      = 0x7fa0_0000_0000
	pinnedAlignment = 4 << 10
)

// MemAllocHost makes pinned memory, of zeros as the operating system hands it out. It answers ErrorOutOfMemory beyond
// 4 GiB in all.
func (d *Device) MemAllocHost(size uint64) (device.Host, device.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.HostMalloc.At(0)); c != device.Success {
		return 0, c
	}
	if size == 0 {
		return 0, device.Success
	}
	if size > pinnedLimit-d.pinned.total {
		return 0, device.ErrorOutOfMemory
	}
	if d.pinned.buffers == nil {
		d.pinned.buffers = map[device.Host][]byte{}
		d.pinned.next = pinnedBase
	}
	h := d.pinned.next
	d.pinned.next += device.Host(roundUp(size, pinnedAlignment))
	d.pinned.buffers[h] = make([]byte, size)
	d.pinned.total += size
	d.now += d.profile.HostMalloc.At(size) - d.profile.HostMalloc.At(0)
	return h, device.Success
}

// MemFreeHost waits until all work on the device has ended, since copies that are under way may use the memory.
func (d *Device) MemFreeHost(h device.Host) device.Code {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.begin(d.profile.HostFree.At(0)); c != device.Success || h == 0 {
		return c
	}
	b, ok := d.pinned.buffers[h]
	if !ok {
		return device.ErrorInvalidValue
	}
	d.waitForDevice()
	d.now += d.profile.HostFree.At(uint64(len(b))) - d.profile.HostFree.At(0)
	d.pinned.total -= uint64(len(b))
	delete(d.pinned.buffers, h)
	return d.fault
}

// HostRead sees what is there now: a copy that the host has not waited for may not have run.
func (d *Device) HostRead(h device.Host, offset uint64, dst []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	copy(dst, d.pinned.buffers[h][offset:])
}

// HostWrite writes now: a copy from there that has not run yet copies this.
func (d *Device) HostWrite(h device.Host, offset uint64, src []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	copy(d.pinned.buffers[h][offset:], src)
}
