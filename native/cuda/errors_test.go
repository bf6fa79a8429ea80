package cuda_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/trace"
)

func TestErrorsSayWhatToDo(t *testing.T) {
	e := newEnv(t)
	unsupported := func(call func() error) error { // what an H200 says to a mapping of a part
		e.session.Fail(trace.OpMemMap, 1, device.ErrorNotSupported)
		return call()
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(cuda.MallocAsync(1<<60, e.s)), "cudaMallocAsync: CUDA_ERROR_OUT_OF_MEMORY (2): " +
			"the device has no room for so much more; free what is no longer needed, " +
			"and look for memory that is never freed"},
		{cuda.Free(e.dead), "cudaFree: CUDA_ERROR_INVALID_VALUE (1): no allocation that is still alive starts at this " +
			"address; free what an allocation returned, once"},
		{cuda.MemcpyHtoD(e.m, cuda.Pageable(e.slice), 65), "cuMemcpyHtoD: CUDA_ERROR_INVALID_VALUE (1): the count is " +
			"65 bytes, but the host's side has only 64; a count is in bytes, not in elements"},
		{cuda.MemcpyHtoD(e.m, e.pinned.At(300), 8), "cuMemcpyHtoD: CUDA_ERROR_INVALID_VALUE (1): " +
			"offset 300 lies outside the host's buffer"},
		{cuda.MemcpyHtoD(e.m, cuda.HostBuffer{}, 8), "cuMemcpyHtoD: CUDA_ERROR_INVALID_VALUE (1): the host's side is nil; " +
			"pass cuda.Pageable(slice) or a buffer from MallocHost"},
		{cuda.MemcpyDtoH(e.deadPinned, e.m, 8), "cuMemcpyDtoH: CUDA_ERROR_INVALID_VALUE (1): the host's buffer has been " +
			"freed; free it after its last use"},
		{e.pinned.Read(250, make([]byte, 8)), "HostBuffer.Read: CUDA_ERROR_INVALID_VALUE (1): bytes 250 to 258 are asked " +
			"for, but the buffer has 256"},
		{cuda.StreamSynchronize(e.deadStream), "cudaStreamSynchronize: CUDA_ERROR_INVALID_HANDLE (400): the stream or " +
			"event was never created, or has been destroyed; create it first and destroy it after its last use"},
		{cuda.MemPoolDestroy(e.deadPool), "cudaMemPoolDestroy: CUDA_ERROR_INVALID_VALUE (1): the pool has been destroyed; " +
			"destroy it after its last use"},
		{cuda.MemPoolDestroy(must[cuda.MemPool](t)(cuda.DeviceGetDefaultMemPool(0))), "cudaMemPoolDestroy: " +
			"CUDA_ERROR_INVALID_VALUE (1): the device's default pool cannot be destroyed; " +
			"destroy the pools that MemPoolCreate has made"},
		{cuda.DeviceSetMemPool(0, cuda.MemPool{}), "cudaDeviceSetMemPool: CUDA_ERROR_INVALID_VALUE (1): there is no pool; " +
			"MemPoolCreate makes one, DeviceGetDefaultMemPool answers the device's own"},
		{cuda.MemPoolSetAttribute(e.pool, cuda.MemPoolAttrUsedMemHigh, 1), "cudaMemPoolSetAttribute: " +
			"CUDA_ERROR_INVALID_VALUE (1): a high-watermark can only be set to 0, which makes it the current value"},
		{second(cuda.MemGetAllocationGranularity(devProp, 7)),
			"cuMemGetAllocationGranularity: CUDA_ERROR_INVALID_VALUE (1): " +
				"memory is of type MemAllocationTypePinned, and lies at a location of type MemLocationTypeDevice; " +
				"the granularities are MemAllocGranularityMinimum and MemAllocGranularityRecommended"},
		{second(cuda.MemAddressReserve(0, 0, 0, 0)), "cuMemAddressReserve: CUDA_ERROR_INVALID_VALUE (1): " +
			"the size is 0 bytes; ask for at least one"},
		{second(cuda.MemAddressReserve(granule, 12, 0, 0)), "cuMemAddressReserve: CUDA_ERROR_INVALID_VALUE (1): " +
			"the alignment is 12, which is no power of two; 0 is the default"},
		{second(cuda.MemCreate(1000, devProp, 0)), "cuMemCreate: CUDA_ERROR_INVALID_VALUE (1): the size is 1000 bytes, " +
			"which is no multiple of the granularity that MemGetAllocationGranularity answers"},
		{second(cuda.MemCreate(granule, devProp, 1)), "cuMemCreate: CUDA_ERROR_INVALID_VALUE (1): " +
			"the flags must be 0: CUDA has none for this call"},
		{second(cuda.MemCreate(granule, cuda.MemAllocationProp{}, 0)),
			"cuMemCreate: CUDA_ERROR_INVALID_VALUE (1): memory is " +
				"of type MemAllocationTypePinned, and lies at a location of type MemLocationTypeDevice"},
		{cuda.MemAddressFree(e.va, granule), "cuMemAddressFree: CUDA_ERROR_INVALID_VALUE (1): a range is given back once, " +
			"as a whole, with the address and the size of its reservation, and with nothing mapped in it; unmap first"},
		{cuda.MemRelease(e.deadHandle), "cuMemRelease: CUDA_ERROR_INVALID_VALUE (1): the handle has been released before; " +
			"release each handle once"},
		{cuda.MemMap(e.va, granule, 0, cuda.MemGenericAllocationHandle{}, 0), "cuMemMap: CUDA_ERROR_INVALID_VALUE (1): " +
			"there is no physical memory; MemCreate makes some"},
		{cuda.MemMap(e.va, granule, 5, e.deadHandle, 0), "cuMemMap: CUDA_ERROR_INVALID_VALUE (1): " +
			"the handle has been released; release it after the last MemMap that names it"},
		{cuda.MemMap(e.va+granule, 0, 0, e.h, 0), "cuMemMap: CUDA_ERROR_INVALID_VALUE (1): the size is 0 bytes; " +
			"a mapping is all of a handle's memory"},
		{cuda.MemMap(e.va+granule, granule, 0, e.h, 1), "cuMemMap: CUDA_ERROR_INVALID_VALUE (1): " +
			"the flags must be 0: CUDA has none for this call"},
		{unsupported(func() error { return cuda.MemMap(e.va+granule, granule/2, 5, e.h, 0) }),
			"cuMemMap: CUDA_ERROR_NOT_SUPPORTED (801): the size is 1048576 bytes at " +
				"offset 5, but CUDA maps only all of a handle's memory, here 2097152 bytes, at offset 0; make a handle for " +
				"each part"},
		{second(cuda.MemAddressReserve(granule, 0, e.va+1, 0)),
			"cuMemAddressReserve: CUDA_ERROR_INVALID_VALUE (1): the size is " +
				fmt.Sprintf("2097152 bytes and the address %#x; ", uint64(e.va+1)) +
				"both must be multiples of the granularity that MemGetAllocationGranularity answers"},
		{cuda.MemMap(e.va, granule, 0, e.h, 0), "cuMemMap: CUDA_ERROR_INVALID_VALUE (1): all of the addresses must be " +
			"reserved, with nothing mapped there yet, and begin at a multiple of the granularity that " +
			"MemGetAllocationGranularity answers"},
		{cuda.MemUnmap(e.va, 64), "cuMemUnmap: CUDA_ERROR_INVALID_VALUE (1): only whole mappings can be unmapped, " +
			"one or several, from the address that MemMap was given on and in its size"},
		{cuda.MemSetAccess(e.va, granule, nil), "cuMemSetAccess: CUDA_ERROR_INVALID_VALUE (1): " +
			"there is no description; pass one MemAccessDesc for the device"},
		{cuda.MemSetAccess(e.va, granule, []cuda.MemAccessDesc{{Location: devLocation, Flags: 2}}), "cuMemSetAccess: " +
			"CUDA_ERROR_INVALID_VALUE (1): a description's flags are no kind of access; the names are MemAccessFlagsProt…"},
		{cuda.MemSetAccess(e.va+granule, granule, readWrite), "cuMemSetAccess: CUDA_ERROR_INVALID_VALUE (1): " +
			"all of the addresses must be mapped, with whole mappings; MemMap comes first"},
		{launch(touchMany, e.s, 1), "cudaLaunchKernel: CUDA_ERROR_INVALID_VALUE (1): " +
			"the kernel touch_many has 3 parameters and was given 1"},
		{cuda.LaunchKernel(touchMany, cuda.Dim3{X: 1}, cuda.Dim3{}, e.s, 0, 0, 0), "cudaLaunchKernel: " +
			"CUDA_ERROR_INVALID_VALUE (1): the kernel touch_many cannot run with a grid of 1 x 1 x 1 blocks of 0 x 1 x 1 " +
			"threads; each extent must be at least 1, a block has at most 1024 threads, " +
			"a grid at most 65535 blocks in y and z"},
	} {
		require.EqualError(t, c.err, c.want)
	}
}

func second[T any](_ T, err error) error { return err }

func TestErrorsCompareWithTheirCode(t *testing.T) {
	s := start(t)
	s.Fail(trace.OpStreamQuery, 1, device.ErrorNotReady)
	err := cuda.StreamQuery(cuda.Stream{})
	require.ErrorIs(t, err, cuda.ErrorNotReady)
	require.NotErrorIs(t, err, cuda.ErrorInvalidValue)
	var e *cuda.Error
	require.True(t, errors.As(err, &e))
	require.Equal(t, "cudaStreamQuery", e.Call)
}

func TestGetLastError(t *testing.T) {
	start(t)
	require.NoError(t, cuda.GetLastError())
	require.Error(t, cuda.Free(12345))
	require.ErrorIs(t, cuda.GetLastError(), cuda.ErrorInvalidValue)
	require.NoError(t, cuda.GetLastError())
}
