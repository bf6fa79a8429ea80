package cuda

import (
	"cudalab/native/device"
	"cudalab/native/session"
)

const (
	callMemcpyHtoD      = "cuMemcpyHtoD"
	callMemcpyDtoH      = "cuMemcpyDtoH"
	callMemcpyDtoD      = "cuMemcpyDtoD"
	callMemcpyHtoDAsync = "cuMemcpyHtoDAsync"
	callMemcpyDtoHAsync = "cuMemcpyDtoHAsync"
	callMemcpyDtoDAsync = "cuMemcpyDtoDAsync"
)

// HostMemory is the host's side of a copy: Pageable, a HostBuffer, or a place in one (HostBuffer.At). A count beyond
// its end is ErrorInvalidValue, and nothing is copied.
type HostMemory interface{ hostMemory() }

// Pageable is ordinary Go memory.
type Pageable []byte

func (Pageable) hostMemory() {}

// side tells the session what m is; ok is false for a nil HostMemory and for the zero HostBuffer.
func side(m HostMemory) (h session.Host, ok bool) {
	switch m := m.(type) {
	case Pageable:
		return session.Host{Slice: m}, true
	case HostBuffer:
		return session.Host{Buffer: m.b}, m.b != nil
	case place:
		return session.Host{Buffer: m.b, Offset: m.offset}, m.b != nil
	}
	return session.Host{}, false
}

// copied is answer for a copy between host and device.
func copied(call string, code device.Code, h session.Host, known bool, count int64) error {
	switch {
	case code == device.Success:
		return nil
	case !known && count != 0:
		return refused(call, code, "the host's side is nil; pass cuda.Pageable(slice) or a buffer from MallocHost")
	case count < 0:
		return refused(call, code, "the count is negative (%d)", count)
	case h.Room() < 0:
		return refused(call, code, "offset %d lies outside the host's buffer", h.Offset)
	case count > h.Room():
		return refused(call, code, "the count is %d bytes, but the host's side has only %d; "+
			"a count is in bytes, not in elements", count, h.Room())
	case h.Freed():
		return refused(call, code, "the host's buffer has been freed; free it after its last use")
	}
	return refused(call, code, badRange, count)
}

// MemcpyHtoD copies count bytes to the device, on the legacy default stream. It waits for pinned memory; with
// pageable memory it may return once the bytes are staged.
func MemcpyHtoD(dst DevicePtr, src HostMemory, count int64) error {
	h, ok := side(src)
	code := session.Current().MemcpyHtoD(device.Ptr(dst), h, count)
	return copied(callMemcpyHtoD, code, h, ok, count)
}

// MemcpyDtoH copies count bytes from the device, on the legacy default stream, and waits for them.
func MemcpyDtoH(dst HostMemory, src DevicePtr, count int64) error {
	h, ok := side(dst)
	code := session.Current().MemcpyDtoH(h, device.Ptr(src), count)
	return copied(callMemcpyDtoH, code, h, ok, count)
}

// MemcpyDtoD copies count bytes within the device's memory, on the legacy default stream. The host does not wait for
// it.
func MemcpyDtoD(dst, src DevicePtr, count int64) error {
	code := session.Current().MemcpyDtoD(device.Ptr(dst), device.Ptr(src), count)
	return refusedSize(callMemcpyDtoD, code, badRange, count)
}

// MemcpyHtoDAsync copies count bytes to the device in the stream's order. With a HostBuffer it returns at once, and the
// bytes must not change until the copy is done; with Pageable it returns once they are staged.
func MemcpyHtoDAsync(dst DevicePtr, src HostMemory, count int64, s Stream) error {
	h, ok := side(src)
	code := session.Current().MemcpyHtoDAsync(device.Ptr(dst), h, count, s.s)
	return copied(callMemcpyHtoDAsync, code, h, ok, count)
}

// MemcpyDtoHAsync copies count bytes from the device in the stream's order. With a HostBuffer it returns at once, and
// the bytes are there when the stream has come so far; with Pageable it waits.
func MemcpyDtoHAsync(dst HostMemory, src DevicePtr, count int64, s Stream) error {
	h, ok := side(dst)
	code := session.Current().MemcpyDtoHAsync(h, device.Ptr(src), count, s.s)
	return copied(callMemcpyDtoHAsync, code, h, ok, count)
}

// MemcpyDtoDAsync copies count bytes within the device's memory in the stream's order.
func MemcpyDtoDAsync(dst, src DevicePtr, count int64, s Stream) error {
	code := session.Current().MemcpyDtoDAsync(device.Ptr(dst), device.Ptr(src), count, s.s)
	return refusedSize(callMemcpyDtoDAsync, code, badRange, count)
}
