package kernels_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/kernels"
	"cudalab/kernels/oracle"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/session"
)

func init() { tries(kernels.Process, kernels.Reduce) }

// useDevice makes a device of the kind the current one for a test.
func useDevice(t *testing.T, kind string) {
	d, err := session.OpenDevice(kind)
	if err != nil {
		t.Skip("no NVIDIA GPU here: " + err.Error())
	}
	session.New(d).Use()
	t.Cleanup(func() { require.NoError(t, d.Close()) })
}

// kinds are the devices on which every kernel has to do the same.
var kinds = []string{"sim", "gpu"}

// onEach runs a test on each of them.
func onEach(t *testing.T, test func(t *testing.T)) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			useDevice(t, kind)
			test(t)
		})
	}
}

// poison is what memory holds before a kernel writes to it.
const poison = 0xA5

// poisoned is memory that holds poison, until the test ends.
func poisoned(t *testing.T, size int64) cuda.DevicePtr {
	p := must(cuda.Malloc(size))(t)
	require.NoError(t, cuda.Memset(p, poison, size))
	t.Cleanup(func() { require.NoError(t, cuda.Free(p)) })
	return p
}

func read(t *testing.T, p cuda.DevicePtr, size int64) cuda.Pageable {
	bytes := make(cuda.Pageable, size)
	require.NoError(t, cuda.MemcpyDtoH(bytes, p, size))
	return bytes
}

// counted is what a kernel adds to a number.
func counted(t *testing.T, count func(number cuda.DevicePtr) error) uint64 {
	number := poisoned(t, 8)
	require.NoError(t, cuda.Memset(number, 0, 8))
	require.NoError(t, count(number))
	return binary.LittleEndian.Uint64(read(t, number, 8))
}

// requireWritten compares memory with poison over which what should be there was written.
func requireWritten(t *testing.T, p cuda.DevicePtr, size int64, write func(want []byte)) {
	want := slices.Repeat([]byte{poison}, int(size))
	write(want)
	got := read(t, p, size)
	for i := range want {
		if want[i] != got[i] {
			t.Fatalf("byte %d is %#02x, the oracle says %#02x", i, got[i], want[i])
		}
	}
}

// covers are launches of n elements: whole ones and ones whose grid is too small.
var covers = []struct{ n, grid, block, work int }{
	{1, 1, 1, 0}, {1, 1, 256, 5}, {255, 1, 256, 0}, {256, 1, 256, 1}, {257, 2, 256, 1000}, {1000, 10, 100, 3},
	{12345, 124, 100, 77}, {12345, 49, 256, 100_000}, {12345, 13, 1024, 2}, {4099, 1367, 3, 1}, {4099, 4099, 1, 9},
	{1_000_003, 3907, 256, 12}, {1000, 3, 256, 4}, {1000, 1, 100, 0}, {0, 1, 256, 3}, {-5, 2, 32, 3},
}

func TestProcessAndReduceEqualTheOracle(t *testing.T) {
	onEach(t, func(t *testing.T) {
		for _, c := range covers {
			t.Run(fmt.Sprintf("n=%d,grid=%d,block=%d,work=%d", c.n, c.grid, c.block, c.work), func(t *testing.T) {
				equalsOracle(t, c.n, c.grid, c.block, c.work)
			})
		}
	})
}

// equalsOracle launches both kernels on memory with a guard behind it and compares every byte.
func equalsOracle(t *testing.T, n, grid, block, work int) {
	const (
		guard      = 64
		multiplier = float32(1.7)
	)
	stream, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
	require.NoError(t, err)
	size := 4*int64(max(n, 0)) + guard
	data, err := cuda.MallocAsync(size, stream)
	require.NoError(t, err)
	result, err := cuda.MallocAsync(8, stream)
	require.NoError(t, err)
	require.NoError(t, cuda.MemsetAsync(data, poison, size, stream))
	require.NoError(t, cuda.MemsetAsync(result, 0, 8, stream))

	require.NoError(t, kernels.Process(grid, block, stream, data, n, multiplier, work))
	require.NoError(t, kernels.Reduce(grid, block, stream, data, n, result))

	got, sum := make(cuda.Pageable, size), make(cuda.Pageable, 8)
	require.NoError(t, cuda.MemcpyDtoHAsync(got, data, size, stream))
	require.NoError(t, cuda.MemcpyDtoHAsync(sum, result, 8, stream))
	require.NoError(t, cuda.FreeAsync(data, stream))
	require.NoError(t, cuda.FreeAsync(result, stream))
	require.NoError(t, cuda.StreamSynchronize(stream))
	require.NoError(t, cuda.StreamDestroy(stream))

	written := min(max(n, 0), grid*block)
	for i := range written {
		want := math.Float32bits(oracle.Process(i, multiplier, work))
		if bits := binary.LittleEndian.Uint32(got[4*i:]); bits != want {
			t.Fatalf("element %d is %#08x, the oracle says %#08x", i, bits, want)
		}
	}
	for i := 4 * written; i < len(got); i++ {
		if got[i] != poison {
			t.Fatalf("byte %d is written, %d elements were to be", i, written)
		}
	}
	require.Equal(t, oracle.ReduceProcess(written, multiplier, work), binary.LittleEndian.Uint64(sum))
}

func TestReduceAddsToWhatIsThere(t *testing.T) {
	onEach(t, func(t *testing.T) {
		data, err := cuda.Malloc(4 * 300)
		require.NoError(t, err)
		result, err := cuda.Malloc(8)
		require.NoError(t, err)
		require.NoError(t, cuda.Memset(result, 0x01, 8))
		require.NoError(t, kernels.Process(3, 100, cuda.Stream{}, data, 300, 2, 0))
		require.NoError(t, kernels.Reduce(3, 100, cuda.Stream{}, data, 300, result))
		sum := make(cuda.Pageable, 8)
		require.NoError(t, cuda.MemcpyDtoH(sum, result, 8))
		require.Equal(t, 0x0101010101010101+oracle.ReduceProcess(300, 2, 0), binary.LittleEndian.Uint64(sum))
		require.NoError(t, cuda.Free(data))
		require.NoError(t, cuda.Free(result))
	})
}

func TestLaunchesOutOfRangeAreRefused(t *testing.T) {
	onEach(t, func(t *testing.T) {
		data, err := cuda.Malloc(1024)
		require.NoError(t, err)
		var s cuda.Stream
		for name, launch := range map[string]func() error{
			"no block":         func() error { return kernels.Process(0, 256, s, data, 8, 1, 0) },
			"no thread":        func() error { return kernels.Process(1, 0, s, data, 8, 1, 0) },
			"negative grid":    func() error { return kernels.Reduce(-1, 256, s, data, 8, data) },
			"too big a block":  func() error { return kernels.Process(1, 1025, s, data, 8, 1, 0) },
			"grid wraps to 1":  func() error { return kernels.Process(1<<32+1, 256, s, data, 8, 1, 0) },
			"n wraps to 1":     func() error { return kernels.Process(1, 256, s, data, 1<<32+1, 1, 0) },
			"n of Reduce":      func() error { return kernels.Reduce(1, 256, s, data, 1<<31, data) },
			"n of Fill":        func() error { return kernels.Fill(1, 256, s, data, 1<<32+1) },
			"n of Checksum":    func() error { return kernels.Checksum(1, 256, s, data, 1<<31, data) },
			"work wraps to 1":  func() error { return kernels.Process(1, 256, s, data, 8, 1, 1<<32+1) },
			"delay below zero": func() error { return probe.Delay(s, -1) },
			"delay too long":   func() error { return probe.Delay(s, probe.MaxDelay+1) },
		} {
			require.ErrorIs(t, launch(), cuda.ErrorInvalidValue, name)
		}
		require.NoError(t, cuda.Free(data))
	})
}

func TestDelayKeepsItsStreamBusyForAtLeastThatLong(t *testing.T) {
	onEach(t, func(t *testing.T) {
		require.GreaterOrEqual(t, milliseconds(t, func() error { return probe.Delay(cuda.Stream{}, 3e6) }), float32(3))
		require.Less(t, milliseconds(t, func() error { return probe.Delay(cuda.Stream{}, 0) }), float32(3))
	})
}

// milliseconds is how long the device takes from before a launch on the legacy stream to after it.
func milliseconds(t testing.TB, launch func() error) float32 {
	start, err := cuda.EventCreate()
	require.NoError(t, err)
	stop, err := cuda.EventCreate()
	require.NoError(t, err)
	require.NoError(t, cuda.EventRecord(start, cuda.Stream{}))
	require.NoError(t, launch())
	require.NoError(t, cuda.EventRecord(stop, cuda.Stream{}))
	require.NoError(t, cuda.EventSynchronize(stop))
	took, err := cuda.EventElapsedTime(start, stop)
	require.NoError(t, err)
	require.NoError(t, cuda.EventDestroy(start))
	require.NoError(t, cuda.EventDestroy(stop))
	return took
}

// BenchmarkKernels reports what each launch takes on the device, in microseconds between two events, for a profile of
// the simulator and for the choice of timed workloads. CUDALAB_DEVICE chooses the device.
func BenchmarkKernels(b *testing.B) {
	d, err := session.OpenDevice(os.Getenv("CUDALAB_DEVICE"))
	require.NoError(b, err)
	session.New(d).Use()
	defer d.Close()
	const most = 1 << 20
	data, err := cuda.Malloc(4 * most)
	require.NoError(b, err)
	result, err := cuda.Malloc(8)
	require.NoError(b, err)
	var s cuda.Stream
	process := func(n, work int) func() error {
		return func() error { return kernels.Process((n+255)/256, 256, s, data, n, 1, work) }
	}
	reduce := func(n int) func() error {
		return func() error { return kernels.Reduce((n+255)/256, 256, s, data, n, result) }
	}
	for _, c := range []struct {
		name   string
		launch func() error
	}{
		{"process/n=4096/work=0", process(4096, 0)},
		{"process/n=4096/work=10000", process(4096, 10_000)},
		{"process/n=4096/work=100000", process(4096, 100_000)},
		{"process/n=4096/work=1000000", process(4096, 1_000_000)},
		{"process/n=1048576/work=0", process(most, 0)},
		{"process/n=1048576/work=10000", process(most, 10_000)},
		{"reduce/n=4096", reduce(4096)},
		{"reduce/n=1048576", reduce(most)},
		{"delay/1ms", func() error { return probe.Delay(s, 1e6) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			require.NoError(b, c.launch()) // loads the module
			require.NoError(b, cuda.DeviceSynchronize())
			total := float32(0)
			for b.Loop() {
				total += milliseconds(b, c.launch)
			}
			b.ReportMetric(1000*float64(total)/float64(b.N), "device-µs/launch")
		})
	}
}
