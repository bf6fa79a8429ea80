package kernels

import (
	_ "embed" // ring.ptx
	"encoding/binary"
	"math/bits"

	"cudalab/kernels/listed"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed ring.ptx
var ringPTX string

func init() { listed.Add(fillItem, digest) }

// FillItem launches kernel fillItem on s: fillItem<<<grid, block, 0, s>>>(data, n, item, work).
//
// It writes n uint32 elements, 4*n bytes, at data, and reads nothing: each becomes a number that depends on its index
// and on item, after so many rounds of work that take time and nothing else. Each thread writes the one element whose
// index is the thread's place in the grid, so n elements need a grid of (n+block-1)/block blocks. A block has at most
// 1024 threads; 256 is a good number.
//
// Like every launch it only puts the kernel in the stream's queue; the error tells of the launch, not of the run.
func FillItem(grid, block int, s cuda.Stream, data cuda.DevicePtr, n int, item uint32, work int) error {
	if err := fitsInt("kernels.FillItem", "n", n); err != nil {
		return err
	}
	if err := fitsInt("kernels.FillItem", "work", work); err != nil {
		return err
	}
	return cuda.LaunchKernel(fillItem, dim(grid), dim(block), s, uint64(data), uint64(uint32(n)), uint64(item),
		uint64(uint32(work)))
}

// Digest launches kernel digest on s: digest<<<grid, block, 0, s>>>(data, n, work, result).
//
// It reads n uint32 elements, 4*n bytes, at data, takes each through so many rounds of work, and adds them to the 8
// bytes at result, an unsigned 64-bit integer. Each thread reads one element, so n elements need a grid of
// (n+block-1)/block blocks. A block has at most 1024 threads.
//
// Each block adds its share to result with one atomic addition.
func Digest(grid, block int, s cuda.Stream, data cuda.DevicePtr, n, work int, result cuda.DevicePtr) error {
	if err := fitsInt("kernels.Digest", "n", n); err != nil {
		return err
	}
	if err := fitsInt("kernels.Digest", "work", work); err != nil {
		return err
	}
	return cuda.LaunchKernel(digest, dim(grid), dim(block), s, uint64(data), uint64(uint32(n)), uint64(uint32(work)),
		uint64(result))
}

// roundsOf are the rounds that a launch takes, by the argument in its slot.
func roundsOf(work uint64) int { return int(max(int32(work), 0)) }

var fillItem = newKernel(device.Spec{
	Entry:  "fillItem",
	PTX:    ringPTX,
	Params: 4,
	Exec: func(l *device.Launch, m device.Memory) {
		eachView(m, device.Ptr(l.Args[0]), elements(l, l.Args[1]), func(first int, bytes []byte) {
			rounds := oracle.RoundsOf(roundsOf(l.Args[3]))
			for i := 0; i < len(bytes); i += 4 {
				binary.LittleEndian.PutUint32(bytes[i:], rounds.Of(oracle.Item(uint32(l.Args[2]), first+i/4)))
			}
		})
	},
	Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
		return access(buf, device.Ptr(l.Args[0]), 4*elements(l, l.Args[1]), device.Write)
	},
	Work: func(l *device.Launch) device.Work {
		w := device.Work{Threads: elements(l, l.Args[1]), Bytes: 4 * elements(l, l.Args[1])}
		if w.Threads > 0 {
			w.Steps = uint64(roundsOf(l.Args[3]))
		}
		return w
	},
})

var digest = newKernel(device.Spec{
	Entry:  "digest",
	PTX:    ringPTX,
	Params: 4,
	Exec: func(l *device.Launch, m device.Memory) {
		rounds, total := oracle.RoundsOf(roundsOf(l.Args[2])), uint64(0)
		whole := eachView(m, device.Ptr(l.Args[0]), elements(l, l.Args[1]), func(_ int, bytes []byte) {
			for i := 0; i < len(bytes); i += 4 {
				total += uint64(rounds.Of(binary.LittleEndian.Uint32(bytes[i:])))
			}
		})
		if whole {
			addUp(l, m, device.Ptr(l.Args[3]), total)
		}
	},
	Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
		buf = access(buf, device.Ptr(l.Args[0]), 4*elements(l, l.Args[1]), device.Read)
		return access(buf, device.Ptr(l.Args[3]), 8, device.Atomic)
	},
	Work: func(l *device.Launch) device.Work {
		w := device.Work{
			Threads: elements(l, l.Args[1]),
			Bytes:   4*elements(l, l.Args[1]) + 8*uint64(l.Grid.X),
			Steps:   uint64(bits.Len32(l.Block.X - 1)), // the tree's height
		}
		if w.Threads > 0 {
			w.Steps += uint64(roundsOf(l.Args[2]))
		}
		return w
	},
})
