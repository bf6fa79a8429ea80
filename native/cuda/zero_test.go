package cuda_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// Whatever exercises pass, zero values of every kind included, the answer is an error and never a panic.
func TestZeroValuesAreAnswered(t *testing.T) {
	s := session.New(sim.New(sim.Options{}))
	s.Use()
	for _, traced := range []bool{false, true} {
		if traced {
			s.StartTrace()
		}
		p, err := cuda.Malloc(64)
		require.NoError(t, err)
		stream, event, pool, buffer := cuda.Stream{}, cuda.Event{}, cuda.MemPool{}, cuda.HostBuffer{}
		handle, prop, location := cuda.MemGenericAllocationHandle{}, cuda.MemAllocationProp{}, cuda.MemLocation{}
		for name, call := range map[string]func() error{
			"MemcpyHtoD nil":       func() error { return cuda.MemcpyHtoD(p, nil, 4) },
			"MemcpyDtoH nil":       func() error { return cuda.MemcpyDtoH(nil, p, 4) },
			"MemcpyHtoDAsync nil":  func() error { return cuda.MemcpyHtoDAsync(p, nil, 4, stream) },
			"MemcpyDtoHAsync nil":  func() error { return cuda.MemcpyDtoHAsync(nil, p, 4, stream) },
			"MemcpyHtoD no slice":  func() error { return cuda.MemcpyHtoD(p, cuda.Pageable(nil), 4) },
			"MemcpyHtoD no buffer": func() error { return cuda.MemcpyHtoD(p, buffer, 4) },
			"MemcpyDtoH behind":    func() error { return cuda.MemcpyDtoH(buffer.At(-1), p, 4) },
			"buffer read":          func() error { return buffer.Read(0, make([]byte, 1)) },
			"buffer write":         func() error { return buffer.Write(-1, make([]byte, 1)) },
			"EventRecord":          func() error { return cuda.EventRecord(event, stream) },
			"EventDestroy":         func() error { return cuda.EventDestroy(event) },
			"StreamDestroy":        func() error { return cuda.StreamDestroy(stream) },
			"StreamWaitEvent":      func() error { return cuda.StreamWaitEvent(stream, event) },
			"MemPoolDestroy":       func() error { return cuda.MemPoolDestroy(pool) },
			"MemPoolTrimTo":        func() error { return cuda.MemPoolTrimTo(pool, 0) },
			"MallocFromPoolAsync":  func() error { _, err := cuda.MallocFromPoolAsync(4, pool, stream); return err },
			"MemRelease":           func() error { return cuda.MemRelease(handle) },
			"MemMap":               func() error { return cuda.MemMap(0, granule, 0, handle, 0) },
			"MemMap nothing":       func() error { return cuda.MemMap(0, 0, 0, handle, 0) },
			"MemUnmap":             func() error { return cuda.MemUnmap(0, 0) },
			"MemAddressFree":       func() error { return cuda.MemAddressFree(0, 0) },
			"MemSetAccess":         func() error { return cuda.MemSetAccess(0, 0, nil) },
			"MemSetAccess nowhere": func() error { return cuda.MemSetAccess(p, 64, []cuda.MemAccessDesc{{Location: location}}) },
			"MemCreate":            func() error { _, err := cuda.MemCreate(granule, prop, 0); return err },
			"MemAddressReserve":    func() error { _, err := cuda.MemAddressReserve(0, 0, 0, 0); return err },
			"LaunchKernel": func() error {
				return cuda.LaunchKernel(nil, cuda.Dim3{X: 1}, cuda.Dim3{X: 1}, stream)
			},
		} {
			require.NotPanics(t, func() { require.Error(t, call(), name) }, name)
		}
		require.NotPanics(t, func() { _ = cuda.FreeHost(buffer) })
		require.NotPanics(t, func() { _, _ = cuda.MemGetAllocationGranularity(prop, 0) })
	}
}
