package kernels

import (
	_ "embed" // crossstreamevents.ptx
	"encoding/binary"

	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed crossstreamevents.ptx
var crossStreamEventsPTX string

// Fill launches kernel fill on s: fill<<<grid, block, 0, s>>>(data, n).
//
// It writes n uint32 elements, 4*n bytes, at data, and reads nothing: element i becomes a number that depends on i
// alone, and no two are alike. Each thread writes the one element whose index is the thread's place in the grid, so n
// elements need a grid of (n+block-1)/block blocks; with fewer, the last elements stay as they were. A block has at
// most 1024 threads; 256 is a good number.
//
// Like every launch it only puts the kernel in the stream's queue; the error tells of the launch, not of the run.
func Fill(grid, block int, s cuda.Stream, data cuda.DevicePtr, n int) error {
	if err := fitsInt("kernels.Fill", "n", n); err != nil {
		return err
	}
	return cuda.LaunchKernel(fill, dim(grid), dim(block), s, uint64(data), uint64(uint32(n)))
}

// Checksum launches kernel checksum on s: checksum<<<grid, block, 0, s>>>(data, n, sum).
//
// It reads n uint32 elements, 4*n bytes, at data, and adds each of them, multiplied by its index + 1, to the 8 bytes at
// sum: an unsigned 64-bit integer that has to be zero before the first launch. Two elements that have changed places
// show, as do those that are missing. Each thread reads one element, so n elements need a grid of (n+block-1)/block
// blocks. A block has at most 1024 threads.
//
// Each block adds its share to sum with one atomic addition.
func Checksum(grid, block int, s cuda.Stream, data cuda.DevicePtr, n int, sum cuda.DevicePtr) error {
	if err := fitsInt("kernels.Checksum", "n", n); err != nil {
		return err
	}
	return cuda.LaunchKernel(checksum, dim(grid), dim(block), s, uint64(data), uint64(uint32(n)), uint64(sum))
}

var fill = elementKernel(device.Spec{Entry: "fill", PTX: crossStreamEventsPTX, Params: 2},
	func(_ *device.Launch, first int, bytes []byte) {
		for i := 0; i < len(bytes); i += 4 {
			binary.LittleEndian.PutUint32(bytes[i:], oracle.Filled(first+i/4))
		}
	})

var checksum = sumKernel(device.Spec{Entry: "checksum", PTX: crossStreamEventsPTX, Params: 3},
	func(_ *device.Launch, first int, bytes []byte) (sum uint64) {
		for i := 0; i < len(bytes); i += 4 {
			sum += uint64(binary.LittleEndian.Uint32(bytes[i:])) * uint64(first+i/4+1)
		}
		return sum
	})
