package kernels

import (
	_ "embed" // streampool.ptx
	"encoding/binary"

	"cudalab/kernels/listed"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed streampool.ptx
var streampoolPTX string

func init() { listed.Add(lease, inspect) }

// Lease launches kernel lease on s: lease<<<grid, block, 0, s>>>(data, bytes / 8, tenant, turns, strangers).
//
// It leaves in each of the whole 8-byte words at data what is the tenant's own at that address, looks at them again so
// many turns, and adds, atomically, how many it found changed to the 64-bit integer at strangers, which the caller has
// set to a start value: somebody else was in the block meanwhile. Any grid covers all words.
func Lease(grid, block int, s cuda.Stream, data cuda.DevicePtr, bytes int64, tenant uint32, turns int,
	strangers cuda.DevicePtr) error {
	if err := fitsInt("Lease", "turns", turns); err != nil {
		return err
	}
	return cuda.LaunchKernel(lease, dim(grid), dim(block), s, uint64(data), uint64(bytes/8), uint64(tenant), uint64(turns),
		uint64(strangers))
}

// Inspect launches kernel inspect on s: inspect<<<grid, block, 0, s>>>(data, bytes / 8, tenant, strangers).
//
// It reads the whole 8-byte words at data and adds, atomically, the number of those that are not what Lease has left
// for the tenant at their address to the 64-bit integer at strangers. Any grid covers all words.
func Inspect(grid, block int, s cuda.Stream, data cuda.DevicePtr, bytes int64, tenant uint32,
	strangers cuda.DevicePtr) error {
	return cuda.LaunchKernel(inspect, dim(grid), dim(block), s, uint64(data), uint64(bytes/8), uint64(tenant),
		uint64(strangers))
}

var lease = tenantKernel("lease", streampoolPTX, owned)

var inspect = countKernel(device.Spec{Entry: "inspect", PTX: streampoolPTX, Params: 4}, unitsOf(8), 8, owned)

func owned(l *device.Launch, before int64, piece []byte) {
	for i := 0; i+8 <= len(piece); i += 8 {
		binary.LittleEndian.PutUint64(piece[i:], oracle.Own(l.Args[0]+uint64(before)+uint64(i), uint32(l.Args[2])))
	}
}
