package kernels

import (
	_ "embed" // buddy.ptx
	"encoding/binary"

	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed buddy.ptx
var buddyPTX string

// Block is a row of the tables that StampBlocks and VerifyBlocks work on. Address and Bytes are multiples of 16.
type Block struct {
	Address cuda.DevicePtr
	Bytes   int64
	Tag     uint64 // below 2^32: blocks with different tags get different words at every place
}

// blockBytes is a row's size in device memory.
const blockBytes = 24

// BlockTable is a table as the kernels read it, to be copied to device memory: 24 bytes per row.
func BlockTable(blocks []Block) []byte {
	table := make([]byte, 0, blockBytes*len(blocks))
	for _, b := range blocks {
		table = binary.LittleEndian.AppendUint64(table, uint64(b.Address))
		table = binary.LittleEndian.AppendUint64(table, uint64(b.Bytes))
		table = binary.LittleEndian.AppendUint64(table, b.Tag)
	}
	return table
}

// StampBlocks launches kernel stampBlocks on s: stampBlocks<<<grid, block, 0, s>>>(table, count, base, bytes).
//
// It reads a BlockTable of count rows at table, and fills each of the blocks, however many they are, with words that
// depend on the block's tag and on the place; VerifyBlocks tells whether they are still there. It touches only what
// lies within the bytes from base on, the memory that the blocks are parts of: a row that names other memory does no
// harm. Any grid covers any table; each block of threads takes a row at a time.
func StampBlocks(grid, block int, s cuda.Stream, table cuda.DevicePtr, count int, base cuda.DevicePtr,
	bytes int64) error {
	if err := fitsInt("kernels.StampBlocks", "count", count); err != nil {
		return err
	}
	return cuda.LaunchKernel(stampBlocks, dim(grid), dim(block), s, uint64(table), uint64(uint32(count)), uint64(base),
		uint64(bytes))
}

// VerifyBlocks launches kernel verifyBlocks on s: verifyBlocks<<<grid, block, 0, s>>>(table, count, base, bytes,
// wrong).
//
// It reads the same table as StampBlocks and adds, atomically, the number of words of 8 bytes that are not what
// StampBlocks writes there to the 64-bit integer at wrong, which the caller has set to a start value. All words count
// of a block that StampBlocks does not touch.
func VerifyBlocks(grid, block int, s cuda.Stream, table cuda.DevicePtr, count int, base cuda.DevicePtr, bytes int64,
	wrong cuda.DevicePtr) error {
	if err := fitsInt("kernels.VerifyBlocks", "count", count); err != nil {
		return err
	}
	return cuda.LaunchKernel(verifyBlocks, dim(grid), dim(block), s, uint64(table), uint64(uint32(count)), uint64(base),
		uint64(bytes), uint64(wrong))
}

var stampBlocks = newKernel(device.Spec{
	Entry:  "stampBlocks",
	PTX:    buddyPTX,
	Params: 4,
	Exec: func(l *device.Launch, m device.Memory) {
		eachBlock(l, m, func(b Block, usable bool) bool {
			return !usable || eachByte(m, device.Ptr(b.Address), uint64(b.Bytes), func(first int64, bytes []byte) {
				for i := 0; i < len(bytes); i += 8 {
					binary.LittleEndian.PutUint64(bytes[i:], oracle.BlockWord(b.Tag, (first+int64(i))/8))
				}
			})
		})
	},
	Accesses: tableAccess,
	Work:     tableWork,
})

var verifyBlocks = newKernel(device.Spec{
	Entry:  "verifyBlocks",
	PTX:    buddyPTX,
	Params: 5,
	Exec: func(l *device.Launch, m device.Memory) {
		wrong := uint64(0)
		whole := eachBlock(l, m, func(b Block, usable bool) bool {
			if !usable {
				wrong += positive(uint64(b.Bytes)) / 8
				return true
			}
			return eachByte(m, device.Ptr(b.Address), uint64(b.Bytes), func(first int64, bytes []byte) {
				for i := 0; i < len(bytes); i += 8 {
					if binary.LittleEndian.Uint64(bytes[i:]) != oracle.BlockWord(b.Tag, (first+int64(i))/8) {
						wrong++
					}
				}
			})
		})
		if wrong == 0 || !whole {
			return
		}
		addUp(l, m, device.Ptr(l.Args[4]), wrong)
	},
	Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
		if rows(l) == 0 {
			return buf
		}
		return access(tableAccess(l, buf), device.Ptr(l.Args[4]), 8, device.Atomic)
	},
	Work: tableWork,
})

// rows is how many rows the table of a launch has.
func rows(l *device.Launch) uint64 { return uint64(max(int32(l.Args[1]), 0)) }

// tableAccess is what can be told of a launch before it runs: that it reads its table. Which blocks it touches stands
// there, on the device.
func tableAccess(l *device.Launch, buf []device.Access) []device.Access {
	return access(buf, device.Ptr(l.Args[0]), blockBytes*rows(l), device.Read)
}

// tableWork takes it that the blocks cover all the memory that they are parts of.
func tableWork(l *device.Launch) device.Work {
	bytes := positive(l.Args[3])
	return device.Work{Threads: min(bytes/8, l.Row()), Bytes: blockBytes*rows(l) + bytes}
}

// eachBlock calls f for the rows of a launch's table, and says of each whether the kernel may touch the block. It stops
// where f, or the table, comes to where there is no memory, and then reports false.
func eachBlock(l *device.Launch, m device.Memory, f func(b Block, usable bool) bool) bool {
	base, room := l.Args[2], l.Args[3]
	var row [blockBytes]byte
	for i := range rows(l) {
		if !eachByte(m, device.Ptr(l.Args[0]+blockBytes*i), blockBytes, func(first int64, bytes []byte) {
			copy(row[first:], bytes)
		}) {
			return false
		}
		address, size := binary.LittleEndian.Uint64(row[:]), binary.LittleEndian.Uint64(row[8:])
		b := Block{Address: cuda.DevicePtr(address), Bytes: int64(size), Tag: binary.LittleEndian.Uint64(row[16:])}
		offset := address - base
		if !f(b, address >= base && offset <= room && size <= room-offset && (address|size)%16 == 0) {
			return false
		}
	}
	return true
}
