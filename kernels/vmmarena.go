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

var extend = newKernel(device.Spec{
	Entry:  "extend",
	PTX:    vmmarenaPTX,
	Params: 4,
	Exec: func(l *device.Launch, m device.Memory) {
		eachWord(l, m, func(first int64, words []byte) {
			for at := 0; at+8 <= len(words); at += 8 {
				binary.LittleEndian.PutUint64(words[at:], oracle.GrownWord(l.Args[3], first+int64(at/8)))
			}
		})
	},
	Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
		p, size := words(l)
		return access(buf, p, size, device.Write)
	},
	Work: wordsWork,
})

var recheck = newKernel(device.Spec{
	Entry:  "recheck",
	PTX:    vmmarenaPTX,
	Params: 5,
	Exec: func(l *device.Launch, m device.Memory) {
		wrong := uint64(0)
		whole := eachWord(l, m, func(first int64, words []byte) {
			for at := 0; at+8 <= len(words); at += 8 {
				if binary.LittleEndian.Uint64(words[at:]) != oracle.GrownWord(l.Args[3], first+int64(at/8)) {
					wrong++
				}
			}
		})
		if wrong == 0 || !whole {
			return
		}
		addUp(l, m, device.Ptr(l.Args[4]), wrong)
	},
	Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
		p, size := words(l)
		if size == 0 {
			return buf
		}
		return access(access(buf, p, size, device.Read), device.Ptr(l.Args[4]), 8, device.Atomic)
	},
	Work: wordsWork,
})

// words is where the words of a launch begin, and how many bytes they have together.
func words(l *device.Launch) (p device.Ptr, size uint64) {
	from, to := int64(l.Args[1]), int64(l.Args[2])
	if to <= from {
		return device.Ptr(l.Args[0]), 0
	}
	return device.Ptr(l.Args[0] + 8*uint64(from)), 8 * uint64(to-from)
}

func wordsWork(l *device.Launch) device.Work {
	_, size := words(l)
	return device.Work{Threads: min(size/8, l.Row()), Bytes: size}
}

// eachWord calls f for the words of a launch, in pieces as they lie in memory: the index of a piece's first word and
// the piece. It stops where memory ends and then reports false.
func eachWord(l *device.Launch, m device.Memory, f func(first int64, words []byte)) bool {
	p, size := words(l)
	return eachByte(m, p, size, func(first int64, bytes []byte) { f(int64(l.Args[1])+first/8, bytes) })
}
