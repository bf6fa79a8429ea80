// Package kernels launches the lessons' kernels. A call such as
//
//	kernels.Process(grid, block, stream, data, n, multiplier, work)
//
// is what process<<<grid, block, 0, stream>>>(data, n, multiplier, work) is in CUDA C++. The kernels' sources are the
// .cu files beside this one; the PTX that they compile to is part of the program, so that nobody needs a compiler.
package kernels

//go:generate ./build.sh

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"cudalab/kernels/listed"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

func init() {
	listed.Add(process, reduce, touch, fill, checksum, stamp, verify, stampBlocks, verifyBlocks, extend, recheck)
}

// dim is a grid or block of one dimension. What no Dim3 can hold becomes 0, which CUDA refuses as it refuses any
// other size out of range.
func dim(x int) cuda.Dim3 {
	if x < 0 || x > math.MaxInt32 {
		return cuda.Dim3{}
	}
	return cuda.Dim3{X: uint32(x)}
}

// fitsInt checks that an argument fits a kernel's int parameter, which has 32 bits.
func fitsInt(call, name string, value int) error {
	if value < math.MinInt32 || value > math.MaxInt32 {
		return fmt.Errorf("%s: %s is %d, but the kernel's parameter is an int of 32 bits, at most %d: %w",
			call, name, value, math.MaxInt32, cuda.ErrorInvalidValue)
	}
	return nil
}

// newKernel defines a kernel whose threads go by their place along x alone, as all of these do. Those that differ in y
// or z only do the same once more: what they write is the same, what they add is added again, and all of it takes its
// time.
func newKernel(s device.Spec) *device.Kernel {
	row := s.Work
	s.Work = func(l *device.Launch) device.Work {
		w := row(l)
		w.Threads, w.Bytes = times(w.Threads, l.Layers()), times(w.Bytes, l.Layers())
		return w
	}
	return device.NewKernel(s)
}

// times is a product, or the largest number where that is beyond all that a device ever does.
func times(a, b uint64) uint64 {
	if over, product := bits.Mul64(a, b); over == 0 && product < 1<<62 {
		return product
	}
	return 1 << 62
}

// addUp adds what the threads of one layer have found together to the 8 bytes at p, once for each layer.
func addUp(l *device.Launch, m device.Memory, p device.Ptr, found uint64) {
	if sum := m.View(p, 8); len(sum) == 8 {
		binary.LittleEndian.PutUint64(sum, binary.LittleEndian.Uint64(sum)+found*l.Layers())
	}
}

// elements is how many elements a launch covers with one thread each: no more than n, which is an int32 argument as
// it stands in its slot, and no more than there are threads along x.
func elements(l *device.Launch, n uint64) uint64 {
	return min(uint64(max(int32(n), 0)), l.Row())
}

// access appends what a launch touches, unless that is nothing.
func access(buf []device.Access, p device.Ptr, size uint64, kind device.AccessKind) []device.Access {
	if size == 0 {
		return buf
	}
	return append(buf, device.Access{Ptr: p, Size: size, Kind: kind})
}

// eachView calls f for count elements of 4 bytes at p, in pieces as they lie in memory: the index of a piece's first
// element and the piece, a multiple of four bytes long. It stops where memory ends and then reports false: the
// simulator has seen it and answers as a GPU does.
func eachView(m device.Memory, p device.Ptr, count uint64, f func(first int, bytes []byte)) bool {
	for i := uint64(0); i < count; {
		view := m.View(p+device.Ptr(4*i), 4*(count-i))
		inView := uint64(len(view)) / 4
		if inView == 0 {
			return false
		}
		f(int(i), view[:4*inView])
		i += inView
	}
	return true
}

// tile is how many bytes are written at a time where much is written: within an array no index has to be checked, which
// takes half the time.
const tile = 64

// sumKernel is a kernel of the parameters data, n and result: each thread reads one element of 4 bytes, and each block
// adds what its threads have read up to the 8 bytes at result. sum is what a piece of the elements adds.
func sumKernel(entry, ptx string, sum func(first int, bytes []byte) uint64) *device.Kernel {
	return newKernel(device.Spec{
		Entry:  entry,
		PTX:    ptx,
		Params: 3,
		Exec: func(l *device.Launch, m device.Memory) {
			total := uint64(0)
			whole := eachView(m, device.Ptr(l.Args[0]), elements(l, l.Args[1]), func(first int, bytes []byte) {
				total += sum(first, bytes)
			})
			if whole {
				addUp(l, m, device.Ptr(l.Args[2]), total)
			}
		},
		Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
			buf = access(buf, device.Ptr(l.Args[0]), 4*elements(l, l.Args[1]), device.Read)
			return access(buf, device.Ptr(l.Args[2]), 8, device.Atomic)
		},
		Work: func(l *device.Launch) device.Work {
			return device.Work{
				Threads: elements(l, l.Args[1]), // those beyond n add a zero and are gone
				Bytes:   4*elements(l, l.Args[1]) + 8*uint64(l.Grid.X),
				Steps:   uint64(bits.Len32(l.Block.X - 1)), // the tree's height
			}
		},
	})
}
