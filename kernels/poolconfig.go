package kernels

import (
	_ "embed" // poolconfig.ptx

	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed poolconfig.ptx
var poolConfigPTX string

// Touch launches kernel touch on s: touch<<<grid, block, 0, s>>>(data, bytes, seed).
//
// It writes every one of the bytes at data, byte i to the low byte of seed + i, and reads nothing. The threads share
// the bytes among themselves, so any grid covers them all: a larger one only does it sooner. A block has at most 1024
// threads.
//
// Like every launch it only puts the kernel in the stream's queue; the error tells of the launch, not of the run.
func Touch(grid, block int, s cuda.Stream, data cuda.DevicePtr, bytes int64, seed uint32) error {
	return cuda.LaunchKernel(touch, dim(grid), dim(block), s, uint64(data), uint64(bytes), uint64(seed))
}

var touch = newKernel(device.Spec{
	Entry:  "touch",
	PTX:    poolConfigPTX,
	Params: 3,
	Exec: func(l *device.Launch, m device.Memory) {
		seed := uint32(l.Args[2])
		m.Fill(device.Ptr(l.Args[0]), positive(l.Args[1]), func(first int64, bytes []byte) {
			oracle.Touch(bytes, seed+uint32(first))
		})
	},
	Accesses: unitsOf(1).written,
	Work:     unitsOf(1).work, // the stores do not wait for each other
})

// positive is an int64 argument as it stands in its slot, or 0 where it is negative.
func positive(slot uint64) uint64 { return uint64(max(int64(slot), 0)) }
