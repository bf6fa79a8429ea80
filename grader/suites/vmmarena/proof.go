package vmmarena

import (
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// noteMismatches is, by sequence, how many words were not what had been written.
const noteMismatches = "words lost in sequence"

// edge is how many words of 8 bytes a proof writes at either end of a block; of a short block it writes all.
const edge = 1024

// The launches of a proof.
const (
	proofGrid  = 8
	proofBlock = 256
)

// proof uses the blocks on the device as their user would: to the kernels they are parts of one array that grows from
// Base on. What was written before a growth must be there after it.
type proof struct {
	b       *suite.Bench
	counter *allocator.Counter // of words that are wrong
	scratch cuda.DevicePtr     // 8 bytes for anything
	name    string             // of the sequence
	base    cuda.DevicePtr
	seed    uint64
	written []span
}

// span is words of the array, from one index up to another.
type span struct{ from, to int64 }

func newProof(b *suite.Bench) allocator.Proof[layout] {
	p := &proof{b: b, seed: b.Seed, counter: allocator.NewStreamCounter(b)}
	var err error
	p.scratch, err = cuda.Malloc(8)
	b.Must(err)
	return p
}

func (p *proof) Close() {
	p.b.Must(cuda.Free(p.scratch))
	p.counter.Close()
}

func (p *proof) Begin(w *workload, base cuda.DevicePtr) {
	p.name, p.base, p.written = w.Name, base, nil
	p.seed++
}

func (p *proof) Allocated(_ int, at cuda.DevicePtr, size int64) {
	if at < p.base || at%8 != 0 {
		return // no part of the array: the model tells
	}
	from := int64(at-p.base) / 8
	to := from + size/8
	if to-from > 2*edge {
		p.write(span{from, from + edge})
		from = to - edge
	}
	p.write(span{from, to})
}

// write has words written. Of memory that the device may not use it keeps off: a kernel would end the whole context,
// where a memset is only refused. The trace tells.
func (p *proof) write(s span) {
	if s.from == s.to || cuda.MemsetAsync(p.base+cuda.DevicePtr(8*s.from), 0, 8*(s.to-s.from), p.counter.Stream) != nil {
		return
	}
	p.b.Must(kernels.Extend(proofGrid, proofBlock, p.counter.Stream, p.base, s.from, s.to, p.seed))
	p.written = append(p.written, s)
}

// Freeing comes before each block when all are taken back, and looks at all of them the first time.
func (p *proof) Freeing(int, cuda.DevicePtr, int64) {
	if len(p.written) == 0 {
		return
	}
	gone := uint64(0)
	wrong := p.counter.Count(func(counter cuda.DevicePtr) {
		for _, s := range p.written {
			if !p.reachable(s.from) || !p.reachable(s.to-1) {
				gone += uint64(s.to - s.from)
				continue
			}
			p.b.Must(kernels.Recheck(proofGrid, proofBlock, p.counter.Stream, p.base, s.from, s.to, p.seed, counter))
		}
	})
	p.written = nil
	if gone+wrong > 0 {
		p.b.Value(noteMismatches+p.name, gone+wrong)
	}
}

// reachable reports whether the device may still read a word of the array.
func (p *proof) reachable(word int64) bool {
	return cuda.MemcpyDtoDAsync(p.scratch, p.base+cuda.DevicePtr(8*word), 8, p.counter.Stream) == nil
}
