package order

import (
	"math/rand/v2"

	"cudalab/native/trace"
)

// RandomTrace is the trace of a random program of a number of steps on at most so many streams, the program in words,
// and whether some of its calls are out of order, as all its interleavings show.
func RandomTrace(random *rand.Rand, length, streams int) (t *trace.Trace, program func() string, machine *Machine) {
	p := randomProgram(random, length, streams, 3)
	b := p.build()
	return &b.trace, p.String, &Machine{b}
}

// Machine is a random program as its interleavings see it.
type Machine struct{ *built }

// Disorder is what is out of order in some interleaving, in words.
func (m *Machine) Disorder() []string { return m.disorder(m.machine.observe()) }

// Legal reports whether some interleaving does the calls in an order, which names their records.
func (m *Machine) Legal(order []int) bool {
	calls := map[int]int{}
	for i, c := range m.calls {
		calls[c.record] = i
	}
	var list []int
	for _, record := range order {
		if i, ok := calls[record]; ok {
			list = append(list, i)
		}
	}
	r, at := m.machine.run(), state(0)
	named := r.idle.with(list...) &^ r.idle
	for _, i := range list {
		var ok bool
		if at, ok = r.reach(at, i, named); !ok {
			return false
		}
	}
	return true
}

// reach is a state in which call i is the last that is over of those named, if there is one that follows s.
func (r *run) reach(s state, i int, named calls) (state, bool) {
	for {
		moved := false
		over := s.over()
		// What is not named is over as soon as it can be.
		r.next(s, func(to state) {
			if moved {
				return
			}
			fresh := to.over() &^ over
			if fresh&named == 0 {
				s, moved = to, true
			}
		})
		if !moved {
			break
		}
	}
	found, ok := s, false
	r.next(s, func(to state) {
		if to.over().has(i) && !s.over().has(i) {
			found, ok = to, true
		}
	})
	return found, ok
}
