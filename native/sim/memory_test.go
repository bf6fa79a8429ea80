package sim

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

func TestMemoryLimit(t *testing.T) {
	d := New(Options{Memory: 100 * mib})
	free := func() uint64 {
		free, total, c := d.MemGetInfo()
		ok(t, c)
		require.EqualValues(t, 100*mib, total)
		return free
	}
	require.EqualValues(t, 100*mib, free())
	small := malloc(t, d, 1)
	require.EqualValues(t, 98*mib, free(), "a granule")
	big := malloc(t, d, 98*mib)
	require.Zero(t, free())
	_, c := d.MemAlloc(2 * mib)
	require.Equal(t, device.ErrorOutOfMemory, c)
	_, c = d.MemAllocAsync(1, 0)
	require.Equal(t, device.ErrorOutOfMemory, c)
	more := malloc(t, d, mib) // what is left of the first granule
	ok(t, d.MemFree(big))
	require.EqualValues(t, 98*mib, free())

	p := mallocAsync(t, d, 40*mib, 0)
	require.EqualValues(t, 34*mib, free(), "two steps of the pool")
	ok(t, d.MemFreeAsync(p, 0))
	require.EqualValues(t, 34*mib, free(), "the pool keeps it until something synchronises")
	ok(t, d.MemFree(small))
	ok(t, d.MemFree(more))
	require.EqualValues(t, 36*mib, free())
	ok(t, d.CtxSynchronize())
	require.EqualValues(t, 100*mib, free())
}

// Where memory is short, pools give back what nobody uses, above every threshold.
func TestShortMemoryTakesFromPools(t *testing.T) {
	d := New(Options{Memory: 64 * mib})
	setPool(t, d, device.PoolReleaseThreshold, ^uint64(0))
	p := mallocAsync(t, d, 64*mib, 0)
	ok(t, d.MemFreeAsync(p, 0))
	ok(t, d.CtxSynchronize())
	require.EqualValues(t, 64*mib, poolAttr(t, d, device.PoolReservedMemCurrent))
	ok(t, d.MemFree(malloc(t, d, 40*mib)))
	require.Zero(t, poolAttr(t, d, device.PoolReservedMemCurrent))
}

func TestMallocMemoryFreedInAStream(t *testing.T) {
	d := New(Options{Memory: 64 * mib})
	s := newStream(t, d)
	p := malloc(t, d, 64*mib)
	delay(t, d, s, long)
	ok(t, d.MemFreeAsync(p, s))
	_, c := d.MemAlloc(mib)
	require.Equal(t, device.ErrorOutOfMemory, c, "the free has not run")
	ok(t, d.StreamSynchronize(s))
	malloc(t, d, 64*mib)
}

// Memory costs nothing until it is touched, and no more than what is touched.
func TestMemoryIsLazy(t *testing.T) {
	d := New(Options{})
	materialised := func() (n int) {
		for _, m := range d.mem.mappings {
			for _, c := range m.chunks {
				if c != nil {
					n++
				}
			}
		}
		return n + len(d.mem.spare)
	}
	p := malloc(t, d, 100<<30)
	q := mallocAsync(t, d, 1<<30, 0)
	ok(t, d.MemFreeAsync(q, 0))
	ok(t, d.CtxSynchronize())
	require.Zero(t, materialised())
	ok(t, d.MemsetD8(p+50<<30, 1, 1))
	ok(t, d.CtxSynchronize())
	require.Equal(t, 1, materialised())
	ok(t, d.MemFree(p))
	require.Equal(t, 1, materialised(), "kept for the next touch")
}

// A copy of memory that nobody has written makes none either, and still leaves poison behind.
func TestACopyOfNothing(t *testing.T) {
	d := New(Options{})
	p, q := malloc(t, d, 64*mib), malloc(t, d, 64*mib)
	ok(t, d.MemsetD8(q, 7, 3*chunkSize))
	ok(t, d.MemcpyDtoD(q+chunkSize/2, p+10, 64*mib-chunkSize))
	ok(t, d.CtxSynchronize())
	for _, r := range d.mem.mappings {
		for _, c := range r.chunks {
			require.True(t, c == nil || r.base <= uint64(q) && uint64(q) < r.end(), "only what the memset wrote is there")
		}
	}
	b := make([]byte, 3*chunkSize)
	ok(t, d.MemcpyDtoH(b, q))
	require.Equal(t, bytes.Repeat([]byte{7}, chunkSize/2), b[:chunkSize/2])
	require.Equal(t, bytes.Repeat([]byte{poisonByte}, 5*chunkSize/2), b[chunkSize/2:])
}

// What a closed device leaves to the next one is not seen there.
func TestLeftoverIsPoisoned(t *testing.T) {
	d := New(Options{})
	ok(t, d.MemsetD8(malloc(t, d, 4*mib), 7, 4*mib))
	require.NoError(t, d.Close())
	next := New(Options{})
	b := make([]byte, 4*mib)
	ok(t, next.MemcpyDtoH(b, malloc(t, next, 4*mib)))
	require.Equal(t, bytes.Repeat([]byte{poisonByte}, len(b)), b)
}

// Mapping and unmapping pieces keeps every other byte as it was.
func TestUnmapKeepsNeighbours(t *testing.T) {
	var m memory
	const unit = 2 * chunkSize
	m.add(8*unit, 4*unit)
	for i := range uint64(4) {
		fill(m.view((8+i)*unit, unit, false), byte(i))
	}
	m.remove(9*unit, unit)
	require.Nil(t, m.view(9*unit, 16, false))
	require.Nil(t, m.view(8*unit-1, 1, false))
	require.Equal(t, byte(0), m.view(8*unit, 1, false)[0])
	require.Equal(t, byte(2), m.view(10*unit, 1, false)[0])
	m.remove(11*unit, unit)
	require.Nil(t, m.view(11*unit, 1, false))
	require.Equal(t, byte(2), m.view(11*unit-chunkSize-1, 1, false)[0])
	m.add(9*unit, unit)
	require.Equal(t, poisonByte, m.view(9*unit, 1, false)[0])
	m.remove(8*unit+chunkSize, 2*unit) // of three mappings
	require.Nil(t, m.view(9*unit, 1, false))
	require.Equal(t, byte(0), m.view(8*unit, 1, false)[0])
	require.NotNil(t, m.view(10*unit+chunkSize, 1, false))
}

func TestAlignment(t *testing.T) {
	d := New(Options{})
	for size := uint64(1); size < 5*mib; size = size*3 + 1 {
		require.Zero(t, malloc(t, d, size)%512)
		require.Zero(t, mallocAsync(t, d, size, 0)%512)
	}
}

// What is written to whole chunks and not looked at takes no memory, and is there for whoever looks.
func TestWritingIsPutOff(t *testing.T) {
	d := New(Options{})
	const n = 4 * chunkSize
	p := malloc(t, d, n)
	ok(t, d.MemsetD8(p+100, 7, n-100))
	ok(t, d.CtxSynchronize())
	looked := func() (n int) {
		for _, c := range d.mem.mappings[0].chunks {
			if c != nil && c.bytes != nil {
				n++
			}
		}
		return n
	}
	require.Equal(t, 1, looked(), "the one that is not written whole")
	b := make([]byte, n)
	ok(t, d.MemcpyDtoH(b[:2*chunkSize], p))
	require.Equal(t, 2, looked())
	ok(t, d.MemsetD8(p+3*chunkSize, 9, chunkSize/2))
	ok(t, d.MemcpyDtoH(b, p))
	require.Equal(t, bytes.Repeat([]byte{poisonByte}, 100), b[:100])
	require.Equal(t, bytes.Repeat([]byte{7}, 3*chunkSize-100), b[100:3*chunkSize])
	require.Equal(t, bytes.Repeat([]byte{9}, chunkSize/2), b[3*chunkSize:3*chunkSize+chunkSize/2])
	require.Equal(t, bytes.Repeat([]byte{7}, chunkSize/2), b[3*chunkSize+chunkSize/2:])
}

// Whatever is written, poisoned and read, in whatever pieces, memory holds what a plain array would.
func TestMemoryIsAnArray(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	const size = 4 * chunkSize
	for range 20 {
		var m memory
		m.add(0, size)
		want := bytes.Repeat([]byte{poisonByte}, size)
		for step := range 200 {
			from := r.Uint64N(size)
			to := from + 1 + r.Uint64N(size-from)
			switch r.IntN(3) { // at the borders of chunks and pages, and near them
			case 0:
				from, to = from/chunkSize*chunkSize, roundUp(to, chunkSize)
			case 1:
				from = from / pageSize * pageSize
				to = min(from+1+r.Uint64N(2*pageSize), size)
			}
			switch value := byte(step); r.IntN(5) {
			case 0, 1:
				require.True(t, m.fill(from, to-from, func(first int64, b []byte) {
					for i := range b {
						b[i] = value + byte(first) + byte(i)
					}
				}))
				for i := range to - from {
					want[from+i] = value + byte(i)
				}
			case 2:
				m.poison(from, to-from)
				fill(want[from:to], poisonByte)
			case 3:
				b := m.view(from, to-from, true)
				fill(b, value)
				fill(want[from:from+uint64(len(b))], value)
			default:
				for at := from; at < to; {
					b := m.view(at, to-at, false)
					require.True(t, bytes.Equal(want[at:at+uint64(len(b))], b), "at %d", at)
					at += uint64(len(b))
				}
			}
		}
	}
}
