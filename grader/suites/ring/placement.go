package ring

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// call is one call of Run, or two right behind each other, as the trace shows it.
type call struct{ suite.Made[workload] }

func (c call) producer() trace.ID { return c.Stream(0) }
func (c call) consumer() trace.ID { return c.Stream(len(c.Streams) - 1) }

// ours are the call's slots, in their order: what the grader allocated for it ahead of the results.
func (c call) ours() []trace.ID {
	lent := c.Lent(trace.OpMalloc)
	return given(lent[:min(len(lent), c.W.slots)])
}

// slot is the slot that a record touches; -1 where it touches none.
func (c call) slot(r *trace.Record) int {
	return slices.IndexFunc(c.ours(), func(slot trace.ID) bool { return suite.Touching(r, slot) })
}

// fills are by slot the launches that filled it, in their order: those of items slot, slot+slots and so on.
func (c call) fills() [][]int {
	fills := make([][]int, c.W.slots)
	for _, at := range c.Launches(fillKernel) {
		if slot := c.slot(c.Record(at)); slot >= 0 {
			fills[slot] = append(fills[slot], at)
		}
	}
	return fills
}

// filledBefore is how many fills the call has launched ahead of a record.
func (c call) filledBefore(record int) (n int) {
	for _, at := range c.Launches(fillKernel) {
		if at < record {
			n++
		}
	}
	return n
}

// placement finds work in another stream or slot than the contract says, work that is left out, and memory that is
// allocated.
func placement(m *suite.Made[workload]) (found []verdict.Finding) {
	c := call{*m}
	c.Records(func(at int, r *trace.Record) bool {
		if r.Code != 0 {
			return true
		}
		if suite.Allocates(r.Op) || r.Op == trace.OpMemPoolCreate {
			found = append(found, c.Finding(at, suite.Rule{ID: "allocation",
				Why: "The slots are all the memory there is: how many items are under way is what the caller decides with them.",
				Fix: "Leave it out, and use slots[i%len(slots)] for item i.",
			}, "Run should allocate no memory, but %s does.", suite.CallName(r)))
		}
		if f := c.misplaced(at, r); f != nil {
			found = append(found, *f)
		}
		return true
	})
	sums, computed := c.Sums(), c.computed()
	for i := range c.W.items {
		at := c.LastInto(digestKernel, i)
		if at >= 0 && c.slot(c.Record(at)) != i%c.W.slots {
			found = append(found, c.wrongSlot(i, at))
		} else if (m.Far && m.Outcome.OK() || i < len(sums) && sums[i] == c.W.want(i)) && !computed[i] {
			found = append(found, c.leftOut(i))
		}
	}
	return found
}

// misplaced is the finding about a call in another stream than the contract says; nil where it is in the right one.
func (c call) misplaced(at int, r *trace.Record) *verdict.Finding {
	what, names, want := "", "producer or consumer", []trace.ID{c.producer(), c.consumer()}
	switch {
	case r.Op == trace.OpLaunch && r.Kernel == fillKernel:
		what, names, want = "a fill", "producer", want[:1]
	case r.Op == trace.OpLaunch && r.Kernel == digestKernel:
		what, names, want = "a digest", "consumer", want[1:]
	case r.Op == trace.OpMemsetAsync, r.Op == trace.OpMemset, r.Op == trace.OpEventRecord, r.Op == trace.OpStreamWaitEvent,
		r.Op == trace.OpLaunch:
		what = suite.CallName(r)
	default:
		return nil
	}
	if slices.Contains(want, r.Stream) {
		return nil
	}
	f := c.Finding(at, suite.Rule{ID: "wrong-stream",
		Why: "Each stream works through its own queue: what is in another one's is done at another time, and holds up " +
			"others.",
		Fix: "Pass " + names + " as the stream of this call.",
	}, "%s should be in %s, but is in %s.", what, names, c.StreamName(r.Stream, suite.Names(streamNames...)))
	return &f
}

func (c call) wrongSlot(i, at int) verdict.Finding {
	where := "other memory"
	if slot := c.slot(c.Record(at)); slot >= 0 {
		where = fmt.Sprintf("slots[%d]", slot)
	}
	return c.Finding(at, suite.Rule{ID: "wrong-slot",
		Why: "Both sides have to agree on where item i is without telling each other; in a ring it is the item's number " +
			"that says it.",
		Fix: "Take slots[i%len(slots)] for item i, in the fill and in the digest.",
	}, "item %d should go through slots[%d], but its digest reads %s.", i, i%c.W.slots, where)
}

func (c call) leftOut(i int) verdict.Finding {
	return c.Finding(c.LastInto(digestKernel, i), suite.Rule{ID: "step-left-out",
		Why: "The exercise is about handing memory from stream to stream; the number is only there to show that it worked.",
		Fix: "Launch kernels.FillItem and kernels.Digest for every item, on the item's slot.",
	}, "the sum of item %d should come from a digest of slots[%d], filled for it, but came there in another way.", i,
		i%c.W.slots)
}

// computed tells of each item of the call whether its sum has come from digest, over n words of its slot that fillItem
// has filled as often as it takes by then, and from nothing else.
func (c call) computed() []bool {
	slots := c.ours()
	done, filled, spoilt := make([]bool, c.W.items), make([]int, len(slots)), make([]bool, len(slots))
	for at := c.From; at < c.To; at++ {
		r := c.Record(at)
		if r.Code != 0 || r.Phase == trace.Enter {
			continue
		}
		read := -1
		for _, a := range r.Accesses {
			slot := slices.Index(slots, a.Alloc)
			switch {
			case slot < 0 || a.Offset != 0 || a.Size < 4*int64(c.W.n):
			case a.Kind == trace.Read:
				read = slot
			case r.Op == trace.OpLaunch && r.Kernel == fillKernel:
				filled[slot]++
				spoilt[slot] = false
			default:
				spoilt[slot] = true
			}
		}
		for _, i := range c.Written(r, len(done)) {
			slot := i % len(slots)
			done[i] = r.Op == trace.OpLaunch && r.Kernel == digestKernel && read == slot && !spoilt[slot] &&
				filled[slot] > i/len(slots)
		}
	}
	return done
}
