package kernels

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels/oracle"
	"cudalab/native/device"
)

// pieces is device memory that lies in pieces of 48 bytes, as a View may give them.
type pieces []byte

func (m pieces) View(p device.Ptr, n uint64) []byte {
	if uint64(p) >= uint64(len(m)) {
		return nil
	}
	return m[p:min(uint64(p)+min(n, 48-uint64(p)%48), uint64(len(m)))]
}

func (m pieces) Fill(p device.Ptr, n uint64, write func(first int64, bytes []byte)) bool {
	return eachByte(m, p, n, write)
}

func TestExecTakesMemoryInPieces(t *testing.T) {
	const n = 1000
	m := make(pieces, 4*n+48)
	dim := device.Dim{X: n}
	process.Exec(&device.Launch{Grid: dim, Block: device.Dim{X: 1},
		Args: [device.MaxArgs]uint64{16, n, uint64(math.Float32bits(3)), 11}}, m)
	for i := range n {
		require.Equal(t, oracle.Process(i, 3, 11), math.Float32frombits(binary.LittleEndian.Uint32(m[16+4*i:])))
	}
	reduce.Exec(&device.Launch{Grid: dim, Block: device.Dim{X: 1}, Args: [device.MaxArgs]uint64{16, n, 0}}, m)
	require.Equal(t, oracle.ReduceProcess(n, 3, 11), binary.LittleEndian.Uint64(m))

	m = make(pieces, 4*n+48)
	fill.Exec(&device.Launch{Grid: dim, Block: device.Dim{X: 1}, Args: [device.MaxArgs]uint64{16, n}}, m)
	checksum.Exec(&device.Launch{Grid: dim, Block: device.Dim{X: 1}, Args: [device.MaxArgs]uint64{16, n, 0}}, m)
	require.Equal(t, oracle.ChecksumFilled(n), binary.LittleEndian.Uint64(m))
}

func TestReduceThatRunsOutOfMemoryLeavesItsResult(t *testing.T) {
	m := make(pieces, 96)
	m[16] = 1
	reduce.Exec(&device.Launch{Grid: device.Dim{X: 100}, Block: device.Dim{X: 1},
		Args: [device.MaxArgs]uint64{16, 100, 0}}, m)
	require.Zero(t, binary.LittleEndian.Uint64(m))
}

func TestAccessesAreWhatTheThreadsTouch(t *testing.T) {
	launch := func(grid, block uint32, args ...uint64) *device.Launch {
		l := &device.Launch{Grid: device.Dim{X: grid}, Block: device.Dim{X: block}}
		copy(l.Args[:], args)
		return l
	}
	minusOne := uint64(math.MaxUint32) // as an int32 in its slot
	require.Equal(t, []device.Access{{Ptr: 64, Size: 4000, Kind: device.Write}},
		process.Accesses(launch(4, 256, 64, 1000, 0, 0), nil))
	require.Equal(t, []device.Access{{Ptr: 64, Size: 3072, Kind: device.Write}},
		process.Accesses(launch(3, 256, 64, 1000, 0, 0), nil), "fewer threads than elements")
	require.Empty(t, process.Accesses(launch(3, 256, 64, minusOne, 0, 0), nil))
	require.Equal(t, []device.Access{{Ptr: 64, Size: 4000, Kind: device.Read}, {Ptr: 8, Size: 8, Kind: device.Atomic}},
		reduce.Accesses(launch(4, 256, 64, 1000, 8), nil))
	require.Equal(t, []device.Access{{Ptr: 8, Size: 8, Kind: device.Atomic}},
		reduce.Accesses(launch(4, 256, 64, 0, 8), nil), "a block adds its zero")
	require.Equal(t, []device.Access{{Ptr: 64, Size: 3072, Kind: device.Write}}, fill.Accesses(launch(3, 256, 64, 1000),
		nil))
	require.Empty(t, fill.Accesses(launch(3, 256, 64, minusOne), nil))
	require.Equal(t, []device.Access{{Ptr: 64, Size: 4000, Kind: device.Read}, {Ptr: 8, Size: 8, Kind: device.Atomic}},
		checksum.Accesses(launch(4, 256, 64, 1000, 8), nil))

	require.Equal(t, device.Work{Threads: 1000, Bytes: 4000}, fill.Work(launch(4, 256, 64, 1000)))
	require.Equal(t, device.Work{Threads: 1000, Bytes: 4000, Steps: 77}, process.Work(launch(4, 256, 64, 1000, 0, 77)))
	require.Equal(t, device.Work{}, process.Work(launch(4, 256, 64, minusOne, 0, minusOne)))
	require.Equal(t, device.Work{Threads: 1000, Bytes: 4032, Steps: 8}, reduce.Work(launch(4, 256, 64, 1000, 8)))
	require.Equal(t, uint64(7), reduce.Work(launch(10, 100, 64, 1000, 8)).Steps)
	require.Zero(t, reduce.Work(launch(10, 1, 64, 10, 8)).Steps)
}
