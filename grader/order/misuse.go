package order

import (
	"fmt"
	"slices"

	"cudalab/native/trace"
)

// uninitialized reports a read of bytes that nothing has written; there is at least one span of them.
// uninitialized reports that the i-th record's call reads bytes that were never written; short is the launch that has
// written the byte before them, or -1.
func (p *report) uninitialized(i int, x *trace.Access, a *allocation, unwritten []span, short int) {
	w := p.words
	p.add(UninitializedRead, i, -1, a.made, x.Arg, func() Finding {
		first, last := unwritten[0], unwritten[len(unwritten)-1]
		what := w.part(a, first.Lo, last.Hi)
		if len(unwritten) > 1 {
			what = fmt.Sprintf("%s in %d pieces, from offset %s on, of %s",
				bytes(total(unwritten)), len(unwritten), number(first.Lo), w.memory(a))
		}
		f := Finding{
			Message: fmt.Sprintf("%s %s %s, which should be written first, but nothing has written there.", capital(w.callOn(i)),
				verb(x.Kind), what),
			Why:     "CUDA does not clear memory: a new allocation holds whatever its last owner left there.",
			Fix:     "Write the bytes ahead of this call, on its stream.",
			Related: p.from(a),
		}
		switch r := w.record(i); {
		case onHost(r):
			f.Message = fmt.Sprintf("The host reads %s (%s), which should be written first, but nothing has written there.",
				what, w.call(i))
			f.Fix = "Write the bytes first, with HostBuffer.Write or a copy from the device that the host has waited for."
		case a.made >= 0 && w.record(a.made).Op == trace.OpMallocHost:
			f.Fix = "Fill the buffer first, with HostBuffer.Write, before the copy is made."
		case x.Kind == trace.Atomic:
			f.Fix = fmt.Sprintf("Set the bytes to their start value first: cuda.MemsetAsync on %s before %s.",
				w.stream(r.Stream), w.call(i))
		case short >= 0 && short != i:
			f.Fix = fmt.Sprintf("Have %s go on to the end of these bytes: a grid of n / block blocks leaves out the last "+
				"elements, and one of (n + block - 1) / block does not.", w.callOn(short))
			f.Related = append(f.Related, Related{short, w.callOn(short) + " writes the bytes before these"})
		}
		return f
	})
}

func total(list []span) (sum int64) {
	for _, s := range list {
		sum += s.Hi - s.Lo
	}
	return sum
}

// shortage is how much of the memory from one place of the source is used beyond its end, as a multiple of its size;
// 0: by no
// multiple that is the same each time.
type shortage struct {
	times int64
	made  int // the first that was too small
}

// note takes in that so many bytes are used of an allocation that has fewer.
func (n *shortage) note(used, size int64) {
	if size <= 0 || used%size != 0 || n.times >= 0 && n.times != used/size {
		n.times = 0
	} else if n.times < 0 {
		n.times = used / size
	}
}

// elementSizes are the sizes of what is counted in elements by mistake.
var elementSizes = []int64{2, 4, 8}

// cause is the allocation, where it is too small by the size of an element wherever it is.
func (n *shortage) cause(w *words) *Cause {
	if !slices.Contains(elementSizes, n.times) {
		return nil
	}
	r := w.record(n.made)
	return &Cause{n.made, fmt.Sprintf("%s gets %s here, and exactly %d times as many are used, each time.",
		capital(w.callOn(n.made)), bytes(r.Size), n.times),
		"Allocate as many bytes as are used: sizes are counted in bytes, and a number of 32 bits has four of them."}
}

func (p *report) outOfBounds(i int, x *trace.Access, a *allocation) {
	w := p.words
	if a.made >= 0 && a.block == nil && a.physical == nil {
		if p.needs == nil {
			p.needs = map[origin]*shortage{}
		}
		place := p.origin(a.made)
		if p.needs[place] == nil {
			p.needs[place] = &shortage{times: -1, made: a.made}
		}
		p.needs[place].note(x.Offset+x.Size, a.size)
	}
	p.add(OutOfBounds, i, -1, a.made, x.Arg, func() Finding {
		where := bytes(x.Offset+x.Size-a.size) + " beyond the end"
		if x.Offset < 0 {
			where = "from " + bytes(-x.Offset) + " before the start on"
		}
		why := "CUDA refuses a copy or memset that does not lie within one allocation: not a byte of it is done."
		if w.record(i).Op == trace.OpLaunch {
			why = "CUDA does not check which bytes a kernel uses: those beyond an allocation may belong to another one, or " +
				"to none."
		}
		fix := "Allocate as many bytes as are used, or use fewer: sizes are in bytes, and a number of 32 bits has four " +
			"of them."
		if w.record(i).Op == trace.OpLaunch {
			fix = "Allocate as many bytes as the kernel uses, or have it use fewer: memory is counted in bytes, and a kernel " +
				"mostly counts elements; go doc says of each argument what it is."
		}
		switch {
		case a.block != nil:
			why = "CUDA knows only the whole allocation, not the blocks that an allocator makes of it: it lets the access " +
				"through, into the next block."
		case a.physical != nil:
			why = "Only memory that is mapped and made accessible can be used: CUDA refuses a copy or memset beyond it, and " +
				"after a kernel's access there every CUDA call fails."
			fix = "Map more memory behind it first (cuda.MemCreate, cuda.MemMap, cuda.MemSetAccess), or use fewer bytes."
		}
		return Finding{
			Message: fmt.Sprintf("%s should stay within %s, but it %s %s at offset %s: %s.", capital(w.callOn(i)), w.memory(a),
				verb(x.Kind), bytes(x.Size), number(x.Offset), where),
			Why:     why,
			Fix:     fix,
			Related: p.from(a),
		}
	})
}

// nowhere reports an access to an address that is in no allocation.
func (p *report) nowhere(i int, x *trace.Access) {
	w := p.words
	p.add(OutOfBounds, i, -1, -1, x.Arg, func() Finding {
		f := Finding{
			Message: fmt.Sprintf("%s should use memory of this program, but it %s %s at address 0x%x, where there never "+
				"was any.",
				capital(w.callOn(i)), verb(x.Kind), bytes(x.Size), uint64(x.Offset)),
			Why: "A device pointer is only a number: it means something only where an allocation has returned it.",
			Fix: "Pass the pointer that the allocation returned, or one plus an offset that lies within its size.",
		}
		if x.Offset == 0 {
			f.Message = fmt.Sprintf("%s should use memory of this program, but it %s %s through a null pointer.",
				capital(w.callOn(i)), verb(x.Kind), bytes(x.Size))
			f.Fix = "Check the error of the allocation, and pass the pointer that it returned."
		}
		return f
	})
}

// unrecorded reports a wait, at record at, for an event that had not been recorded; later is where it was recorded
// after that, or -1.
func (p *report) unrecorded(at, later int) {
	w := p.words
	p.add(WaitUnrecorded, at, -1, -1, 0, func() Finding {
		event, purpose, result := w.record(at).Event, "wait for", "it waits for nothing"
		if w.record(at).Op == trace.OpEventQuery {
			purpose, result = "ask about", "the answer is \"done\" whatever the device does"
		}
		f := Finding{
			Message: fmt.Sprintf("%s should %s event %d, but nothing ever records that event, so %s.", capital(w.waiter(at)),
				purpose, event, result),
			Why: "An event stands for the work before its last EventRecord; until there has been one, the event counts as done.",
			Fix: "Call cuda.EventRecord before this call, on the stream of the work to be waited for and after that work.",
		}
		if later >= 0 {
			f.Severity = Remark
			f.Message = fmt.Sprintf("%s should %s event %d, but the event is recorded only afterwards, so %s.",
				capital(w.waiter(at)), purpose, event, result)
			f.Fix = "If this call is meant for that EventRecord, it has to come after it."
			f.Related = []Related{{later, "recorded only here"}}
		}
		return f
	})
}

// waiter is a call that names an event: "EventSynchronize", "StreamWaitEvent on stream 2".
func (w *words) waiter(i int) string {
	if w.record(i).Op == trace.OpStreamWaitEvent {
		return w.callOn(i)
	}
	return w.call(i)
}

// needless remarks on a place of the source whose waits, count of them, never ordered anything.
func (p *report) needless(at, count int) {
	w := p.words
	p.add(NeedlessWait, at, -1, -1, 0, func() Finding {
		r := w.record(at)
		f := Finding{Severity: Remark, Fix: "Leave the call out."}
		switch r.Op {
		case trace.OpStreamWaitEvent:
			f.Message = fmt.Sprintf("The work in %s already comes after the work that event %d stands for, so %s changes "+
				"nothing.",
				w.stream(r.Stream), r.Event, w.call(at))
			f.Why = "A stream that waits for another also waits for all that the other has waited for, and what the host " +
				"enqueues after a wait of its own comes after all that it has waited for."
		case trace.OpEventSynchronize:
			f.Message = fmt.Sprintf("The host has already waited for the work that event %d stands for, so EventSynchronize "+
				"changes nothing.",
				r.Event)
			f.Why = "Once the host has waited for some work, that work stays done."
		default:
			f.Message = fmt.Sprintf("The host has already waited for all work in %s, so StreamSynchronize changes nothing.",
				w.stream(r.Stream))
			f.Why = "Once the host has waited for some work, that work stays done."
		}
		if count > 1 {
			f.Message += fmt.Sprintf(" The same holds for all %s calls here.", number(int64(count)))
		}
		return f
	})
}

// legacy remarks on a place of the source that gives its work, count times, to the legacy default stream.
func (p *report) legacy(at, count int) {
	w := p.words
	p.add(LegacyStream, at, -1, -1, 0, func() Finding {
		f := Finding{
			Severity: Remark,
			Message: capital(w.call(at)) + " goes to the legacy default stream, while other work of the program has " +
				"streams of its own: was one of these meant?",
			Why: "Work on the legacy default stream waits for every blocking stream and makes them wait, which undoes their " +
				"overlap; with non-blocking streams nothing orders it at all.",
			Fix: "Pass the stream that the work belongs to; a cuda.Stream that was never created is the legacy default stream.",
		}
		if count > 1 {
			f.Message += fmt.Sprintf(" The same holds for all %s calls here.", number(int64(count)))
		}
		return f
	})
}
