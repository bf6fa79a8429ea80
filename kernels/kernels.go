// Package kernels launches the lessons' kernels. A call such as
//
//	kernels.Process(grid, block, stream, data, n, multiplier, work)
//
// is what process<<<grid, block, 0, stream>>>(data, n, multiplier, work) is in CUDA C++. The kernels' sources are the
// .cu files beside this one; the PTX that they compile to is part of the program, so that nobody needs a compiler.
package kernels

//go:generate ./build.sh

import (
	"bytes"
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

// elementKernel is a kernel of the parameters data, n and what else there is: each thread writes one element of 4
// bytes. That is all its work, unless it says otherwise.
func elementKernel(s device.Spec, write func(l *device.Launch, first int, bytes []byte)) *device.Kernel {
	s.Exec = func(l *device.Launch, m device.Memory) {
		eachView(m, device.Ptr(l.Args[0]), elements(l, l.Args[1]), func(first int, bytes []byte) { write(l, first, bytes) })
	}
	s.Accesses = func(l *device.Launch, buf []device.Access) []device.Access {
		return access(buf, device.Ptr(l.Args[0]), 4*elements(l, l.Args[1]), device.Write)
	}
	if s.Work == nil {
		s.Work = elementWork
	}
	return newKernel(s)
}

func elementWork(l *device.Launch) device.Work {
	return device.Work{Threads: elements(l, l.Args[1]), Bytes: 4 * elements(l, l.Args[1])}
}

// sumKernel is a kernel of the parameters data, n, what else there is, and result: each thread reads one element of 4
// bytes, and each block adds what its threads have read up to the 8 bytes at result. That is all its work, unless it
// says otherwise. sum is what a piece of the elements adds.
func sumKernel(s device.Spec, sum func(l *device.Launch, first int, bytes []byte) uint64) *device.Kernel {
	result := s.Params - 1
	s.Exec = func(l *device.Launch, m device.Memory) {
		total := uint64(0)
		whole := eachView(m, device.Ptr(l.Args[0]), elements(l, l.Args[1]), func(first int, bytes []byte) {
			total += sum(l, first, bytes)
		})
		if whole {
			addUp(l, m, device.Ptr(l.Args[result]), total)
		}
	}
	s.Accesses = func(l *device.Launch, buf []device.Access) []device.Access {
		buf = access(buf, device.Ptr(l.Args[0]), 4*elements(l, l.Args[1]), device.Read)
		return access(buf, device.Ptr(l.Args[result]), 8, device.Atomic)
	}
	if s.Work == nil {
		s.Work = sumWork
	}
	return newKernel(s)
}

func sumWork(l *device.Launch) device.Work {
	w := elementWork(l) // the threads beyond n add a zero and are gone
	w.Bytes += 8 * uint64(l.Grid.X)
	w.Steps = uint64(bits.Len32(l.Block.X - 1)) // the tree's height
	return w
}

// region is the memory that the threads of a launch share among themselves, whatever the grid.
type region struct {
	of   func(l *device.Launch) (p device.Ptr, size uint64) // where it begins, and how many bytes it has
	unit uint64                                             // bytes that a thread takes at a time
}

// unitsOf is the region of the parameters data and count, in units of so many bytes.
func unitsOf(bytes uint64) region {
	return region{func(l *device.Launch) (device.Ptr, uint64) {
		return device.Ptr(l.Args[0]), times(positive(l.Args[1]), bytes)
	}, bytes}
}

func (r region) work(l *device.Launch) device.Work {
	_, size := r.of(l)
	return device.Work{Threads: min((size+r.unit-1)/r.unit, l.Row()), Bytes: size}
}

func (r region) written(l *device.Launch, buf []device.Access) []device.Access {
	p, size := r.of(l)
	return access(buf, p, size, device.Write)
}

// read is what is touched where so many bytes at one of the arguments are added to, if there is anything to read.
func (r region) read(result int, bytes uint64) func(*device.Launch, []device.Access) []device.Access {
	return func(l *device.Launch, buf []device.Access) []device.Access {
		p, size := r.of(l)
		if size == 0 {
			return buf
		}
		return access(access(buf, p, size, device.Read), device.Ptr(l.Args[result]), bytes, device.Atomic)
	}
}

// pattern is what a launch writes to a piece of its region, before which lie so many bytes.
type pattern func(l *device.Launch, before int64, piece []byte)

// writeKernel is a kernel that writes a pattern over a region. It touches that and takes the time of that, unless there
// is more to it.
func writeKernel(s device.Spec, r region, write pattern) *device.Kernel {
	s.Exec = func(l *device.Launch, m device.Memory) {
		p, size := r.of(l)
		eachByte(m, p, size, func(before int64, piece []byte) { write(l, before, piece) })
	}
	if s.Accesses == nil {
		s.Accesses, s.Work = r.written, r.work
	}
	return newKernel(s)
}

// countKernel is a kernel that reads a region and adds how many items of it, of so many bytes, are not as the pattern
// has them to the 8 bytes at its last argument.
func countKernel(s device.Spec, r region, item int, right pattern) *device.Kernel {
	result := s.Params - 1
	s.Exec = func(l *device.Launch, m device.Memory) {
		const most = 4 << 10
		wrong, want := uint64(0), make([]byte, most)
		p, size := r.of(l)
		whole := eachByte(m, p, size, func(before int64, piece []byte) {
			for len(piece) > 0 {
				n := min(len(piece), most)
				right(l, before, want[:n])
				wrong += differing(want[:n], piece[:n], item)
				before, piece = before+int64(n), piece[n:]
			}
		})
		if wrong > 0 && whole {
			addUp(l, m, device.Ptr(l.Args[result]), wrong)
		}
	}
	s.Accesses, s.Work = r.read(result, 8), r.work
	return newKernel(s)
}

// differing is in how many of their whole items, of so many bytes, two pieces differ.
func differing(x, y []byte, item int) (n uint64) {
	if bytes.Equal(x, y) {
		return 0
	}
	for i := 0; i+item <= len(x); i += item {
		if !bytes.Equal(x[i:i+item], y[i:i+item]) {
			n++
		}
	}
	return n
}

// tenantKernel is a kernel of the parameters data, words, tag, turns and intrusions: it writes a pattern of words, and
// looks at it again so many turns.
func tenantKernel(entry, ptx string, write pattern) *device.Kernel {
	r := unitsOf(8)
	return writeKernel(device.Spec{
		Entry:  entry,
		PTX:    ptx,
		Params: 5,
		Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
			buf = r.written(l, buf)
			if positive(l.Args[1]) == 0 || roundsOf(l.Args[3]) == 0 {
				return buf
			}
			return access(buf, device.Ptr(l.Args[4]), 8, device.Atomic)
		},
		Work: func(l *device.Launch) device.Work {
			w := r.work(l)
			w.Bytes = times(w.Bytes, 1+uint64(roundsOf(l.Args[3])))
			return w
		},
	}, r, write)
}
