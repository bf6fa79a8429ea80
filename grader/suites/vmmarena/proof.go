package vmmarena

import (
	"encoding/binary"

	"cudalab/grader/suite"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

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
	stream  cuda.Stream
	counter cuda.DevicePtr // of words that are wrong, and behind it 8 bytes for anything
	name    string         // of the sequence
	base    cuda.DevicePtr
	seed    uint64
	written []span
}

// span is words of the array, from one index up to another.
type span struct{ from, to int64 }

func newProof(b *suite.Bench) *proof {
	p := &proof{b: b, seed: b.Seed}
	var err error
	p.stream, err = cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
	b.Must(err)
	p.counter, err = cuda.Malloc(16)
	b.Must(err)
	return p
}

func (p *proof) close() {
	p.b.Must(cuda.Free(p.counter))
	p.b.Must(cuda.StreamDestroy(p.stream))
}

// begin starts with another arena.
func (p *proof) begin(base cuda.DevicePtr) {
	p.base, p.written = base, nil
	p.seed++
}

func (p *proof) allocated(_ int, at cuda.DevicePtr, size int64) {
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
	if s.from == s.to || cuda.MemsetAsync(p.base+cuda.DevicePtr(8*s.from), 0, 8*(s.to-s.from), p.stream) != nil {
		return
	}
	p.b.Must(kernels.Extend(proofGrid, proofBlock, p.stream, p.base, s.from, s.to, p.seed))
	p.written = append(p.written, s)
}

// freeing comes before each block when all are taken back, and looks at all of them the first time.
func (p *proof) freeing(int, cuda.DevicePtr, int64) {
	if len(p.written) == 0 {
		return
	}
	p.b.Must(cuda.MemsetAsync(p.counter, 0, 8, p.stream))
	gone := uint64(0)
	for _, s := range p.written {
		if !p.reachable(s.from) || !p.reachable(s.to-1) {
			gone += uint64(s.to - s.from)
			continue
		}
		p.b.Must(kernels.Recheck(proofGrid, proofBlock, p.stream, p.base, s.from, s.to, p.seed, p.counter))
	}
	p.written = nil
	n := make(cuda.Pageable, 8)
	p.b.Must(cuda.MemcpyDtoHAsync(n, p.counter, 8, p.stream))
	p.b.Must(cuda.StreamSynchronize(p.stream))
	if wrong := gone + binary.LittleEndian.Uint64(n); wrong > 0 {
		p.b.Value(noteMismatches+p.name, wrong)
	}
}

// reachable reports whether the device may still read a word of the array.
func (p *proof) reachable(word int64) bool {
	return cuda.MemcpyDtoDAsync(p.counter+8, p.base+cuda.DevicePtr(8*word), 8, p.stream) == nil
}
