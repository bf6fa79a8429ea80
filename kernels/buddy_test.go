package kernels_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
)

func init() { tries(kernels.BlockTable, kernels.StampBlocks, kernels.VerifyBlocks) }

// tableTest is a piece of device memory with a table of blocks in it.
type tableTest struct {
	t                  *testing.T
	base, table, wrong cuda.DevicePtr
	bytes              int64
	grid, block        int
	blocks             []kernels.Block
	stream             cuda.Stream
}

func newTableTest(t *testing.T, bytes int64, grid, block int, blocks ...kernels.Block) *tableTest {
	c := &tableTest{t: t, bytes: bytes, grid: grid, block: block}
	c.base, c.table, c.wrong = poisoned(t, bytes), poisoned(t, 1<<20), poisoned(t, 8)
	for _, b := range blocks { // addresses are given as offsets
		b.Address += c.base
		c.blocks = append(c.blocks, b)
	}
	c.load()
	return c
}

func (c *tableTest) load() {
	table := kernels.BlockTable(c.blocks)
	if len(table) > 0 {
		require.NoError(c.t, cuda.MemcpyHtoD(c.table, cuda.Pageable(table), int64(len(table))))
	}
}

func (c *tableTest) stamp() {
	require.NoError(c.t, kernels.StampBlocks(c.grid, c.block, c.stream, c.table, len(c.blocks), c.base, c.bytes))
}

func (c *tableTest) mismatches() uint64 {
	require.NoError(c.t, cuda.Memset(c.wrong, 0, 8))
	require.NoError(c.t, kernels.VerifyBlocks(c.grid, c.block, c.stream, c.table, len(c.blocks), c.base, c.bytes, c.wrong))
	return binary.LittleEndian.Uint64(read(c.t, c.wrong, 8))
}

func (c *tableTest) memory() cuda.Pageable { return read(c.t, c.base, c.bytes) }

func TestStampBlocksEqualsTheOracle(t *testing.T) {
	onEach(t, func(t *testing.T) {
		for _, shape := range [][2]int{{1, 1}, {1, 32}, {2, 100}, {64, 256}, {1000, 1024}} {
			t.Run(fmt.Sprintf("grid=%d,block=%d", shape[0], shape[1]), func(t *testing.T) {
				c := newTableTest(t, 1<<16, shape[0], shape[1], kernels.Block{Address: 256, Bytes: 256, Tag: 3},
					kernels.Block{Address: 1024, Bytes: 16, Tag: 1<<32 - 1}, kernels.Block{Address: 1 << 15, Bytes: 1 << 15},
					kernels.Block{Address: 2048, Bytes: 0, Tag: 7}, kernels.Block{Address: 4096, Bytes: 4096 + 48, Tag: 1})
				c.stamp()
				requireWritten(t, c.base, c.bytes, func(want []byte) {
					for _, b := range c.blocks {
						for i := range b.Bytes / 8 {
							binary.LittleEndian.PutUint64(want[int64(b.Address-c.base)+8*i:], oracle.BlockWord(b.Tag, i))
						}
					}
				})
				require.Zero(t, c.mismatches())

				c.blocks[0].Tag++
				c.load()
				require.Equal(t, uint64(256/8), c.mismatches(), "another tag's words are other words")
			})
		}
	})
}

func TestVerifyBlocksSeesAnOverlap(t *testing.T) {
	onEach(t, func(t *testing.T) {
		c := newTableTest(t, 4096, 4, 64, kernels.Block{Address: 0, Bytes: 1024, Tag: 1}, kernels.Block{Address: 768,
			Bytes: 512, Tag: 2})
		c.stamp()
		require.Equal(t, uint64(256/8), c.mismatches(), "each of the words that both have is wrong for one of them")
	})
}

func TestBlocksThatAreNotInsideAreLeftAlone(t *testing.T) {
	onEach(t, func(t *testing.T) {
		below := ^cuda.DevicePtr(0) - 255 // 256 bytes before the memory
		for name, b := range map[string]kernels.Block{
			"behind": {Address: 4096, Bytes: 256}, "half behind": {Address: 4096 - 128, Bytes: 256}, "before": {Address: below,
				Bytes: 256},
			"half before": {Address: below + 128, Bytes: 256}, "longer than all": {Address: 0, Bytes: 1 << 62},
			"at an odd address": {Address: 8, Bytes: 256}, "of an odd size": {Address: 0, Bytes: 8},
		} {
			t.Run(name, func(t *testing.T) {
				c := newTableTest(t, 4096, 4, 64, b)
				before := c.memory()
				c.stamp()
				require.True(t, string(before) == string(c.memory()), "something was written")
				require.Equal(t, uint64(b.Bytes/8), c.mismatches())
			})
		}
		c := newTableTest(t, 4096, 4, 64)
		c.stamp()
		require.Zero(t, c.mismatches(), "a table without rows")
		c = newTableTest(t, 4096, 4, 64, kernels.Block{Address: 0, Bytes: -16})
		c.stamp()
		require.Zero(t, c.mismatches(), "a block of less than nothing")
	})
}
