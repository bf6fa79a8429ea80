package schedule

import (
	"maps"
	"math"
	"slices"

	"cudalab/native/interval"
	"cudalab/native/trace"
)

// difference is where two orders come to something else.
type difference struct {
	Record int   // of the call that finds it; -1: memory as it is left at the end
	State  state // in which it finds memory; exists: it finds other bytes
	Memory touch // which
}

// fault is the first call, in an order, that finds memory which does not exist then, or which nothing has written.
func (p *Program) fault(order []int) (d difference, found bool) {
	m := p.execute(order, false)
	for _, i := range order {
		if k, found := m.fault(i); found {
			r := m.results[i]
			return difference{i, r.states[k], p.ops[i].touches[k]}, true
		}
	}
	return difference{}, false
}

// fault is which of what a call touches it has found in no state to be used.
func (m *memory) fault(i int) (k int, found bool) {
	k = slices.IndexFunc(m.results[i].states, func(s state) bool { return s != exists })
	return k, k >= 0
}

// compare carries out two orders of the same calls and is what is other in the second: first of all memory that cannot
// be used, then what a call finds there, and at last what memory is left with.
func (p *Program) compare(one, other []int) (d difference, differ bool) {
	return compare(p.execute(one, false), p.execute(other, false), other)
}

// Same carries out orders one after another and compares each with the one that happened.
func (p *Program) Same() func(order []int) (d difference, differ bool) {
	happened := p.execute(p.list, false)
	return func(order []int) (difference, bool) { return compare(happened, p.execute(order, false), order) }
}

// all are the values of some memory.
func (m *memory) all(id trace.ID) []interval.Span[int64, uint64] {
	return slices.Collect(m.of(id).Within(math.MinInt64, math.MaxInt64))
}

func compare(one, other *memory, order []int) (difference, bool) {
	for _, i := range order {
		for k, t := range one.p.ops[i].touches {
			if is := other.results[i].state(k); is != one.results[i].state(k) {
				return difference{i, is, t}, true
			}
		}
	}
	for _, kind := range []opKind{uses, ends} { // what is freed shows a difference that nobody has read
		for _, i := range order {
			if one.p.ops[i].kind == kind && one.results[i].values != other.results[i].values {
				return difference{Record: i}, true
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(one.bytes)) {
		if one.state[id] == exists && !slices.Equal(one.all(id), other.all(id)) {
			return difference{Record: -1, Memory: touch{memory: id}}, true
		}
	}
	return difference{}, false
}
