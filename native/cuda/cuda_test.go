package cuda_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/cuda"
	"cudalab/native/device"
)

func TestBytesMakeTheRoundTrip(t *testing.T) {
	start(t)
	s := must[cuda.Stream](t)(cuda.StreamCreate())
	p := must[cuda.DevicePtr](t)(cuda.MallocAsync(32, s))
	h := must[cuda.HostBuffer](t)(cuda.MallocHost(32))
	require.Equal(t, int64(32), h.Len())
	require.Zero(t, cuda.HostBuffer{}.Len())

	require.NoError(t, h.Write(4, []byte{1, 2, 3, 4}))
	require.NoError(t, cuda.MemsetAsync(p, 9, 32, s))
	require.NoError(t, cuda.MemcpyHtoDAsync(p+8, h.At(4), 4, s))
	require.NoError(t, cuda.MemcpyDtoDAsync(p+16, p+8, 4, s))
	require.NoError(t, cuda.MemcpyDtoHAsync(h, p+8, 16, s))
	require.NoError(t, cuda.StreamSynchronize(s))
	got := make([]byte, 16)
	require.NoError(t, h.Read(0, got))
	require.Equal(t, []byte{1, 2, 3, 4, 9, 9, 9, 9, 1, 2, 3, 4, 9, 9, 9, 9}, got)

	require.NoError(t, cuda.MemcpyHtoDAsync(p, cuda.Pageable{5, 6, 7}, 2, s))
	require.NoError(t, cuda.MemcpyDtoHAsync(cuda.Pageable(got), p, 3, s))
	require.Equal(t, []byte{5, 6, 9}, got[:3])
	require.NoError(t, cuda.MemcpyDtoH(h.At(30), p, 2))
	require.NoError(t, h.Read(30, got[:2]))
	require.Equal(t, []byte{5, 6}, got[:2])
}

func TestHandlesReusedByTheDriverAreNotTheSameStream(t *testing.T) {
	start(t)
	a := must[cuda.Stream](t)(cuda.StreamCreate())
	require.NoError(t, cuda.StreamDestroy(a))
	b := must[cuda.Stream](t)(cuda.StreamCreate())
	require.NotEqual(t, a, b)
	require.Equal(t, b, b)
	require.ErrorIs(t, cuda.StreamSynchronize(a), cuda.ErrorInvalidResourceHandle)
	require.NoError(t, cuda.StreamSynchronize(b))
}

func TestElapsedTimeIsTheDevices(t *testing.T) {
	start(t)
	from := must[cuda.Event](t)(cuda.EventCreate())
	to := must[cuda.Event](t)(cuda.EventCreate())
	p := must[cuda.DevicePtr](t)(cuda.Malloc(1 << 30))
	require.NoError(t, cuda.EventRecord(from, cuda.Stream{}))
	require.NoError(t, cuda.Memset(p, 0, 1<<26))
	require.NoError(t, cuda.EventRecord(to, cuda.Stream{}))
	require.NoError(t, cuda.EventSynchronize(to))
	ms := must[float32](t)(cuda.EventElapsedTime(from, to))
	require.Positive(t, ms)

	never := must[cuda.Event](t)(cuda.EventCreate())
	_, err := cuda.EventElapsedTime(from, never)
	require.ErrorIs(t, err, cuda.ErrorInvalidResourceHandle)
	require.ErrorContains(t, err, "was never recorded")
}

func TestDeviceQueries(t *testing.T) {
	s := start(t)
	require.Equal(t, 1, must[int](t)(cuda.GetDeviceCount()))
	require.Zero(t, must[int](t)(cuda.GetDevice()))
	require.NoError(t, cuda.SetDevice(0))
	prop := must[cuda.DeviceProp](t)(cuda.GetDeviceProperties(0))
	info := s.Device().Info()
	require.Equal(t, info.Name, prop.Name)
	require.Equal(t, int64(info.TotalMemory), prop.TotalGlobalMem)
	require.Equal(t, info.ComputeCapability, [2]int{prop.Major, prop.Minor})
	require.Equal(t, 1024, prop.MaxThreadsPerBlock)

	free, total, err := cuda.MemGetInfo()
	require.NoError(t, err)
	p := must[cuda.DevicePtr](t)(cuda.Malloc(1 << 30))
	less, _, err := cuda.MemGetInfo()
	require.NoError(t, err)
	require.Equal(t, int64(1<<30), free-less)
	require.LessOrEqual(t, free, total)
	require.NoError(t, cuda.Free(p))
}

// What package cuda adds to a call may not make garbage: student code is timed through it.
func TestLaunchingAllocatesNothingOfItsOwn(t *testing.T) {
	s := start(t)
	s.StopTrace()
	p := must[cuda.DevicePtr](t)(cuda.Malloc(64))
	per := testing.AllocsPerRun(1000, func() {
		_ = launch(touchMany, cuda.Stream{}, 16, uint64(p), uint64(p))
		_ = cuda.DeviceSynchronize()
	})
	d := s.Device()
	l := &device.Launch{Kernel: touchMany, Grid: cuda.Dim3{X: 2}, Block: cuda.Dim3{X: 32}}
	bare := testing.AllocsPerRun(1000, func() {
		d.LaunchKernel(l)
		d.CtxSynchronize()
	})
	require.LessOrEqual(t, per, bare)
	require.NoError(t, cuda.Free(p))
}
