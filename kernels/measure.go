package kernels

import (
	_ "embed" // measure.ptx
	"encoding/binary"

	"cudalab/kernels/listed"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed measure.ptx
var measurePTX string

func init() { listed.Add(gray) }

// Gray launches kernel gray on s: gray<<<grid, block, 0, s>>>(data, n).
//
// It writes n uint32 elements, 4*n bytes, at data, and reads nothing: element i becomes the Gray code of i, i ^ i>>1.
// Each thread writes the one element whose index is the thread's place in the grid, so n elements need a grid of
// (n+block-1)/block blocks; with fewer, the last elements stay as they were. A block has at most 1024 threads; 256 is a
// good number.
//
// Like every launch it only puts the kernel in the stream's queue; the error tells of the launch, not of the run.
func Gray(grid, block int, s cuda.Stream, data cuda.DevicePtr, n int) error {
	if err := fitsInt("kernels.Gray", "n", n); err != nil {
		return err
	}
	return cuda.LaunchKernel(gray, dim(grid), dim(block), s, uint64(data), uint64(uint32(n)))
}

var gray = elementKernel(device.Spec{Entry: "gray", PTX: measurePTX, Params: 2},
	func(_ *device.Launch, first int, bytes []byte) {
		// Two elements at a time, each in half of a word: there are less than 1<<31, so that none reaches into the other's.
		const both, shifted = 1<<32 | 1, 0x7FFFFFFF_7FFFFFFF
		for pair := uint64(first)*both + 1<<32; len(bytes) >= tile; bytes, first = bytes[tile:], first+tile/4 {
			b := (*[tile]byte)(bytes)
			for i := 0; i < tile; i += 8 {
				binary.LittleEndian.PutUint64(b[i:], pair^pair>>1&shifted)
				pair += 2 * both
			}
		}
		for i := 0; i < len(bytes); i += 4 {
			binary.LittleEndian.PutUint32(bytes[i:], oracle.Gray(first+i/4))
		}
	})
