package kernels

import (
	_ "embed" // slab.ptx

	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed slab.ptx
var slabPTX string

// Stamp launches kernel stamp on s: stamp<<<grid, block, 0, s>>>(data, bytes, tag).
//
// It writes a pattern over every one of the bytes at data that depends on the tag and on the place, and reads nothing.
// Any grid covers them all. Blocks of memory that were stamped with different tags and do not overlap keep their
// patterns: Verify tells.
func Stamp(grid, block int, s cuda.Stream, data cuda.DevicePtr, bytes int64, tag uint32) error {
	return cuda.LaunchKernel(stamp, dim(grid), dim(block), s, uint64(data), uint64(bytes), uint64(tag))
}

// Verify launches kernel verify on s: verify<<<grid, block, 0, s>>>(data, bytes, tag, mismatches).
//
// It reads the bytes at data and adds, atomically, the number of those that are not what Stamp writes for the tag to
// the 64-bit integer at mismatches, which the caller has set to a start value. Any grid covers all bytes.
func Verify(grid, block int, s cuda.Stream, data cuda.DevicePtr, bytes int64, tag uint32,
	mismatches cuda.DevicePtr) error {
	return cuda.LaunchKernel(verify, dim(grid), dim(block), s, uint64(data), uint64(bytes), uint64(tag),
		uint64(mismatches))
}

var stamp = writeKernel(device.Spec{Entry: "stamp", PTX: slabPTX, Params: 3}, unitsOf(1), stamped)

var verify = countKernel(device.Spec{Entry: "verify", PTX: slabPTX, Params: 4}, unitsOf(1), 1, stamped)

func stamped(l *device.Launch, before int64, piece []byte) {
	for i := range piece {
		piece[i] = oracle.Stamp(uint32(l.Args[2]), before+int64(i))
	}
}

// eachByte calls f for count bytes at p, in pieces as they lie in memory: the index of a piece's first byte and the
// piece. It stops where memory ends and then reports false: the simulator has seen it and answers as a GPU does.
func eachByte(m device.Memory, p device.Ptr, count uint64, f func(first int64, bytes []byte)) bool {
	for i := uint64(0); i < count; {
		view := m.View(p+device.Ptr(i), count-i)
		if len(view) == 0 {
			return false
		}
		f(int64(i), view)
		i += uint64(len(view))
	}
	return true
}
