package kernels

import (
	_ "embed" // asyncpipeline.ptx
	"encoding/binary"
	"math"

	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed asyncpipeline.ptx
var asyncPipelinePTX string

// Process launches kernel process on s: process<<<grid, block, 0, s>>>(data, n, multiplier, work).
//
// It writes n float32 elements, 4*n bytes, at data, and reads nothing. Each thread writes the one element whose index
// is the thread's place in the grid, so n elements need a grid of (n+block-1)/block blocks; with fewer, the last
// elements stay as they were. A block has at most 1024 threads; 256 is a good number.
//
// Without work, element i becomes sqrt(i) * multiplier (for i below 2^24). work adds so many rounds of arithmetic to
// every thread before the square root, which makes the kernel take longer and changes the values.
//
// Like every launch it only puts the kernel in the stream's queue; the error tells of the launch, not of the run.
func Process(grid, block int, s cuda.Stream, data cuda.DevicePtr, n int, multiplier float32, work int) error {
	if err := fitsInt("kernels.Process", "n", n); err != nil {
		return err
	}
	if err := fitsInt("kernels.Process", "work", work); err != nil {
		return err
	}
	return cuda.LaunchKernel(process, dim(grid), dim(block), s,
		uint64(data), uint64(uint32(n)), uint64(math.Float32bits(multiplier)), uint64(uint32(work)))
}

// Reduce launches kernel reduce on s: reduce<<<grid, block, 0, s>>>(data, n, result).
//
// It reads n float32 elements, 4*n bytes, at data, and adds the sum of their bit patterns, each taken as an unsigned
// integer, to the 8 bytes at result: an unsigned 64-bit integer that has to be zero before the first launch. Each
// thread reads one element, so n elements need a grid of (n+block-1)/block blocks. A block has at most 1024 threads.
//
// Each block adds its share to result with one atomic addition.
func Reduce(grid, block int, s cuda.Stream, data cuda.DevicePtr, n int, result cuda.DevicePtr) error {
	if err := fitsInt("kernels.Reduce", "n", n); err != nil {
		return err
	}
	return cuda.LaunchKernel(reduce, dim(grid), dim(block), s, uint64(data), uint64(uint32(n)), uint64(result))
}

var process = elementKernel(device.Spec{
	Entry:  "process",
	PTX:    asyncPipelinePTX,
	Params: 4,
	Work: func(l *device.Launch) device.Work {
		w := elementWork(l)
		w.Steps = uint64(roundsOf(l.Args[3]))
		return w
	},
}, func(l *device.Launch, first int, bytes []byte) {
	values := oracle.NewProcessed(math.Float32frombits(uint32(l.Args[2])), int(int32(l.Args[3])))
	for i := 0; i < len(bytes); i += 4 {
		binary.LittleEndian.PutUint32(bytes[i:], math.Float32bits(values.At(first+i/4)))
	}
})

var reduce = sumKernel(device.Spec{Entry: "reduce", PTX: asyncPipelinePTX, Params: 3},
	func(_ *device.Launch, _ int, bytes []byte) (sum uint64) {
		for i := 0; i < len(bytes); i += 4 {
			sum += uint64(binary.LittleEndian.Uint32(bytes[i:]))
		}
		return sum
	})
