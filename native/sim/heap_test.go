package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// A heap's blocks tile its addresses, and gaps are what is not mapped of them.
func TestHeapInvariants(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	d := New(Options{Memory: 1 << 30})
	streams := []device.Stream{0, newStream(t, d), newStream(t, d)}
	var live []device.Ptr
	for range 5000 {
		s := streams[r.IntN(len(streams))]
		switch n := r.IntN(20); {
		case n < 10:
			size := uint64(1) << r.IntN(27)
			if p, c := d.MemAllocAsync(size+r.Uint64N(size), s); c == device.Success {
				live = append(live, p)
			}
		case n < 19 && len(live) > 0:
			i := r.IntN(len(live))
			ok(t, d.MemFreeAsync(live[i], s))
			live = append(live[:i], live[i+1:]...)
		case n == 19:
			ok(t, d.StreamSynchronize(s))
		}
		h := &d.pools[0].heap
		var held, asked uint64
		blocks := slices.SortedFunc(slices.Values(slices.Concat(h.live, h.free)), func(a, b *block) int {
			return cmp.Compare(a.addr, b.addr)
		})
		end := uint64(poolBase)
		for _, b := range blocks {
			require.Equal(t, end, b.addr)
			end = b.end()
			asked += b.asked
			require.LessOrEqual(t, b.asked, b.size)
			if !b.gap {
				held += b.size
				continue
			}
			require.Zero(t, b.addr%h.step)
			require.Zero(t, b.size%h.step)
		}
		require.EqualValues(t, poolBase+reach, end)
		require.True(t, slices.IsSortedFunc(h.live, func(a, b *block) int { return cmp.Compare(a.addr, b.addr) }))
		require.True(t, slices.IsSortedFunc(h.free, func(a, b *block) int { return cmp.Compare(a.addr, b.addr) }))
		require.Equal(t, h.held, held)
		require.Equal(t, d.reserved, held)
		require.Equal(t, d.pools[0].used, asked)
		require.Len(t, live, len(h.live))
		var mapped uint64
		for _, m := range d.mem.mappings {
			mapped += m.size
		}
		require.Equal(t, held, mapped)
	}
}

// A device with more memory than a heap has addresses places it all the same, from cuMemAlloc and from its pool.
func TestMemoryBeyondAHeap(t *testing.T) {
	d := New(Options{Memory: 1 << 62})
	p, c := d.MemAlloc(1 << 61)
	ok(t, c)
	q, c := d.MemAllocAsync(1<<59, 0)
	ok(t, c)
	require.Less(t, uint64(p)+1<<61, uint64(1)<<63)
	require.True(t, uint64(q)+1<<59 <= uint64(p) || uint64(p)+1<<61 <= uint64(q))
	ok(t, d.MemFree(p))
	ok(t, d.MemFree(q))
	_, c = d.MemAlloc(1<<62 + 1)
	require.Equal(t, device.ErrorOutOfMemory, c)
}
