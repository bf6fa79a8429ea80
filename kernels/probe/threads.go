package probe

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"cudalab/native/cuda"
	"cudalab/native/device"
)

// MaxThreads is how many threads Threads.Take may have. In a loop of compare-and-swaps all but one of them try in vain
// each time: a trial with 65,536 did not come to its end on an H200.
const MaxThreads = 4096

// Word is the atomic operations of a thread: contract.Word.
type Word interface {
	Load() uint64
	Add(value uint64) (old uint64)
	CompareAndSwap(compare, value uint64) (old uint64)
}

// Threads is a kernel each of whose threads asks a function once for a place in memory.
type Threads struct{ kernel *device.Kernel }

// NewThreads makes it of the function as the devices need it: in PTX, a .func alloc as package ptx writes it, for a
// GPU, and in Go for the simulator. With a .func that the driver does not take, the launch fails.
func NewThreads(ptx string, alloc func(w Word, capacity, size uint64) (offset uint64, ok bool)) *Threads {
	return &Threads{device.NewKernel(device.Spec{
		Entry:  "threads",
		PTX:    threadsHead + ptx + threadsEntry,
		Params: 5,
		Exec: func(l *device.Launch, m device.Memory) {
			word := m.View(device.Ptr(l.Args[0]), 8)
			if len(word) < 8 {
				return
			}
			r := rand.New(rand.NewPCG(l.Args[2], l.Args[4]))
			for _, thread := range r.Perm(int(l.Args[3])) {
				size, answer := m.View(device.Ptr(l.Args[2])+device.Ptr(8*thread), 8),
					m.View(device.Ptr(l.Args[4])+device.Ptr(16*thread), 16)
				if len(size) < 8 || len(answer) < 16 {
					return
				}
				offset, end := askOnce(alloc, stored(word), l.Args[1], binary.LittleEndian.Uint64(size))
				binary.LittleEndian.PutUint64(answer, offset)
				binary.LittleEndian.PutUint64(answer[8:], end)
			}
		},
		Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
			return append(buf,
				device.Access{Ptr: device.Ptr(l.Args[0]), Size: 8, Kind: device.Atomic},
				device.Access{Ptr: device.Ptr(l.Args[2]), Size: 8 * l.Args[3], Kind: device.Read},
				device.Access{Ptr: device.Ptr(l.Args[4]), Size: 16 * l.Args[3], Kind: device.Write})
		},
		Work: func(l *device.Launch) device.Work {
			return device.Work{Threads: l.Args[3], Bytes: 24 * l.Args[3], Steps: 2}
		},
	})}
}

// Take has n threads ask at the same time: thread j with the 8 bytes at sizes+8j. Of its answer the 16 bytes at
// answers+16j have where its block begins, or 1<<64-1, and the ptx.Status with which it has ended.
func (t *Threads) Take(s cuda.Stream, word cuda.DevicePtr, capacity uint64, sizes cuda.DevicePtr, n int,
	answers cuda.DevicePtr) error {
	const block = 256
	if n < 1 || n > MaxThreads {
		return fmt.Errorf("probe: %d threads are not between 1 and %d: %w", n, MaxThreads, cuda.ErrorInvalidValue)
	}
	return cuda.LaunchKernel(t.kernel, cuda.Dim3{X: uint32((n + block - 1) / block)}, cuda.Dim3{X: block}, s,
		uint64(word), capacity, uint64(sizes), uint64(n), uint64(answers))
}

// panicked is ptx.Panicked, for all that ends Go code before it returns.
const panicked = 4

// askOnce is what a thread does.
func askOnce(alloc func(Word, uint64, uint64) (uint64, bool), w Word, capacity, size uint64) (offset, end uint64) {
	offset, end = ^uint64(0), panicked
	defer func() { _ = recover() }()
	at, ok := alloc(w, capacity, size)
	if ok {
		offset = at
	}
	return offset, 0
}

// stored is a word that lies in simulated memory.
type stored []byte

func (w stored) Load() uint64 { return binary.LittleEndian.Uint64(w) }

func (w stored) Add(value uint64) (old uint64) {
	old = w.Load()
	binary.LittleEndian.PutUint64(w, old+value)
	return old
}

func (w stored) CompareAndSwap(compare, value uint64) (old uint64) {
	if old = w.Load(); old == compare {
		binary.LittleEndian.PutUint64(w, value)
	}
	return old
}

// The module around the function. Its parameters and results are registers, which is why no compiler's output can call
// it: those hand several results on in memory.
const (
	threadsHead = `.version 5.0
.target sm_60
.address_size 64

`
	threadsEntry = `
.visible .entry threads(
	.param .u64 word,
	.param .u64 capacity,
	.param .u64 sizes,
	.param .u64 n,
	.param .u64 answers
)
{
	.reg .pred %none, %got;
	.reg .b32 %block, %width, %lane;
	.reg .b64 %thread, %n, %at, %word, %capacity, %size, %offset, %ok, %status;

	mov.u32 %block, %ctaid.x;
	mov.u32 %width, %ntid.x;
	mov.u32 %lane, %tid.x;
	mad.lo.u32 %lane, %block, %width, %lane;
	cvt.u64.u32 %thread, %lane;
	ld.param.u64 %n, [n];
	setp.ge.u64 %none, %thread, %n;
	@%none ret;
	ld.param.u64 %word, [word];
	ld.param.u64 %capacity, [capacity];
	ld.param.u64 %at, [sizes];
	mad.lo.u64 %at, %thread, 8, %at;
	ld.u64 %size, [%at];
	call (%offset, %ok, %status), alloc, (%word, %capacity, %size);
	setp.ne.u64 %got, %ok, 0;
	selp.b64 %offset, %offset, -1, %got;
	ld.param.u64 %at, [answers];
	mad.lo.u64 %at, %thread, 16, %at;
	st.u64 [%at], %offset;
	st.u64 [%at+8], %status;
	ret;
}
`
)
