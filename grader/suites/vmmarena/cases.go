package vmmarena

import (
	"errors"
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// driver holds the code under test and drives it through the cases.
type driver struct{ student, solution Make }

// What the cases note beside the answers of sequences.
const (
	noteGranularity = "granularity"            // of the case's device, in bytes
	noteChanged     = "changed by an error"    // the outcome of a run in which an Alloc failed and Stats came out otherwise
	noteStuck       = "failed a second time"   // the outcome of a run in which an Alloc failed where nothing was made to fail
	noteMismatches  = "words lost in sequence" // by sequence: how many words were not what had been written
)

// badReserves are the sizes that New must refuse.
var badReserves = []int64{0, -1, -1 << 21}

// noDevice is the number of a device that no machine has.
const noDevice = 99

func (d driver) arguments(b *suite.Bench) {
	make := func(device int, reserve int64) suite.Outcome {
		return b.Call(fmt.Sprintf("vmmarena.New(%d, %d)", device, reserve), func() error {
			_, err := d.student(device, reserve)
			return err
		})
	}
	for _, reserve := range badReserves {
		if make(0, reserve).Gap != "" {
			return
		}
	}
	make(noDevice, 1<<20)
}

// granularity asks the case's device, and notes what it answers.
func granularity(b *suite.Bench) int64 {
	prop := cuda.MemAllocationProp{Type: cuda.MemAllocationTypePinned,
		Location: cuda.MemLocation{Type: cuda.MemLocationTypeDevice}}
	g, err := cuda.MemGetAllocationGranularity(prop, cuda.MemAllocGranularityMinimum)
	b.Must(err)
	b.Value(noteGranularity, uint64(g))
	return g
}

func (d driver) examples(b *suite.Bench) { d.check(b, examples(granularity(b))) }

func (d driver) random(b *suite.Bench) { d.check(b, drawn(b.Seed, b.CaseID, granularity(b))) }

func (d driver) both(b *suite.Bench) {
	g := granularity(b)
	d.check(b, append(examples(g), drawn(b.Seed, b.CaseID, g)...))
}

// check carries sequences out and has every block written to when it is handed out, and read back before it is taken
// back. The device is busy with that while the arena grows.
func (d driver) check(b *suite.Bench, ws []workload) {
	p := newProof(b)
	for _, w := range ws {
		p.name = w.name
		d.carryOut(b, w, p)
	}
	p.close()
}

// memory carries out sequences that run out of memory. The device's memory is all the arena's, so the blocks are not used.
func (d driver) memory(b *suite.Bench) {
	for _, w := range nearlyFull(b.Seed) {
		d.carryOut(b, w, nil)
	}
}

// carryOut carries one sequence out; p may be nil.
func (d driver) carryOut(b *suite.Bench, w workload, p *proof) {
	r := sequence.Runner{
		Bench:  b,
		Label:  w.layout.String(),
		Device: sim.Options{Granularity: uint64(w.layout.granularity), Memory: uint64(w.layout.memory)},
		New: func() (sequence.Subject, error) {
			a, err := d.student(0, w.layout.reserve)
			if err != nil {
				return sequence.Subject{}, err
			}
			if p != nil && session.Current() == b.Session {
				p.begin(a.Stats().Base)
			}
			return sequence.Subject{Allocator: a, Stats: func() []int64 { return numbers(a.Stats()) }}, nil
		},
	}
	if p != nil {
		r.Hooks = sequence.Hooks{Allocated: p.allocated, Freeing: p.freeing}
	}
	var models []func() sequence.Model
	for _, of := range aspects {
		models = append(models, newModel(w.layout, of))
	}
	r.Check(w.name, w.ops, models...)
}

// faults has every CUDA call fail in turn while an arena is made, grows, is reset and closed with blocks handed out.
func (d driver) faults(b *suite.Bench) {
	g := granularity(b)
	l := layout{reserve: 16 * g, granularity: g}
	b.EveryFault(l.String()+", three times Alloc, Reset, Alloc, and Close", func() (func() error, func()) {
		return func() error { return d.life(b, l) }, func() {}
	})
}

// life is an arena from New to Close. It answers the errors of all calls that failed; a call that failed is made again,
// since nothing is made to fail twice.
func (d driver) life(b *suite.Bench, l layout) error {
	a, err := d.student(0, l.reserve)
	if err != nil {
		return err
	}
	var blocks []device.Ptr
	hand := func(size int64) {
		before := a.Stats()
		p, wrong := a.Alloc(size)
		if wrong != nil {
			if a.Stats() != before {
				b.Value(noteChanged, uint64(b.Calls()-1))
			}
			err = errors.Join(err, wrong)
			if p, wrong = a.Alloc(size); wrong != nil {
				b.Value(noteStuck, uint64(b.Calls()-1))
				return
			}
		}
		b.Session.BlockAlloc(device.Ptr(p), size)
		blocks = append(blocks, device.Ptr(p))
	}
	takeBack := func() {
		for _, p := range blocks {
			b.Session.BlockFree(p)
		}
		blocks = nil
	}
	for _, size := range []int64{100, l.granularity, 3 * l.granularity} {
		hand(size)
	}
	takeBack()
	err = errors.Join(err, a.Reset())
	hand(100)
	takeBack()
	if wrong := a.Close(); wrong != nil {
		err = errors.Join(err, wrong)
		_ = a.Close() // to give back what is left; the trace shows whether it did
	}
	return err
}
