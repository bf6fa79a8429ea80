package kernels

import (
	_ "embed" // devicebump.ptx
	"encoding/binary"
	"math/rand/v2"

	"cudalab/kernels/listed"
	"cudalab/kernels/oracle"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

//go:embed devicebump.ptx
var deviceBumpPTX string

func init() { listed.Add(bump, bumpWarp, bumpBlock, bumpAdd, bumpCheck) }

// BumpPool is memory that threads of a kernel take blocks from by themselves: so many bytes, of which the 8 bytes at
// Word, an unsigned 64-bit integer, say how many are taken from the front. It is handed to a kernel by value, as three
// parameters.
type BumpPool struct {
	Memory cuda.DevicePtr // a multiple of 16, as is Bytes
	Bytes  int64
	Word   cuda.DevicePtr // zero where nothing is taken
}

// noRoom is what stands in place of an offset where a thread was refused: contract.NoRoom.
const noRoom = ^uint64(0)

// Bump launches kernel bump on s: bump<<<grid, block, 0, s>>>(p.Memory, p.Bytes, p.Word, sizes, n, tag, offsets).
//
// Thread j takes sizes[j] bytes, rounded up to a multiple of 16, from the front of the pool: it reads the word, and
// moves it up by compare-and-swap until nobody has come in between. It writes to offsets[j] where its block begins,
// counted from p.Memory, or contract.NoRoom, all bits set, if it asks for 0 bytes or the block does not fit; then
// nothing is taken. sizes and offsets are n unsigned integers of 8 bytes each. Then it fills its block with words of 8
// bytes, of which each says tag+j and its place.
//
// Threads beyond n take nothing, so n threads need a grid of (n+block-1)/block blocks; a block has at most 1024. Where
// more than 1,024 threads run, those of a warp take their blocks together, as BumpWarp has it: the more threads there
// are the more of them try in vain.
//
// What the kernel does to the word is atomic, so that any number of launches may take from a pool at the same time. A
// write to the word that nothing orders with a launch is a data race. So is one to the blocks; which bytes these are is
// known only when the kernel has run, so whoever wants to know asks about the word.
func Bump(grid, block int, s cuda.Stream, p BumpPool, sizes cuda.DevicePtr, n int, tag uint32,
	offsets cuda.DevicePtr) error {
	return take("kernels.Bump", bump, grid, block, s, p, sizes, n, tag, offsets)
}

// BumpWarp launches kernel bumpWarp on s: the same as Bump, but the threads of a warp, 32 of a block, take their blocks
// together with one change of the word, as if one thread after the other had taken its own and nobody had come in
// between.
func BumpWarp(grid, block int, s cuda.Stream, p BumpPool, sizes cuda.DevicePtr, n int, tag uint32,
	offsets cuda.DevicePtr) error {
	return take("kernels.BumpWarp", bumpWarp, grid, block, s, p, sizes, n, tag, offsets)
}

// BumpBlock launches kernel bumpBlock on s: the same as BumpWarp, with all threads of a block in place of a warp's.
func BumpBlock(grid, block int, s cuda.Stream, p BumpPool, sizes cuda.DevicePtr, n int, tag uint32,
	offsets cuda.DevicePtr) error {
	return take("kernels.BumpBlock", bumpBlock, grid, block, s, p, sizes, n, tag, offsets)
}

// BumpAdd launches kernel bumpAdd on s: the same as Bump, but each thread adds what it asks for to the word and looks
// afterwards whether it fits. What was added in vain stays there, so that it loses room: it is here to be compared
// with.
func BumpAdd(grid, block int, s cuda.Stream, p BumpPool, sizes cuda.DevicePtr, n int, tag uint32,
	offsets cuda.DevicePtr) error {
	return take("kernels.BumpAdd", bumpAdd, grid, block, s, p, sizes, n, tag, offsets)
}

func take(call string, k *device.Kernel, grid, block int, s cuda.Stream, p BumpPool, sizes cuda.DevicePtr, n int,
	tag uint32, offsets cuda.DevicePtr) error {
	if err := fitsInt(call, "n", n); err != nil {
		return err
	}
	return cuda.LaunchKernel(k, dim(grid), dim(block), s,
		uint64(p.Memory), uint64(p.Bytes), uint64(p.Word), uint64(sizes), uint64(uint32(n)), uint64(tag), uint64(offsets))
}

// BumpCheck launches kernel bumpCheck on s:
// bumpCheck<<<grid, block, 0, s>>>(p.Memory, p.Bytes, p.Word, sizes, offsets, n, tag, wrong).
//
// It reads the blocks that the n threads of a launch with these sizes, offsets and tag have taken, and adds,
// atomically, the number of their words that are not what that launch has written to the 64-bit integer at wrong. A
// block that does not lie in what is taken of the pool counts as one wrong word. Each thread looks at one block.
func BumpCheck(grid, block int, s cuda.Stream, p BumpPool, sizes, offsets cuda.DevicePtr, n int, tag uint32,
	wrong cuda.DevicePtr) error {
	if err := fitsInt("kernels.BumpCheck", "n", n); err != nil {
		return err
	}
	return cuda.LaunchKernel(bumpCheck, dim(grid), dim(block), s,
		uint64(p.Memory), uint64(p.Bytes), uint64(p.Word), uint64(sizes), uint64(offsets), uint64(uint32(n)), uint64(tag),
		uint64(wrong))
}

const (
	warp  = 32
	alone = 1024 // threads of a launch of bump, up to which each takes its block by itself
)

var (
	bump = taking("bump", func(l *device.Launch) uint64 {
		if l.Row() > alone {
			return warp
		}
		return 1
	}, false)
	bumpWarp  = taking("bumpWarp", func(*device.Launch) uint64 { return warp }, false)
	bumpBlock = taking("bumpBlock", func(l *device.Launch) uint64 { return uint64(l.Block.X) }, false)
	bumpAdd   = taking("bumpAdd", func(*device.Launch) uint64 { return 1 }, true)
)

// taking is a kernel whose threads take blocks from a pool, so many of them together, in an order of the groups that is
// drawn from the launch. With add what does not fit is taken all the same, for nobody.
func taking(entry string, together func(*device.Launch) uint64, add bool) *device.Kernel {
	return newKernel(device.Spec{
		Entry:  entry,
		PTX:    deviceBumpPTX,
		Params: 7,
		Exec: func(l *device.Launch, m device.Memory) {
			threads, capacity := elements(l, l.Args[4]), positive(l.Args[1])
			for first, end := range groups(l, together(l), threads) {
				for j := first; j < end; j++ {
					word, size, at := number(m, l.Args[2]), number(m, l.Args[3]+8*j), number(m, l.Args[6]+8*j)
					if word == nil || size == nil || at == nil {
						return
					}
					offset, taken, wanted := noRoom, binary.LittleEndian.Uint64(word), binary.LittleEndian.Uint64(size)
					fits := oracle.BumpFits(taken, capacity, wanted)
					if fits {
						offset = taken
					}
					if fits || add && wanted != 0 && wanted <= capacity {
						binary.LittleEndian.PutUint64(word, taken+oracle.BumpRounded(wanted))
					}
					binary.LittleEndian.PutUint64(at, offset)
					if fits && !stampBlock(m, device.Ptr(l.Args[0]+offset), oracle.BumpRounded(wanted), uint32(l.Args[5]), int(j)) {
						return
					}
				}
			}
		},
		// Which blocks of the pool it writes to is known only when it has run: the word stands for them.
		Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
			size := 8 * elements(l, l.Args[4])
			buf = access(buf, device.Ptr(l.Args[3]), size, device.Read)
			buf = access(buf, device.Ptr(l.Args[6]), size, device.Write)
			return access(buf, device.Ptr(l.Args[2]), min(size, 8), device.Atomic)
		},
		Work: func(l *device.Launch) device.Work {
			threads, each := elements(l, l.Args[4]), max(together(l), 1) // a launch that will be refused may have blocks of none
			w := device.Work{Threads: threads, Bytes: 16 * threads, Steps: 2 * each}
			if !add {
				w.Nanos = contention(threads / each)
			}
			return w
		},
	})
}

// contention is how long a compare-and-swap loop takes with so many who try at once, in nanoseconds: all but one of
// them try in vain each time, so it grows with the square. 16,384 threads took 29.6 ms on an H200.
func contention(tries uint64) uint64 { return times(tries, tries) / 9 }

// groups yields the launch's threads that have work in groups of so many of a block, in an order without a pattern.
func groups(l *device.Launch, width, threads uint64) func(yield func(first, end uint64) bool) {
	return func(yield func(first, end uint64) bool) {
		block := uint64(l.Block.X)
		if block == 0 || width == 0 || threads == 0 {
			return
		}
		each := (block + width - 1) / width // groups of a block
		count := (threads + block - 1) / block * each
		r := rand.New(rand.NewPCG(l.Args[0]^l.Args[5], l.Args[6]))
		at, step := r.Uint64N(count), 1+r.Uint64N(count)
		for divisor(step, count) > 1 {
			step++
		}
		for range count {
			first := at/each*block + at%each*width
			if end := min(first+width, at/each*block+block, threads); first < end && !yield(first, end) {
				return
			}
			at = (at + step) % count
		}
	}
}

// divisor is the greatest common one.
func divisor(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// number is the 8 bytes at an address; nil where there is no memory.
func number(m device.Memory, at uint64) []byte {
	if view := m.View(device.Ptr(at), 8); len(view) == 8 {
		return view
	}
	return nil
}

// lazily is from how many bytes on a block is left to the simulator to fill, which may never have to.
const lazily = 1 << 16

// stampBlock fills a thread's block; it reports false where it came to the end of memory.
func stampBlock(m device.Memory, p device.Ptr, size uint64, tag uint32, thread int) bool {
	write := func(first int64, bytes []byte) {
		for at := 0; at+8 <= len(bytes); at += 8 {
			binary.LittleEndian.PutUint64(bytes[at:], oracle.BumpStamp(tag, thread, uint64(first)/8+uint64(at/8)))
		}
	}
	if size >= lazily {
		return m.Fill(p, size, write)
	}
	return eachByte(m, p, size, write)
}

var bumpCheck = newKernel(device.Spec{
	Entry:  "bumpCheck",
	PTX:    deviceBumpPTX,
	Params: 8,
	Exec: func(l *device.Launch, m device.Memory) {
		wrong := uint64(0)
		for j := range elements(l, l.Args[5]) {
			word, size, at := number(m, l.Args[2]), number(m, l.Args[3]+8*j), number(m, l.Args[4]+8*j)
			if word == nil || size == nil || at == nil {
				return
			}
			offset, wanted := binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(size)
			if offset == noRoom {
				continue
			}
			if !oracle.BumpFits(offset, min(positive(l.Args[1]), binary.LittleEndian.Uint64(word)), wanted) {
				wrong++
				continue
			}
			whole := eachByte(m, device.Ptr(l.Args[0]+offset), oracle.BumpRounded(wanted), func(first int64, bytes []byte) {
				for at := 0; at+8 <= len(bytes); at += 8 {
					if binary.LittleEndian.Uint64(bytes[at:]) != oracle.BumpStamp(uint32(l.Args[6]), int(j),
						uint64(first)/8+uint64(at/8)) {
						wrong++
					}
				}
			})
			if !whole {
				return
			}
		}
		if wrong > 0 {
			addUp(l, m, device.Ptr(l.Args[7]), wrong)
		}
	},
	Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
		size := 8 * elements(l, l.Args[5])
		buf = access(buf, device.Ptr(l.Args[3]), size, device.Read)
		buf = access(buf, device.Ptr(l.Args[4]), size, device.Read)
		buf = access(buf, device.Ptr(l.Args[2]), min(size, 8), device.Atomic)
		return access(buf, device.Ptr(l.Args[7]), min(size, 8), device.Atomic)
	},
	Work: func(l *device.Launch) device.Work {
		threads := elements(l, l.Args[5])
		return device.Work{Threads: threads, Bytes: 16 * threads, Steps: 2}
	},
})
