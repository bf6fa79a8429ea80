package schedule

import (
	"fmt"
	"slices"

	"cudalab/grader/order"
	"cudalab/native/trace"
)

// story is a counterexample in words.
type story struct {
	Steps []Step
	Ends  string // what is wrong in the end, where no step says it; "" otherwise
}

// Step is a call of a counterexample.
type Step struct {
	Record int
	N      int    // the steps are numbered in the order in which the calls were made, from 1 on
	Call   string // "the launch of process on streams[1]"
	Wrong  string // what is wrong with what it finds; "" where nothing is
}

// Story tells c. Where the trace holds what its calls were given, and the kernels can be found, it tells what is
// computed; kernels may be nil.
func (p *Program) Story(c *Counterexample, kernels Kernels) story {
	names := order.NamesOf(p.Trace)
	var s story
	for _, i := range c.Steps {
		step := Step{Record: i, N: c.number(i), Call: names.Call(i)}
		if i == c.Shows.Record {
			step.Wrong = p.wrong(c, names)
			if changed := p.changed(c, kernels); changed != "" {
				step.Wrong += ", so " + changed
			}
		}
		s.Steps = append(s.Steps, step)
	}
	if c.Shows.Record < 0 {
		s.Ends = "In the end the memory holds what " + c.step(c.Late, names) + " has written, and not what " + c.step(c.Early,
			names) + " has."
	}
	return s
}

// wrong is what is wrong with what the call finds in which a counterexample shows.
func (p *Program) wrong(c *Counterexample, names *order.Names) string {
	switch d := c.Shows; d.State {
	case unborn:
		return "the memory is not there yet, which " + c.step(p.maker(d.Memory), names) + " makes"
	case ended:
		return p.gone(c, names)
	case unmapped:
		return "behind its addresses there is no memory any more"
	case forbidden:
		return "the access that it needs has been taken away"
	case notWritten:
		if c.Always {
			return "it finds what nothing has written"
		}
	}
	return p.others(c, names)
}

// changed says what the call in which a counterexample shows computes there, and what it should.
func (p *Program) changed(c *Counterexample, kernels Kernels) string {
	if kernels == nil || c.Always || c.Shows.State != exists {
		return ""
	}
	should, ok := p.Values(p.list, c.Shows.Record, kernels)
	if !ok {
		return ""
	}
	is, ok := p.Values(c.Order, c.Shows.Record, kernels)
	if !ok {
		return ""
	}
	return changed(should, is)
}

// maker is the record of what has made the memory that a touch is about: the block, if there is one.
func (p *Program) maker(t touch) int {
	for _, id := range []trace.ID{t.block, t.memory} {
		if i := slices.IndexFunc(p.list, func(i int) bool {
			return p.ops[i].kind == makes &&
				p.ops[i].memory == id
		}); i >= 0 && id != 0 {
			return p.list[i]
		}
	}
	return -1
}

// gone says of memory that has ended who may have its bytes by then.
func (p *Program) gone(c *Counterexample, names *order.Names) string {
	at := p.maker(c.Shows.Memory)
	text := "the memory is no longer its own"
	if at < 0 {
		return text
	}
	if c.Early >= 0 && p.ops[c.Early].kind == makes {
		return text + ": by then its bytes may belong to " + names.Memory(c.Early) + ", which got the same addresses"
	}
	lo, hi := p.addresses(at)
	for _, i := range p.list {
		if first, last := p.addresses(i); i > at && p.ops[i].kind == makes && first < hi && lo < last {
			return text + ": by then its bytes may belong to " + names.Memory(i) + ", which got the same addresses"
		}
	}
	return text + ": by then its bytes may belong to another allocation"
}

// addresses is where the memory lies that a record's call has made.
func (p *Program) addresses(i int) (lo, hi int64) {
	r := p.Trace.Records[p.done[i]]
	return addresses(&r)
}

// number is that of a step.
func (c *Counterexample) number(record int) (n int) {
	for _, i := range c.Steps {
		if i <= record {
			n++
		}
	}
	return n
}

// step is a call by its number, or by its name where it is none of the steps.
func (c *Counterexample) step(record int, names *order.Names) string {
	if slices.Contains(c.Steps, record) {
		return fmt.Sprintf("step %d", c.number(record))
	}
	if record < 0 {
		return "a call that is not known"
	}
	return names.Call(record)
}

// others says whose bytes a call finds.
func (p *Program) others(c *Counterexample, names *order.Names) string {
	i := c.Shows.Record
	should, finds := p.execute(slices.Sorted(slices.Values(c.Steps)), true), p.execute(c.Steps, true)
	was, is := should.results[i].parts, finds.results[i].parts
	for k := range min(len(was), len(is)) {
		if was[k].value == is[k].value {
			continue
		}
		text := "it finds "
		switch by, known := finds.writer[is[k].value]; {
		case is[k].value == fresh:
			text += "what nothing has written"
		case is[k].value == before:
			text += "what was there before"
		case known:
			text += "what " + c.step(by, names) + " has written"
		default:
			text += "another value"
		}
		if by, known := should.writer[was[k].value]; known {
			text += ", and not what " + c.step(by, names) + " writes"
		}
		return text
	}
	return "it finds other bytes"
}
