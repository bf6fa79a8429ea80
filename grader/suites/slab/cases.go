package slab

import (
	"encoding/binary"
	"fmt"
	"math"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// driver holds the code under test and drives it through the cases.
type driver struct{ student, solution Make }

// badArguments are the calls that New must refuse.
var badArguments = []struct {
	classes []int64
	blocks  int
}{
	{nil, 4},
	{[]int64{}, 4},
	{[]int64{0}, 4},
	{[]int64{-256}, 4},
	{[]int64{100}, 4},
	{[]int64{256, 300}, 4},
	{[]int64{256, 256}, 4},
	{[]int64{512, 256}, 4},
	{[]int64{256, 1024, 512}, 4},
	{[]int64{256, 512, 0}, 4},
	{[]int64{256}, 0},
	{[]int64{256}, -1},
	{[]int64{1 << 62}, 2},                       // 2^63 bytes
	{[]int64{1 << 62}, 4},                       // 2^64
	{[]int64{1 << 62, 1<<62 + 256}, 1},          // 2^63 and 256 in two classes
	{[]int64{1 << 61, 1<<61 + 256, 3 << 61}, 2}, // the first fits twice, the second does not any more
}

// largest is a call with as many bytes as an int64 can count: good arguments, for which no device has the memory.
var largest = workload{classes: []int64{math.MaxInt64 / 513}, blocks: 513}

func (d driver) arguments(b *suite.Bench) {
	for _, bad := range badArguments {
		label := fmt.Sprintf("slab.New(%v, %d)", bad.classes, bad.blocks)
		o := b.Call(label, func() error {
			_, err := d.student(bad.classes, bad.blocks)
			return err
		})
		if o.Gap != "" {
			return
		}
	}
	b.Call(largest.label(), func() error {
		_, err := d.student(largest.classes, largest.blocks)
		return err
	})
}

func (d driver) examples(b *suite.Bench) { d.check(b, examples()) }

func (d driver) random(b *suite.Bench) { d.check(b, drawn(b.Seed)) }

// check carries sequences out and has every block stamped when it is handed out, and verified before it is given back.
func (d driver) check(b *suite.Bench, ws []workload) {
	proof := newProof(b)
	for _, w := range ws {
		r := sequence.Runner{Bench: b, Label: w.label(), Hooks: proof.hooks(), New: func() (sequence.Subject, error) {
			a, err := d.student(w.classes, w.blocks)
			if err != nil {
				return sequence.Subject{}, err
			}
			return sequence.Subject{Allocator: a, Stats: func() []int64 { return numbers(a.Stats()) }}, nil
		}}
		var models []func() sequence.Model
		for _, of := range aspects {
			models = append(models, newModel(&w, of))
		}
		proof.name = w.name
		r.Check(w.name, w.ops, models...)
	}
	proof.close()
}

// noteMismatches is what the proof of a sequence notes: the block's number and how many of its bytes were not the user's.
const noteMismatches = "mismatches in "

// proof shows on the device that nobody else writes to a block.
type proof struct {
	b       *suite.Bench
	stream  cuda.Stream
	counter cuda.DevicePtr
	name    string       // of the sequence
	stamped map[int]bool // by block
}

func newProof(b *suite.Bench) *proof {
	p := &proof{b: b, stamped: map[int]bool{}}
	var err error
	p.stream, err = cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
	b.Must(err)
	p.counter, err = cuda.Malloc(8)
	b.Must(err)
	return p
}

func (p *proof) close() {
	p.b.Must(cuda.Free(p.counter))
	p.b.Must(cuda.StreamDestroy(p.stream))
}

// hooks stamp each block with its number. A block outside of any allocation is left alone: the device would not survive
// it, and the trace tells.
func (p *proof) hooks() sequence.Hooks {
	return sequence.Hooks{
		Allocated: func(block int, at cuda.DevicePtr, size int64) {
			p.stamped[block] = p.b.Session.Holds(device.Ptr(at), size)
			if p.stamped[block] {
				p.b.Must(kernels.Stamp(4, 256, p.stream, at, size, uint32(block)))
			}
		},
		Freeing: func(block int, at cuda.DevicePtr, size int64) {
			if !p.stamped[block] || !p.b.Session.Holds(device.Ptr(at), size) {
				return
			}
			p.b.Must(cuda.MemsetAsync(p.counter, 0, 8, p.stream))
			p.b.Must(kernels.Verify(4, 256, p.stream, at, size, uint32(block), p.counter))
			n := make(cuda.Pageable, 8)
			p.b.Must(cuda.MemcpyDtoHAsync(n, p.counter, 8, p.stream))
			p.b.Must(cuda.StreamSynchronize(p.stream))
			if wrong := binary.LittleEndian.Uint64(n); wrong > 0 {
				p.b.Value(noteMismatches+p.name, uint64(block))
				p.b.Value(noteMismatches+p.name, wrong)
			}
		},
	}
}

// faults has every CUDA call fail in turn.
func (d driver) faults(b *suite.Bench) {
	w := workload{classes: []int64{256, 512, 1024}, blocks: 2}
	sequence.EveryFault(b, w.label(), func() (sequence.Allocator, error) { return d.student(w.classes, w.blocks) })
}
