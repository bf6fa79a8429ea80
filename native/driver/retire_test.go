package driver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// Whatever a pool is left with, the driver survives its end, what follows it, and the end of the context.
func TestDriverPoolsDestroyedWithMemory(t *testing.T) {
	d := gpu(t)
	if !d.Info().MemoryPools {
		t.Skip("this GPU has no memory pools")
	}
	const size = 1 << 20
	busy, other := newStream(t, d), newStream(t, d)
	var kept []device.Ptr
	for i := range 200 {
		pool, code := d.MemPoolCreate()
		ok(t, code)
		ok(t, d.MemPoolSetAttribute(pool, device.PoolReleaseThreshold, 1<<40))
		var blocks [4]device.Ptr
		for b := range blocks {
			blocks[b], code = d.MemAllocFromPoolAsync(size, pool, busy)
			ok(t, code)
		}
		ok(t, d.LaunchKernel(delay(busy, 1)))
		ok(t, d.MemFreeAsync(blocks[0], busy))
		if i%3 == 0 {
			ok(t, d.DeviceSetMemPool(pool))
		}
		ok(t, d.MemPoolDestroy(pool))
		standard, code := d.DeviceGetDefaultMemPool()
		ok(t, code)
		current, code := d.DeviceGetMemPool()
		ok(t, code)
		require.Equal(t, standard, current)

		ok(t, d.MemsetD8Async(blocks[1], 9, size, busy))
		got := make([]byte, 1)
		ok(t, d.MemcpyDtoHAsync(got, blocks[1], busy))
		require.Equal(t, []byte{9}, got)
		ok(t, d.MemFreeAsync(blocks[1], other))
		if i%2 == 0 {
			ok(t, d.StreamSynchronize(other))
		}
		ok(t, d.MemFree(blocks[2]))
		if i%8 != 0 {
			ok(t, d.MemFreeAsync(blocks[3], busy))
		} else {
			kept = append(kept, blocks[3])
		}
	}
	ok(t, d.CtxSynchronize())
	ok(t, d.CtxSynchronize())
	require.Len(t, d.retired.pools, len(kept), "pools whose memory is all free have gone")
	for _, p := range kept[1:] {
		ok(t, d.MemFreeAsync(p, 0))
	}
	ok(t, d.CtxSynchronize())
	require.Len(t, d.retired.pools, 1)
}
