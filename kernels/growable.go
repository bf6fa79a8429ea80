package kernels

import (
	_ "embed" // growable.ptx
	"encoding/binary"

	"cudalab/kernels/listed"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed growable.ptx
var growablePTX string

func init() { listed.Add(writeElements, checkElements) }

// WriteElements launches kernel writeElements on s: writeElements<<<grid, block, 0, s>>>(array, elem, from, to, seed,
// first).
//
// It writes the elements from index from up to index to, of elem bytes each, of an array of such elements that begins
// at array: what the bytes of an element become depends on the seed and on the element's number, which is first for the
// first of them and one more for each that follows. The number is no matter of where the element lies, so one that was
// copied elsewhere can be told there. It reads nothing. Any grid covers any number of elements, of any size.
func WriteElements(grid, block int, s cuda.Stream, array cuda.DevicePtr, elem, from, to int64, seed uint64,
	first int64) error {
	return cuda.LaunchKernel(writeElements, dim(grid), dim(block), s, uint64(array), uint64(elem), uint64(from),
		uint64(to), seed, uint64(first))
}

// CheckElements launches kernel checkElements on s:
// checkElements<<<grid, block, 0, s>>>(array, elem, from, to, seed, first, mismatches).
//
// It reads the elements from index from up to index to and adds, atomically, how many of their bytes are not what
// WriteElements writes there to the 64-bit integer at mismatches, which the caller has set to a start value. Any grid
// covers any number of elements.
func CheckElements(grid, block int, s cuda.Stream, array cuda.DevicePtr, elem, from, to int64, seed uint64, first int64,
	mismatches cuda.DevicePtr) error {
	return cuda.LaunchKernel(checkElements, dim(grid), dim(block), s, uint64(array), uint64(elem), uint64(from),
		uint64(to), seed, uint64(first), uint64(mismatches))
}

var writeElements = writeKernel(device.Spec{Entry: "writeElements", PTX: growablePTX, Params: 6},
	region{elementsOf, 8}, numbered)

var checkElements = countKernel(device.Spec{Entry: "checkElements", PTX: growablePTX, Params: 7},
	region{elementsOf, 8}, 1, numbered)

// elementsOf is where the elements of a launch begin, and how many bytes they have together.
func elementsOf(l *device.Launch) (p device.Ptr, size uint64) {
	elem, from, to := int64(l.Args[1]), int64(l.Args[2]), int64(l.Args[3])
	if to <= from || elem <= 0 {
		return device.Ptr(l.Args[0]), 0
	}
	return device.Ptr(l.Args[0] + l.Args[1]*uint64(from)), times(uint64(elem), uint64(to-from))
}

// numbered writes the bytes of a launch's elements, each of which has a number.
func numbered(l *device.Launch, before int64, bytes []byte) {
	elem, seed := int64(l.Args[1]), l.Args[4]
	number, b := int64(l.Args[5])+before/elem, before%elem
	for len(bytes) > 0 {
		within := min(elem-b, int64(len(bytes))) // of this element
		if words := within &^ 7; b%8 == 0 && words > 0 {
			oracle.ElementPieces(bytes[:words], seed, number, b/8)
			b, bytes, within = b+words, bytes[words:], within-words
		}
		if step := min(8-b%8, within); step > 0 {
			var last [8]byte
			binary.LittleEndian.PutUint64(last[:], oracle.ElementPiece(seed, number, b/8)>>(8*(b%8)))
			b, bytes = b+step, bytes[copy(bytes[:step], last[:]):]
		}
		if b == elem {
			number, b = number+1, 0
		}
	}
}
