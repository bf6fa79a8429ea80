package schedule

import (
	"slices"

	"cudalab/grader/order"
	"cudalab/native/trace"
)

// Counterexample is an order that CUDA may choose in which a fault shows.
type Counterexample struct {
	Finding order.Finding
	Order   []int // of all that is done to memory; Legal has nothing against it
	Steps   []int // those that matter, in the order in which it goes wrong
	Always  bool  // it goes wrong in the order in which the calls were made, as its Order is
	Late    int   // otherwise: the record of the call that comes too late in it
	Early   int   // and of the one that comes too early: an edge from Late to Early is missing
	Shows   difference
}

// mostSteps is how many steps a counterexample shows at most.
const mostSteps = 8

// mostWhole is up to how many calls a counterexample is looked for among all of them, to be shortened, where the slice
// shows nothing.
const mostWhole = 64

// Counterexample builds an order in which a finding of order.Check in p's trace goes wrong, and carries it out. It has
// none for what no order is to blame for, such as a leak, and for a remark.
func (p *Program) Counterexample(f order.Finding) (*Counterexample, bool) {
	if f.Severity != order.Error || f.At < 0 || f.At >= len(p.ops) {
		return nil, false
	}
	c := &Counterexample{Finding: f, Late: -1, Early: -1}
	switch f.Rule {
	case order.UseBeforeAlloc, order.FreeBeforeUse, order.RevokeBeforeUse, order.EarlyReuse, order.DataRace,
		order.HostRace, order.StagedCopy:
		if len(f.Related) == 0 || !p.swap(c, f.Related[0].At, f.At) {
			return nil, false
		}
	case order.UseAfterFree, order.UninitializedRead:
		if p.ops[f.At] == nil {
			return nil, false
		}
		c.Always, c.Order = true, p.Happened()
	default:
		return nil, false
	}
	c.Steps = p.slice(c)
	shows, ok := p.shows(c)
	if !ok && len(c.Order) <= mostWhole { // what it shows hangs on more than the slice has
		c.Steps = slices.Clone(c.Order)
		shows, ok = p.shows(c)
	}
	if !ok {
		return nil, false
	}
	c.Shows = shows
	p.shorten(c)
	return c, true
}

// shorten leaves out steps, where they are too many, without which the same shows.
func (p *Program) shorten(c *Counterexample) {
	for k := 0; k < len(c.Steps) && len(c.Steps) > mostSteps; {
		all := c.Steps
		c.Steps = slices.Delete(slices.Clone(all), k, k+1)
		i := all[k]
		if shows, ok := p.shows(c); i != c.Late && i != c.Early && i != c.Finding.At && ok && shows == c.Shows {
			continue
		}
		c.Steps = all
		k++
	}
}

// swap makes c's order one in which the call at record early, which was made later, comes before that at record late.
// It is otherwise as near to what happened as can be: what does not have to come after the late one stays in front of
// the early one.
func (p *Program) swap(c *Counterexample, late, early int) bool {
	if late < 0 || late >= early || p.ops[late] == nil || p.ops[early] == nil || p.relation.Before(late, early) {
		return false
	}
	c.Late, c.Early = late, early
	var first, rest []int
	for _, i := range p.list {
		if i <= early && i != late && !p.relation.Before(late, i) {
			first = append(first, i)
		} else {
			rest = append(rest, i)
		}
	}
	c.Order = append(first, rest...)
	return true
}

// slice is what matters of a counterexample, in its order: the two calls, what makes the memory that both of them use,
// and what wrote last what the early one finds.
func (p *Program) slice(c *Counterexample) []int {
	ends := []int{c.Finding.At}
	if !c.Always {
		ends = []int{c.Late, c.Early}
	}
	keep := map[int]bool{}
	for _, i := range ends {
		keep[i] = true
	}
	for _, r := range c.Finding.Related {
		if r.At >= 0 && r.At < len(p.ops) && p.ops[r.At] != nil && p.ops[r.At].kind != uses {
			keep[r.At] = true
		}
	}
	common := p.common(c)
	for _, i := range p.list {
		o := p.ops[i]
		if o.kind == makes && slices.ContainsFunc(common, func(t touch) bool {
			return t.memory == o.memory ||
				t.block == o.memory
		}) {
			keep[i] = true
		}
		if o.kind == places && slices.ContainsFunc(common, func(t touch) bool { return t.mapping == i }) {
			keep[i] = true
		}
	}
	for _, t := range common {
		for _, end := range ends {
			if i := p.permitted(t.mapping, end); i >= 0 {
				keep[i] = true
			}
		}
	}
	at := slices.Index(c.Order, c.Finding.At)
	if !c.Always {
		at = slices.Index(c.Order, c.Early)
	}
	whole := p.execute(c.Order, false)
	for _, i := range slices.Backward(c.Order[:max(at, 0)]) { // what was there last
		if !keep[i] && len(keep) < mostSteps && whole.wrote(i, common) {
			keep[i] = true
			break
		}
	}
	var steps []int
	for _, i := range c.Order {
		if keep[i] {
			steps = append(steps, i)
		}
	}
	return steps
}

// permitted is the record of the last MemSetAccess for a mapping before a call; -1: there is none.
func (p *Program) permitted(mapping, before int) int {
	for _, i := range slices.Backward(p.list) {
		o := p.ops[i]
		if i < before && mapping >= 0 && o.kind == permits && slices.ContainsFunc(o.touches,
			func(t touch) bool { return t.mapping == mapping }) {
			return i
		}
	}
	return -1
}

// common is the memory that a counterexample is about: what both calls use, and otherwise all that they do.
func (p *Program) common(c *Counterexample) (list []touch) {
	if c.Always {
		return p.ops[c.Finding.At].touches
	}
	for _, t := range p.ops[c.Early].touches {
		if slices.ContainsFunc(p.ops[c.Late].touches, func(x touch) bool {
			return x.memory == t.memory && x.lo < t.hi && t.lo < x.hi || x.mapping >= 0 && x.mapping == t.mapping
		}) {
			list = append(list, t)
		}
	}
	// one of the two makes or ends what the other uses
	for _, pair := range [][2]int{{c.Late, c.Early}, {c.Early, c.Late}} {
		o := p.ops[pair[0]]
		for _, t := range p.ops[pair[1]].touches {
			if o.kind != uses && (t.memory == o.memory || t.block == o.memory) {
				list = append(list, t)
			}
			if slices.ContainsFunc(o.touches, func(x touch) bool {
				return o.kind != uses && x.mapping >= 0 &&
					x.mapping == t.mapping
			}) {
				list = append(list, t)
			}
		}
	}
	return list
}

// wrote reports whether a call has written some of the bytes.
func (m *memory) wrote(i int, some []touch) bool {
	for k, x := range m.p.ops[i].touches {
		state := m.results[i]
		if m.p.ops[i].kind == uses && x.kind != trace.Read && (state.state(k) == exists || state.state(k) == notWritten) &&
			slices.ContainsFunc(some, func(t touch) bool { return x.memory == t.memory && x.lo < t.hi && t.lo < x.hi }) {
			return true
		}
	}
	return false
}

// shows carries out a counterexample's steps, in its order and in that of the calls, and is what is wrong.
func (p *Program) shows(c *Counterexample) (difference, bool) {
	if c.Always {
		d, found := p.fault(c.Steps)
		return d, found
	}
	happened := slices.Sorted(slices.Values(c.Steps))
	return p.compare(happened, c.Steps)
}
