package kernels

import (
	_ "embed" // overlap.ptx

	"cudalab/kernels/listed"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed overlap.ptx
var overlapPTX string

func init() { listed.Add(mix) }

// Mix launches kernel mix on s: mix<<<grid, block, 0, s>>>(dst, src, n, work).
//
// It reads n uint32 elements, 4*n bytes, at src, and writes as many at dst, which may be src: each becomes another
// number, after so many rounds of work that take time and nothing else. No two numbers become the same one. Each thread
// takes the one element whose index is the thread's place in the grid, so n elements need a grid of (n+block-1)/block
// blocks. A block has at most 1024 threads; 256 is a good number.
//
// Like every launch it only puts the kernel in the stream's queue; the error tells of the launch, not of the run.
func Mix(grid, block int, s cuda.Stream, dst, src cuda.DevicePtr, n, work int) error {
	if err := fitsInt("kernels.Mix", "n", n); err != nil {
		return err
	}
	if err := fitsInt("kernels.Mix", "work", work); err != nil {
		return err
	}
	return cuda.LaunchKernel(mix, dim(grid), dim(block), s, uint64(dst), uint64(src), uint64(uint32(n)),
		uint64(uint32(work)))
}

var mix = newKernel(device.Spec{
	Entry:  "mix",
	PTX:    overlapPTX,
	Params: 4,
	Exec: func(l *device.Launch, m device.Memory) {
		dst, src, n := device.Ptr(l.Args[0]), device.Ptr(l.Args[1]), elements(l, l.Args[2])
		mixed := oracle.Mixing(roundsOf(l.Args[3]))
		eachView(m, src, n, func(first int, from []byte) {
			eachView(m, dst+device.Ptr(4*first), uint64(len(from)/4), func(at int, to []byte) {
				mixed.Each(to, from[4*at:])
			})
		})
	},
	Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
		size := 4 * elements(l, l.Args[2])
		buf = access(buf, device.Ptr(l.Args[1]), size, device.Read)
		return access(buf, device.Ptr(l.Args[0]), size, device.Write)
	},
	Work: func(l *device.Launch) device.Work {
		return withRounds(device.Work{Threads: elements(l, l.Args[2]), Bytes: 8 * elements(l, l.Args[2])}, l.Args[3])
	},
})
