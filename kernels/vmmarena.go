package kernels

import (
	_ "embed" // vmmarena.ptx
	"encoding/binary"

	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed vmmarena.ptx
var vmmarenaPTX string

// Extend launches kernel extend on s: extend<<<grid, block, 0, s>>>(array, from, to, seed).
//
// It writes the words from index from up to index to, of 8 bytes each, of an array that begins at array and grows: what
// a word becomes depends on the seed and on its index, no matter how far the array reached when it was written. It
// reads nothing. Any grid covers any number of words.
func Extend(grid, block int, s cuda.Stream, array cuda.DevicePtr, from, to int64, seed uint64) error {
	return cuda.LaunchKernel(extend, dim(grid), dim(block), s, uint64(array), uint64(from), uint64(to), seed)
}

// Recheck launches kernel recheck on s: recheck<<<grid, block, 0, s>>>(array, from, to, seed, mismatches).
//
// It reads the words from index from up to index to and adds, atomically, the number of those that are not what Extend
// writes there to the 64-bit integer at mismatches, which the caller has set to a start value. Any grid covers any
// number of words.
func Recheck(grid, block int, s cuda.Stream, array cuda.DevicePtr, from, to int64, seed uint64,
	mismatches cuda.DevicePtr) error {
	return cuda.LaunchKernel(recheck, dim(grid), dim(block), s, uint64(array), uint64(from), uint64(to), seed,
		uint64(mismatches))
}

var extend = writeKernel(device.Spec{Entry: "extend", PTX: vmmarenaPTX, Params: 4}, region{words, 8}, grown)

var recheck = countKernel(device.Spec{Entry: "recheck", PTX: vmmarenaPTX, Params: 5}, region{words, 8}, 8, grown)

func grown(l *device.Launch, before int64, piece []byte) {
	first := int64(l.Args[1]) + before/8
	for at := 0; at+8 <= len(piece); at += 8 {
		binary.LittleEndian.PutUint64(piece[at:], oracle.GrownWord(l.Args[3], first+int64(at/8)))
	}
}

// words is where the words of a launch begin, and how many bytes they have together.
func words(l *device.Launch) (p device.Ptr, size uint64) {
	from, to := int64(l.Args[1]), int64(l.Args[2])
	if to <= from {
		return device.Ptr(l.Args[0]), 0
	}
	return device.Ptr(l.Args[0] + 8*uint64(from)), 8 * uint64(to-from)
}
