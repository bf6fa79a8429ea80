package cuda_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/trace"
)

func TestErrorsSayWhatToDo(t *testing.T) {
	e := newEnv(t)
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
		{cuda.StreamSynchronize(e.deadStream), "cudaStreamSynchronize: CUDA_ERROR_INVALID_HANDLE (400): the stream or event " +
			"was never created, or has been destroyed; create it first and destroy it after its last use"},
		{cuda.MemPoolDestroy(e.deadPool), "cudaMemPoolDestroy: CUDA_ERROR_INVALID_VALUE (1): the pool has been destroyed; " +
			"destroy it after its last use"},
		{cuda.MemPoolDestroy(must[cuda.MemPool](t)(cuda.DeviceGetDefaultMemPool(0))), "cudaMemPoolDestroy: " +
			"CUDA_ERROR_INVALID_VALUE (1): the device's default pool cannot be destroyed; " +
			"destroy the pools that MemPoolCreate has made"},
		{cuda.DeviceSetMemPool(0, cuda.MemPool{}), "cudaDeviceSetMemPool: CUDA_ERROR_INVALID_VALUE (1): there is no pool; " +
			"MemPoolCreate makes one, DeviceGetDefaultMemPool answers the device's own"},
		{cuda.MemPoolSetAttribute(e.pool, cuda.MemPoolAttrUsedMemHigh, 1), "cudaMemPoolSetAttribute: " +
			"CUDA_ERROR_INVALID_VALUE (1): a high-watermark can only be set to 0, which makes it the current value"},
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
