package allocbench

import (
	"math/rand/v2"

	"cudalab/grader/suite"
	"cudalab/native/cuda"
)

// field is the contenders of one benchmark.
type field struct {
	b      *suite.Bench
	makers []maker
}

// pairs times how long work takes for an allocation and a free. CUDA's stream-ordered calls go to so many streams in
// turns.
func (f field) pairs(streams int, work func(a Allocator, operations int) error) {
	var contenders []suite.Contender
	enter := func(name string, a Allocator, operations int) {
		contenders = append(contenders, suite.Contender{Name: name, Operations: operations,
			Run: func() error { return work(a, operations) }})
	}
	made := f.make(least, largest, liveBlocks)
	for _, m := range made {
		enter(m.name, m, hostBatch)
	}
	ordered := f.ordered(streams)
	enter(mallocAsync, ordered, asyncBatch)
	enter(malloc, plain{}, mallocBatch)
	f.b.Compare(contenders...)
	f.close(made, ordered)
}

// sameSize allocates and frees one block after the other.
func sameSize(a Allocator, operations int) error {
	for range operations {
		p, err := a.Alloc(pairSize)
		if err != nil {
			return err
		}
		if err := a.Free(p); err != nil {
			return err
		}
	}
	return nil
}

// mix is a sequence of allocations and frees, drawn ahead so that drawing is not in the time.
type mix struct{ steps []step }

// step allocates a block and keeps it in a slot, or with size 0 frees the one that is there.
type step struct {
	slot int
	size int64
}

// drawMix draws so many allocations of uniform sizes, and the frees between them of any block that is out. The more are
// out the likelier is a free, so that soon about half of mostLive are.
func drawMix(r *rand.Rand, allocations int) *mix {
	m := &mix{}
	var out, in []int // slots
	for i := range mostLive {
		in = append(in, i)
	}
	for allocations > 0 || len(out) > 0 {
		if allocations > 0 && r.IntN(mostLive) >= len(out) {
			slot := in[len(in)-1]
			in = in[:len(in)-1]
			out = append(out, slot)
			m.steps = append(m.steps, step{slot, least + r.Int64N(largest-least+1)})
			allocations--
			continue
		}
		i := r.IntN(len(out))
		m.steps = append(m.steps, step{slot: out[i]})
		in = append(in, out[i])
		out[i] = out[len(out)-1]
		out = out[:len(out)-1]
	}
	return m
}

// carryOut does the first steps of the sequence, up to so many allocations, and then frees what is out.
func (m *mix) carryOut(a Allocator, operations int) (err error) {
	var held [mostLive]cuda.DevicePtr
	for _, s := range m.steps {
		if s.size == 0 {
			err, held[s.slot] = a.Free(held[s.slot]), 0
		} else if operations > 0 {
			held[s.slot], err = a.Alloc(s.size)
			operations--
		} else {
			break
		}
		if err != nil {
			return err
		}
	}
	for _, p := range held {
		if p == 0 {
			continue
		}
		if err := a.Free(p); err != nil {
			return err
		}
	}
	return nil
}

// growth times allocations only, until all blocks are handed out. They are freed off the clock.
func (f field) growth() {
	var contenders []suite.Contender
	enter := func(name string, a Allocator, blocks int) {
		held := make([]cuda.DevicePtr, 0, blocks)
		contenders = append(contenders, suite.Contender{Name: name, Operations: blocks,
			Prepare: func() error {
				for _, p := range held {
					if err := a.Free(p); err != nil {
						return err
					}
				}
				held = held[:0]
				return nil
			},
			Run: func() error {
				for range blocks {
					p, err := a.Alloc(pairSize)
					if err != nil {
						return err
					}
					held = append(held, p)
				}
				return nil
			},
		})
	}
	made := f.make(pairSize, pairSize, allBlocks)
	for _, m := range made {
		enter(m.name, m, allBlocks)
	}
	ordered := f.ordered(1)
	enter(mallocAsync, ordered, allBlocks)
	enter(malloc, plain{}, allBlocks)
	f.b.Compare(contenders...)
	for _, e := range contenders {
		f.b.Call(e.Name, e.Prepare)
	}
	f.close(made, ordered)
}

// named is an implementation's allocator.
type named struct {
	Allocator
	name string
}

// make makes every implementation's allocator. One that cannot be made is noted as an outcome and left out.
func (f field) make(least, largest int64, blocks int) (made []named) {
	for _, m := range f.makers {
		var a Allocator
		o := f.b.Call(m.name, func() (err error) {
			a, err = m.make(least, largest, blocks)
			return err
		})
		if o.OK() {
			made = append(made, named{a, m.name})
		}
	}
	return made
}

// close gives back what a benchmark has used. What an allocator leaves is swept away behind the benchmark.
func (f field) close(made []named, ordered *streamOrdered) {
	f.b.Must(cuda.DeviceSynchronize())
	for _, m := range made {
		f.b.Call(m.name, m.Close)
	}
	for _, s := range ordered.streams {
		f.b.Must(cuda.StreamDestroy(s))
	}
}

// plain is cuda.Malloc and cuda.Free.
type plain struct{}

func (plain) Alloc(size int64) (cuda.DevicePtr, error) { return cuda.Malloc(size) }
func (plain) Free(p cuda.DevicePtr) error              { return cuda.Free(p) }
func (plain) Close() error                             { return nil }

// streamOrdered is cuda.MallocAsync and cuda.FreeAsync, with the next stream's turn after every free.
type streamOrdered struct {
	streams []cuda.Stream
	turn    int
}

// ordered makes a streamOrdered over a pool that keeps its memory.
func (f field) ordered(streams int) *streamOrdered {
	f.b.KeepPool()
	s := &streamOrdered{}
	for range streams {
		stream, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
		f.b.Must(err)
		s.streams = append(s.streams, stream)
	}
	return s
}

func (s *streamOrdered) Alloc(size int64) (cuda.DevicePtr, error) {
	return cuda.MallocAsync(size, s.streams[s.turn])
}

func (s *streamOrdered) Free(p cuda.DevicePtr) error {
	err := cuda.FreeAsync(p, s.streams[s.turn])
	if s.turn++; s.turn == len(s.streams) {
		s.turn = 0
	}
	return err
}

func (s *streamOrdered) Close() error { return nil }
