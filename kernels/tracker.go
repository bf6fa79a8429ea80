package kernels

import (
	_ "embed" // tracker.ptx

	"cudalab/kernels/listed"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed tracker.ptx
var trackerPTX string

func init() { listed.Add(census) }

// CensusBytes is how many bytes Census counts in: a 64-bit integer for each value of a byte.
const CensusBytes = 8 * oracle.ByteValues

// Census launches kernel census on s: census<<<grid, block, 0, s>>>(memory, bytes, counts).
//
// It reads the bytes at memory and adds, atomically, to the v-th of the 256 64-bit integers at counts how many of them
// have the value v. The caller has set the integers to a start value. Any grid covers all bytes.
func Census(grid, block int, s cuda.Stream, memory cuda.DevicePtr, bytes int64, counts cuda.DevicePtr) error {
	return cuda.LaunchKernel(census, dim(grid), dim(block), s, uint64(memory), uint64(bytes), uint64(counts))
}

var census = newKernel(device.Spec{
	Entry:  "census",
	PTX:    trackerPTX,
	Params: 3,
	Exec: func(l *device.Launch, m device.Memory) {
		var found [oracle.ByteValues]uint64
		whole := eachByte(m, device.Ptr(l.Args[0]), positive(l.Args[1]), func(_ int64, bytes []byte) {
			oracle.Census(&found, bytes)
		})
		if !whole {
			return
		}
		for v, n := range found {
			if n > 0 {
				addUp(l, m, device.Ptr(l.Args[2])+device.Ptr(8*v), n)
			}
		}
	},
	Accesses: unitsOf(1).read(2, CensusBytes),
	Work:     unitsOf(1).work,
})
