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
