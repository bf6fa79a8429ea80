package cuda

import (
	"cudalab/native/device"
	"cudalab/native/session"
)

const (
	callMalloc      = "cudaMalloc"
	callMallocAsync = "cudaMallocAsync"
	callFree        = "cudaFree"
	callFreeAsync   = "cudaFreeAsync"
	callMemset      = "cudaMemset"
	callMemsetAsync = "cudaMemsetAsync"
)

// DevicePtr is an address in device memory; 0 is the null pointer. Adding to it moves it by bytes. The host cannot
// read what it points to: copy it.
type DevicePtr uint64

// Malloc allocates device memory that every stream may use from now on. Its contents are undefined. It is slow; it does
// not wait for the device.
func Malloc(size int64) (DevicePtr, error) {
	p, code := session.Current().Malloc(size)
	return DevicePtr(p), refusedSize(callMalloc, code, badSize, size)
}

// Free frees device memory, from Malloc or from MallocAsync. For memory from Malloc it waits for the device in
// practice, but CUDA only says that it may; for memory from MallocAsync it does not wait. The null pointer is legal.
func Free(p DevicePtr) error {
	return answer(callFree, session.Current().Free(device.Ptr(p)))
}

// MallocAsync allocates device memory in the stream's order, from the device's memory pool: work that is ordered after
// this call may use it. The pointer is known at once, and is null for 0 bytes. The contents are undefined.
func MallocAsync(size int64, s Stream) (DevicePtr, error) {
	p, code := session.Current().MallocAsync(size, s.s)
	return DevicePtr(p), refusedSize(callMallocAsync, code, negative, size)
}

// FreeAsync frees device memory, from MallocAsync or from Malloc, in the stream's order: every use must be ordered
// before it. It may be another stream than the one that allocated. The null pointer is legal.
func FreeAsync(p DevicePtr, s Stream) error {
	return answer(callFreeAsync, session.Current().FreeAsync(device.Ptr(p), s.s))
}

// Memset sets count bytes to value, on the legacy default stream. The host does not wait for it.
func Memset(p DevicePtr, value byte, count int64) error {
	return refusedSize(callMemset, session.Current().Memset(device.Ptr(p), value, count), badRange, count)
}

// MemsetAsync sets count bytes to value in the stream's order.
func MemsetAsync(p DevicePtr, value byte, count int64, s Stream) error {
	return refusedSize(callMemsetAsync, session.Current().MemsetAsync(device.Ptr(p), value, count, s.s), badRange, count)
}
