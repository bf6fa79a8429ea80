package kernels

import (
	_ "embed" // bugclinic.ptx
	"math/bits"

	"cudalab/kernels/listed"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed bugclinic.ptx
var bugClinicPTX string

func init() { listed.Add(differ) }

// Differ launches kernel differ on s: differ<<<grid, block, 0, s>>>(x, y, n, count).
//
// It compares n uint32 elements, 4*n bytes, at x with those at y, and adds the number of places at which they differ to
// the 8 bytes at count, an unsigned 64-bit integer. Each thread compares one pair, so n elements need a grid of
// (n+block-1)/block blocks. A block has at most 1024 threads.
//
// Each block adds its share to count with one atomic addition.
func Differ(grid, block int, s cuda.Stream, x, y cuda.DevicePtr, n int, count cuda.DevicePtr) error {
	if err := fitsInt("kernels.Differ", "n", n); err != nil {
		return err
	}
	return cuda.LaunchKernel(differ, dim(grid), dim(block), s, uint64(x), uint64(y), uint64(uint32(n)), uint64(count))
}

var differ = newKernel(device.Spec{
	Entry:  "differ",
	PTX:    bugClinicPTX,
	Params: 4,
	Exec: func(l *device.Launch, m device.Memory) {
		x, y, n := device.Ptr(l.Args[0]), device.Ptr(l.Args[1]), elements(l, l.Args[2])
		total := uint64(0)
		whole := eachView(m, x, n, func(first int, xs []byte) {
			eachView(m, y+device.Ptr(4*first), uint64(len(xs)/4), func(from int, ys []byte) {
				total += oracle.Differing(xs[4*from:4*from+len(ys)], ys)
			})
		}) && eachView(m, y, n, func(int, []byte) {})
		if whole {
			addUp(l, m, device.Ptr(l.Args[3]), total)
		}
	},
	Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
		size := 4 * elements(l, l.Args[2])
		buf = access(buf, device.Ptr(l.Args[0]), size, device.Read)
		buf = access(buf, device.Ptr(l.Args[1]), size, device.Read)
		return access(buf, device.Ptr(l.Args[3]), 8, device.Atomic)
	},
	Work: func(l *device.Launch) device.Work {
		return device.Work{
			Threads: elements(l, l.Args[2]),
			Bytes:   8*elements(l, l.Args[2]) + 8*uint64(l.Grid.X),
			Steps:   uint64(bits.Len32(l.Block.X - 1)), // the tree's height
		}
	},
})
