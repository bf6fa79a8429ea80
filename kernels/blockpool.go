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

var occupy = newKernel(device.Spec{
	Entry:  "occupy",
	PTX:    blockpoolPTX,
	Params: 5,
	Exec: func(l *device.Launch, m device.Memory) {
		eachByte(m, device.Ptr(l.Args[0]), times(positive(l.Args[1]), 8), func(first int64, bytes []byte) {
			for i := 0; i+8 <= len(bytes); i += 8 {
				binary.LittleEndian.PutUint64(bytes[i:], oracle.Mark(uint32(l.Args[2]), (first+int64(i))/8))
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

var occupied = newKernel(device.Spec{
	Entry:  "occupied",
	PTX:    blockpoolPTX,
	Params: 4,
	Exec: func(l *device.Launch, m device.Memory) {
		changed := uint64(0)
		whole := eachByte(m, device.Ptr(l.Args[0]), times(positive(l.Args[1]), 8), func(first int64, bytes []byte) {
			for i := 0; i+8 <= len(bytes); i += 8 {
				if binary.LittleEndian.Uint64(bytes[i:]) != oracle.Mark(uint32(l.Args[2]), (first+int64(i))/8) {
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
