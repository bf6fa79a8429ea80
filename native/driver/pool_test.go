package driver

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// The driver reads the whole of a CUmemPoolProps, which is 88 bytes long in every version of cuda.h.
func TestPoolPropsAreAsLongAsInC(t *testing.T) {
	require.Equal(t, uintptr(16), unsafe.Offsetof(poolProps{}.security))
	require.Equal(t, uintptr(88), unsafe.Sizeof(poolProps{}))
}

func TestDriverPoolOfItsOwn(t *testing.T) {
	d := gpu(t)
	if !d.Info().MemoryPools {
		t.Skip("this GPU has no memory pools")
	}
	s := newStream(t, d)
	standard, code := d.DeviceGetDefaultMemPool()
	ok(t, code)
	pool, code := d.MemPoolCreate()
	ok(t, code)
	require.NotEqual(t, standard, pool)
	ok(t, d.MemPoolSetAttribute(pool, device.PoolReleaseThreshold, 1<<30))

	const size = 1 << 20
	p, code := d.MemAllocFromPoolAsync(size, pool, s)
	ok(t, code)
	ok(t, d.MemsetD8Async(p, 7, size, s))
	used, code := d.MemPoolGetAttribute(pool, device.PoolUsedMemCurrent)
	ok(t, code)
	require.Equal(t, uint64(size), used)
	got := make([]byte, 4)
	ok(t, d.MemcpyDtoHAsync(got, p, s))
	require.Equal(t, []byte{7, 7, 7, 7}, got)
	ok(t, d.MemFreeAsync(p, s))
	ok(t, d.StreamSynchronize(s))

	kept, code := d.MemPoolGetAttribute(pool, device.PoolReservedMemCurrent)
	ok(t, code)
	require.GreaterOrEqual(t, kept, uint64(size))
	ok(t, d.MemPoolTrimTo(pool, 0))
	kept, code = d.MemPoolGetAttribute(pool, device.PoolReservedMemCurrent)
	ok(t, code)
	require.Zero(t, kept)

	ok(t, d.DeviceSetMemPool(pool))
	current, code := d.DeviceGetMemPool()
	ok(t, code)
	require.Equal(t, pool, current)
	ok(t, d.MemPoolDestroy(pool))
	current, code = d.DeviceGetMemPool()
	ok(t, code)
	require.Equal(t, standard, current)
}
