package buddy

import (
	"math"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/native/session"
	"cudalab/native/trace"
)

// driver holds the code under test and drives it through the cases.
type driver struct{ student, solution Make }

// badArguments are the calls that New must refuse.
var badArguments = []layout{{0, 256}, {-1, 256}, {-4096, 256}, {4096, 0}, {4096, -1}, {256, 257}, {4096, 8192}, {100, 1},
	{1<<62 + 1, 256}, {math.MaxInt64, 1 << 62}, {4096, 1<<62 + 1}, {4096, math.MaxInt64}}

// largest is the largest root that there can be: good arguments, for which no device has the memory.
var largest = layout{1 << 62, 1 << 62}

func (d driver) arguments(b *suite.Bench) {
	for _, l := range append(slices.Clone(badArguments), largest) {
		o := b.Call(l.String(), func() error {
			_, err := d.student(l.total, l.minBlock)
			return err
		})
		if o.Gap != "" {
			return
		}
	}
}

func (d driver) examples(b *suite.Bench) { d.check(b, examples()) }

func (d driver) random(b *suite.Bench) { d.check(b, drawn(b.Seed)) }

// check carries sequences out and uses every block on the device from when it is handed out until it is given back.
func (d driver) check(b *suite.Bench, ws []workload) {
	p := newProof(b)
	for _, w := range ws {
		r := sequence.Runner{
			Bench: b,
			Label: w.layout.String(),
			New:   func() (sequence.Subject, error) { return d.subject(b, w.layout, p) },
			Hooks: sequence.Hooks{Allocated: p.allocated, Freeing: p.freeing},
		}
		var models []func() sequence.Model
		for _, of := range aspects {
			models = append(models, func() sequence.Model { return newModel(w.layout, of) })
		}
		p.name = w.name
		r.Check(w.name, w.ops, models...)
	}
	p.close()
}

// subject makes an allocator. Where its root block lies the session knows, and its Stats are noted with that.
func (d driver) subject(b *suite.Bench, l layout, p *proof) (sequence.Subject, error) {
	s := session.Current()
	own := s == b.Session
	if !own {
		s.StartTrace() // the session of a Try: without a trace it would not know
	}
	a, err := d.student(l.total, l.minBlock)
	if err != nil {
		return sequence.Subject{}, err
	}
	root := uint64(0)
	for _, r := range s.Since(trace.OpMalloc) {
		if r.Size >= l.root() && root == 0 {
			root = r.Addr
		}
	}
	if own {
		p.begin(l, root)
	}
	return sequence.Subject{Allocator: a, Stats: func() []int64 {
		stats := a.Stats()
		return []int64{statTotal: stats.Total, statInUse: stats.InUse, statLargestFree: stats.LargestFree,
			statFreeBlocks: int64(stats.FreeBlocks), statRoot: int64(root)}
	}}, nil
}

// faults has every CUDA call fail in turn.
func (d driver) faults(b *suite.Bench) {
	sequence.EveryFault(b, sixteen.String(), func() (sequence.Allocator, error) { return d.student(sixteen.total, sixteen.minBlock) })
}
