package kernels

import (
	_ "embed" // blockpool.ptx
	"encoding/binary"

	"cudalab/kernels/listed"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed blockpool.ptx
var blockpoolPTX string

func init() { listed.Add(occupy, occupied) }

// Occupy launches kernel occupy on s: occupy<<<grid, block, 0, s>>>(data, bytes / 8, tag, turns, intrusions).
//
// It writes marks that depend on the tag and the place over the whole 8-byte words at data, looks at them again so many
// turns, and adds, atomically, how many it found changed to the 64-bit integer at intrusions, which the caller has set
// to a start value: somebody else was in the block meanwhile. Any grid covers all words.
func Occupy(grid, block int, s cuda.Stream, data cuda.DevicePtr, bytes int64, tag uint32, turns int,
	intrusions cuda.DevicePtr) error {
	if err := fitsInt("Occupy", "turns", turns); err != nil {
		return err
	}
	return cuda.LaunchKernel(occupy, dim(grid), dim(block), s, uint64(data), uint64(bytes/8), uint64(tag), uint64(turns),
		uint64(intrusions))
}

// Occupied launches kernel occupied on s: occupied<<<grid, block, 0, s>>>(data, bytes / 8, tag, intrusions).
//
// It reads the whole 8-byte words at data and adds, atomically, the number of those that do not have the marks that
// Occupy has left there with the tag to the 64-bit integer at intrusions. Any grid covers all words.
func Occupied(grid, block int, s cuda.Stream, data cuda.DevicePtr, bytes int64, tag uint32,
	intrusions cuda.DevicePtr) error {
	return cuda.LaunchKernel(occupied, dim(grid), dim(block), s, uint64(data), uint64(bytes/8), uint64(tag),
		uint64(intrusions))
}

var occupy = tenantKernel("occupy", blockpoolPTX, marked)

var occupied = countKernel(device.Spec{Entry: "occupied", PTX: blockpoolPTX, Params: 4}, unitsOf(8), 8, marked)

func marked(l *device.Launch, before int64, piece []byte) {
	for i := 0; i+8 <= len(piece); i += 8 {
		binary.LittleEndian.PutUint64(piece[i:], oracle.Mark(uint32(l.Args[2]), (before+int64(i))/8))
	}
}
