package kernels_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
)

func init() {
	tries(kernels.Bump, kernels.BumpWarp, kernels.BumpBlock, kernels.BumpAdd, kernels.BumpCheck)
}

// taking is a kernel whose threads take memory.
type taking func(grid, block int, s cuda.Stream, p kernels.BumpPool, sizes cuda.DevicePtr, n int, tag uint32,
	offsets cuda.DevicePtr) error

const refused = ^uint64(0)

func words(values ...uint64) cuda.Pageable {
	var bytes []byte
	for _, v := range values {
		bytes = binary.LittleEndian.AppendUint64(bytes, v)
	}
	return bytes
}

// Whatever the order in which threads come, they get blocks that lie one behind the other, and what is refused does not
// fit.
func TestBumpTakesAsIfOneByOne(t *testing.T) {
	onEach(t, func(t *testing.T) {
		for name, launch := range map[string]taking{"bump": kernels.Bump, "bumpWarp": kernels.BumpWarp,
			"bumpBlock": kernels.BumpBlock} {
			for _, c := range []struct {
				n, grid, block int
				bytes          int64
				sizes          []uint64
			}{
				{1, 1, 1, 64, []uint64{10}}, {5, 1, 32, 64, []uint64{16, 80, 0, 32, 17}},
				{100, 2, 64, 4096, []uint64{1, 16, 100, 5000}},
				{100, 1, 64, 1 << 16, []uint64{8}}, {33, 1, 48, 16, []uint64{16}}, {1000, 10, 100, 1 << 20,
					[]uint64{24, math.MaxUint64, 1 << 63, 7, 0, 300}},
				{5000, 20, 256, 1 << 16, []uint64{1, 40, 16}}, {3000, 3, 1024, 1 << 20, []uint64{64}}, {0, 1, 32, 64, nil},
				{-3, 1, 32, 64, nil},
			} {
				t.Run(fmt.Sprintf("%s,n=%d,grid=%d,block=%d,bytes=%d", name, c.n, c.grid, c.block, c.bytes), func(t *testing.T) {
					sizes := make([]uint64, max(c.n, 0))
					for i := range sizes {
						sizes[i] = c.sizes[i%len(c.sizes)]
					}
					takesAsIfOneByOne(t, launch, c.n, c.grid, c.block, c.bytes, sizes)
				})
			}
		}
	})
}

func takesAsIfOneByOne(t *testing.T, launch taking, n, grid, block int, bytes int64, sizes []uint64) {
	const tag, guard = 1_000_000, 64
	room := 8 * int64(len(sizes)+1)
	memory, word, at := must(cuda.Malloc(bytes+guard))(t), must(cuda.Malloc(8))(t), must(cuda.Malloc(room))(t)
	asked, wrong := must(cuda.Malloc(room))(t), must(cuda.Malloc(8))(t)
	require.NoError(t, cuda.Memset(memory, poison, bytes+guard))
	require.NoError(t, cuda.Memset(word, 0, 8))
	require.NoError(t, cuda.Memset(wrong, 0, 8))
	require.NoError(t, cuda.Memset(at, poison, room))
	require.NoError(t, cuda.MemcpyHtoD(asked, words(append(slices.Clone(sizes), 0)...), room))
	p := kernels.BumpPool{Memory: memory, Bytes: bytes, Word: word}
	require.NoError(t, launch(grid, block, cuda.Stream{}, p, asked, n, tag, at))
	require.NoError(t, kernels.BumpCheck(grid, block, cuda.Stream{}, p, asked, at, n, tag, wrong))

	read := func(from cuda.DevicePtr, size int64) cuda.Pageable {
		got := make(cuda.Pageable, size)
		require.NoError(t, cuda.MemcpyDtoH(got, from, size))
		return got
	}
	number := func(from cuda.DevicePtr) uint64 { return binary.LittleEndian.Uint64(read(from, 8)) }
	require.Zero(t, number(wrong))
	offsets, content := read(at, room), read(memory, bytes+guard)
	taken, threads := uint64(0), min(len(sizes), grid*block)
	var blocks [][2]uint64
	for i := range threads {
		if offset := binary.LittleEndian.Uint64(offsets[8*i:]); offset != refused {
			taken += oracle.BumpRounded(sizes[i])
			blocks = append(blocks, [2]uint64{offset, oracle.BumpRounded(sizes[i])})
			for k := range oracle.BumpRounded(sizes[i]) / 8 {
				require.Equal(t, oracle.BumpStamp(tag, i, k), binary.LittleEndian.Uint64(content[offset+8*k:]),
					"word %d of thread %d", k, i)
			}
		}
	}
	require.Equal(t, uint64(0xA5A5A5A5A5A5A5A5), binary.LittleEndian.Uint64(offsets[8*threads:]), "threads beyond n")
	for i := range threads {
		if binary.LittleEndian.Uint64(offsets[8*i:]) == refused {
			require.False(t, oracle.BumpFits(taken, uint64(bytes), sizes[i]), "thread %d was refused", i)
		}
	}
	slices.SortFunc(blocks, func(a, b [2]uint64) int { return int(a[0]) - int(b[0]) })
	end := uint64(0)
	for _, b := range blocks {
		require.Equal(t, end, b[0])
		end += b[1]
	}
	require.Equal(t, taken, end)
	require.LessOrEqual(t, taken, uint64(bytes))
	require.Equal(t, taken, number(word))
	for _, b := range content[bytes:] {
		require.EqualValues(t, poison, b)
	}

	if len(blocks) > 0 { // one word that is another's shows, and so does a block beyond what is taken
		last := blocks[len(blocks)-1][0]
		require.NoError(t, cuda.Memset(memory+cuda.DevicePtr(last), 0xFF, 8))
		require.NoError(t, kernels.BumpCheck(grid, block, cuda.Stream{}, p, asked, at, n, tag, wrong))
		require.Equal(t, uint64(1), number(wrong))
		require.NoError(t, cuda.MemcpyHtoD(word, words(last), 8))
		require.NoError(t, kernels.BumpCheck(grid, block, cuda.Stream{}, p, asked, at, n, tag, wrong))
		require.Equal(t, uint64(2), number(wrong))
	}
	for _, memory := range []cuda.DevicePtr{memory, word, at, asked, wrong} {
		require.NoError(t, cuda.Free(memory))
	}
}

// The kernel that adds is exact only as long as there is room.
func TestBumpAddLosesRoom(t *testing.T) {
	onEach(t, func(t *testing.T) {
		memory, word, at, asked := must(cuda.Malloc(64))(t), must(cuda.Malloc(8))(t), must(cuda.Malloc(8))(t),
			must(cuda.Malloc(8))(t)
		require.NoError(t, cuda.Memset(word, 0, 8))
		p := kernels.BumpPool{Memory: memory, Bytes: 64, Word: word}
		for _, c := range []struct{ size, offset, taken uint64 }{{10, 0, 16}, {64, refused, 80}, {16, refused, 96},
			{0, refused, 96}, {80, refused, 96}} {
			require.NoError(t, cuda.MemcpyHtoD(asked, words(c.size), 8))
			require.NoError(t, kernels.BumpAdd(1, 32, cuda.Stream{}, p, asked, 1, 7, at))
			got := make(cuda.Pageable, 16)
			require.NoError(t, cuda.MemcpyDtoH(got[:8], at, 8))
			require.NoError(t, cuda.MemcpyDtoH(got[8:], word, 8))
			require.Equal(t, words(c.offset, c.taken), got)
		}
		for _, memory := range []cuda.DevicePtr{memory, word, at, asked} {
			require.NoError(t, cuda.Free(memory))
		}
	})
}
