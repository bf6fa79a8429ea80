package kernels_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels/listed"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

func kernel(t *testing.T, entry string) *device.Kernel {
	t.Helper()
	all := listed.All()
	i := slices.IndexFunc(all, func(k *device.Kernel) bool { return k.Entry() == entry })
	require.GreaterOrEqual(t, i, 0, entry)
	return all[i]
}

// The kernels go by x alone: threads that differ in y or z take no other elements, write the same, and add the same
// once more.
func TestThreadsInYAndZDoTheSameAgain(t *testing.T) {
	const n, written = 100, 64
	onEach(t, func(t *testing.T) {
		data, err := cuda.Malloc(4 * n)
		require.NoError(t, err)
		sum, err := cuda.Malloc(8)
		require.NoError(t, err)
		require.NoError(t, cuda.Memset(data, 0, 4*n))
		require.NoError(t, cuda.Memset(sum, 0, 8))

		fill, checksum := kernel(t, "fill"), kernel(t, "checksum")
		require.NoError(t, cuda.LaunchKernel(fill, cuda.Dim3{X: 4, Y: 3, Z: 5}, cuda.Dim3{X: 16, Y: 2, Z: 2}, cuda.Stream{},
			uint64(data), n))
		require.NoError(t, cuda.LaunchKernel(checksum, cuda.Dim3{X: 2, Y: 3, Z: 5}, cuda.Dim3{X: 32}, cuda.Stream{},
			uint64(data), n, uint64(sum)))

		got, gotSum := make(cuda.Pageable, 4*n), make(cuda.Pageable, 8)
		require.NoError(t, cuda.MemcpyDtoH(got, data, 4*n))
		require.NoError(t, cuda.MemcpyDtoH(gotSum, sum, 8))
		require.NoError(t, cuda.Free(data))
		require.NoError(t, cuda.Free(sum))
		for i := range n {
			want := uint32(0)
			if i < written {
				want = oracle.Filled(i)
			}
			require.Equal(t, want, binary.LittleEndian.Uint32(got[4*i:]), "element %d", i)
		}
		require.Equal(t, 3*5*oracle.ChecksumFilled(written), binary.LittleEndian.Uint64(gotSum))
	})
}

// Threads in y and z cost what they do, and a product beyond all numbers is a very long time.
func TestThreadsInYAndZTakeTheirTime(t *testing.T) {
	fill := kernel(t, "fill")
	l := device.Launch{Kernel: fill, Grid: device.Dim{X: 4, Y: 3}, Block: device.Dim{X: 16}}
	l.Args[1] = 64
	require.Equal(t, device.Work{Threads: 3 * 64, Bytes: 3 * 256}, fill.Work(&l))
	l = device.Launch{Kernel: fill, Grid: device.Dim{X: 1<<31 - 1, Y: 65535, Z: 65535}, Block: device.Dim{X: 16, Y: 8,
		Z: 8}}
	l.Args[1] = 1<<31 - 1
	require.Equal(t, uint64(1<<62), fill.Work(&l).Threads)
}
