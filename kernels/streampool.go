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

var lease = newKernel(device.Spec{
	Entry:  "lease",
	PTX:    streampoolPTX,
	Params: 5,
	Exec: func(l *device.Launch, m device.Memory) {
		eachByte(m, device.Ptr(l.Args[0]), times(positive(l.Args[1]), 8), func(first int64, bytes []byte) {
			for i := 0; i+8 <= len(bytes); i += 8 {
				binary.LittleEndian.PutUint64(bytes[i:], oracle.Own(l.Args[0]+uint64(first)+uint64(i), uint32(l.Args[2])))
			}
		})
	},
	Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
		size := times(positive(l.Args[1]), 8)
		buf = access(buf, device.Ptr(l.Args[0]), size, device.Write)
		if size == 0 || roundsOf(l.Args[3]) == 0 {
			return buf
		}
		return access(buf, device.Ptr(l.Args[4]), 8, device.Atomic)
	},
	Work: func(l *device.Launch) device.Work {
		words := positive(l.Args[1])
		return device.Work{Threads: min(words, l.Row()), Bytes: times(times(words, 8), 1+uint64(roundsOf(l.Args[3])))}
	},
})

var inspect = newKernel(device.Spec{
	Entry:  "inspect",
	PTX:    streampoolPTX,
	Params: 4,
	Exec: func(l *device.Launch, m device.Memory) {
		changed := uint64(0)
		whole := eachByte(m, device.Ptr(l.Args[0]), times(positive(l.Args[1]), 8), func(first int64, bytes []byte) {
			for i := 0; i+8 <= len(bytes); i += 8 {
				if binary.LittleEndian.Uint64(bytes[i:]) != oracle.Own(l.Args[0]+uint64(first)+uint64(i), uint32(l.Args[2])) {
					changed++
				}
			}
		})
		if changed > 0 && whole {
			addUp(l, m, device.Ptr(l.Args[3]), changed)
		}
	},
	Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
		size := times(positive(l.Args[1]), 8)
		buf = access(buf, device.Ptr(l.Args[0]), size, device.Read)
		if size == 0 {
			return buf
		}
		return access(buf, device.Ptr(l.Args[3]), 8, device.Atomic)
	},
	Work: func(l *device.Launch) device.Work {
		words := positive(l.Args[1])
		return device.Work{Threads: min(words, l.Row()), Bytes: times(words, 8)}
	},
})
