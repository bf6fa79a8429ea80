package kernels

import (
	"bytes"
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

var writeElements = newKernel(device.Spec{
	Entry:  "writeElements",
	PTX:    growablePTX,
	Params: 6,
	Exec: func(l *device.Launch, m device.Memory) {
		eachPiece(l, m, func(bytes, right []byte) { copy(bytes, right) })
	},
	Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
		p, size := elementsOf(l)
		return access(buf, p, size, device.Write)
	},
	Work: elementsWork,
})

var checkElements = newKernel(device.Spec{
	Entry:  "checkElements",
	PTX:    growablePTX,
	Params: 7,
	Exec: func(l *device.Launch, m device.Memory) {
		wrong := uint64(0)
		whole := eachPiece(l, m, func(got, right []byte) {
			if bytes.Equal(got, right) {
				return
			}
			for i := range got {
				if got[i] != right[i] {
					wrong++
				}
			}
		})
		if wrong == 0 || !whole {
			return
		}
		addUp(l, m, device.Ptr(l.Args[6]), wrong)
	},
	Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
		p, size := elementsOf(l)
		if size == 0 {
			return buf
		}
		return access(access(buf, p, size, device.Read), device.Ptr(l.Args[6]), 8, device.Atomic)
	},
	Work: elementsWork,
})

// elementsOf is where the elements of a launch begin, and how many bytes they have together.
func elementsOf(l *device.Launch) (p device.Ptr, size uint64) {
	elem, from, to := int64(l.Args[1]), int64(l.Args[2]), int64(l.Args[3])
	if to <= from || elem <= 0 {
		return device.Ptr(l.Args[0]), 0
	}
	return device.Ptr(l.Args[0] + l.Args[1]*uint64(from)), times(uint64(elem), uint64(to-from))
}

func elementsWork(l *device.Launch) device.Work {
	_, size := elementsOf(l)
	return device.Work{Threads: min((size+7)/8, l.Row()), Bytes: size}
}

// piece is how many bytes eachPiece works out at a time.
const piece = 4 << 10

// eachPiece calls f for pieces of a launch's elements: what lies there, and the bytes that it is to have. It stops
// where memory ends and then reports false.
func eachPiece(l *device.Launch, m device.Memory, f func(bytes, right []byte)) bool {
	p, size := elementsOf(l)
	elem, seed, first := int64(l.Args[1]), l.Args[4], int64(l.Args[5])
	var right [piece + 8]byte // the last word may reach beyond
	return eachByte(m, p, size, func(at int64, bytes []byte) {
		number, b := first+at/elem, at%elem
		for len(bytes) > 0 {
			n := int64(min(len(bytes), piece))
			for done := int64(0); done < n; {
				within := min(elem-b, n-done) // of this element
				if words := within &^ 7; b%8 == 0 && words > 0 {
					oracle.ElementPieces(right[done:done+words], seed, number, b/8)
					b, done, within = b+words, done+words, within-words
				}
				if step := min(8-b%8, within); step > 0 {
					binary.LittleEndian.PutUint64(right[done:], oracle.ElementPiece(seed, number, b/8)>>(8*(b%8)))
					b, done = b+step, done+step
				}
				if b == elem {
					number, b = number+1, 0
				}
			}
			f(bytes[:n], right[:n])
			bytes = bytes[n:]
		}
	})
}
