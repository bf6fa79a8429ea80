package kernels

import (
	_ "embed" // ring.ptx
	"encoding/binary"

	"cudalab/kernels/listed"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed ring.ptx
var ringPTX string

func init() { listed.Add(fillItem, digest) }

// FillItem launches kernel fillItem on s: fillItem<<<grid, block, 0, s>>>(data, n, item, work).
//
// It writes n uint32 elements, 4*n bytes, at data, and reads nothing: each becomes a number that depends on its index
// and on item, after so many rounds of work that take time and nothing else. Each thread writes the one element whose
// index is the thread's place in the grid, so n elements need a grid of (n+block-1)/block blocks. A block has at most
// 1024 threads; 256 is a good number.
//
// Like every launch it only puts the kernel in the stream's queue; the error tells of the launch, not of the run.
func FillItem(grid, block int, s cuda.Stream, data cuda.DevicePtr, n int, item uint32, work int) error {
	if err := fitsInt("kernels.FillItem", "n", n); err != nil {
		return err
	}
	if err := fitsInt("kernels.FillItem", "work", work); err != nil {
		return err
	}
	return cuda.LaunchKernel(fillItem, dim(grid), dim(block), s, uint64(data), uint64(uint32(n)), uint64(item),
		uint64(uint32(work)))
}

// Digest launches kernel digest on s: digest<<<grid, block, 0, s>>>(data, n, work, result).
//
// It reads n uint32 elements, 4*n bytes, at data, takes each through so many rounds of work, and adds them to the 8
// bytes at result, an unsigned 64-bit integer. Each thread reads one element, so n elements need a grid of
// (n+block-1)/block blocks. A block has at most 1024 threads.
//
// Each block adds its share to result with one atomic addition.
func Digest(grid, block int, s cuda.Stream, data cuda.DevicePtr, n, work int, result cuda.DevicePtr) error {
	if err := fitsInt("kernels.Digest", "n", n); err != nil {
		return err
	}
	if err := fitsInt("kernels.Digest", "work", work); err != nil {
		return err
	}
	return cuda.LaunchKernel(digest, dim(grid), dim(block), s, uint64(data), uint64(uint32(n)), uint64(uint32(work)),
		uint64(result))
}

// roundsOf are the rounds that a launch takes, by the argument in its slot.
func roundsOf(work uint64) int { return int(max(int32(work), 0)) }

var fillItem = elementKernel(device.Spec{
	Entry:  "fillItem",
	PTX:    ringPTX,
	Params: 4,
	Work:   func(l *device.Launch) device.Work { return withRounds(elementWork(l), l.Args[3]) },
}, func(l *device.Launch, first int, bytes []byte) {
	rounds := oracle.RoundsOf(roundsOf(l.Args[3]))
	for i := 0; i < len(bytes); i += 4 {
		binary.LittleEndian.PutUint32(bytes[i:], rounds.Of(oracle.Item(uint32(l.Args[2]), first+i/4)))
	}
})

var digest = sumKernel(device.Spec{
	Entry:  "digest",
	PTX:    ringPTX,
	Params: 4,
	Work:   func(l *device.Launch) device.Work { return withRounds(sumWork(l), l.Args[2]) },
}, func(l *device.Launch, _ int, bytes []byte) (sum uint64) {
	rounds := oracle.RoundsOf(roundsOf(l.Args[2]))
	for i := 0; i < len(bytes); i += 4 {
		sum += uint64(rounds.Of(binary.LittleEndian.Uint32(bytes[i:])))
	}
	return sum
})

// withRounds adds the rounds that each thread takes, where there is one.
func withRounds(w device.Work, rounds uint64) device.Work {
	if w.Threads > 0 {
		w.Steps += uint64(roundsOf(rounds))
	}
	return w
}
