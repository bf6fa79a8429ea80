// Package kernels launches this course's kernels.
package kernels

import (
	_ "embed" // tally.ptx
	"encoding/binary"

	"cudalab/kernels/listed"
	"cudalab/native/cuda"
	"cudalab/native/device"

	"example.com/outside/kernels/oracle"
)

//go:embed tally.ptx
var tallyPTX string

func init() { listed.Add(tally) }

// Tally launches kernel tally on s: tally<<<grid, block, 0, s>>>(result, n, value). Each of n threads adds value to the 8
// bytes at result.
func Tally(grid, block int, s cuda.Stream, result cuda.DevicePtr, n int, value uint64) error {
	return cuda.LaunchKernel(tally, cuda.Dim3{X: uint32(grid)}, cuda.Dim3{X: uint32(block)}, s,
		uint64(result), uint64(uint32(n)), value)
}

// adding are the threads of a launch that add.
func adding(l *device.Launch) uint64 { return min(uint64(max(int32(l.Args[1]), 0)), l.Threads()) }

var tally = device.NewKernel(device.Spec{
	Entry:  "tally",
	PTX:    tallyPTX,
	Params: 3,
	Exec: func(l *device.Launch, m device.Memory) {
		if at := m.View(device.Ptr(l.Args[0]), 8); len(at) == 8 {
			binary.LittleEndian.PutUint64(at, oracle.Tally(binary.LittleEndian.Uint64(at), int(adding(l)), l.Args[2]))
		}
	},
	Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
		if adding(l) == 0 {
			return buf
		}
		return append(buf, device.Access{Ptr: device.Ptr(l.Args[0]), Size: 8, Kind: device.Atomic})
	},
	Work: func(l *device.Launch) device.Work {
		return device.Work{Threads: adding(l), Bytes: 8}
	},
})
