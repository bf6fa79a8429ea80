package schedule

import (
	"fmt"

	"cudalab/native/trace"
)

// Legal is an error that says why CUDA may not carry out a trace's calls in an order, if it may not. The order names
// records; a call that it does not name is taken to do nothing but hold back what comes behind it.
//
// It knows nothing of happens-before. It follows the calls: each stream takes what it is given one by one, a wait in a
// stream holds back what comes behind it, the legacy default stream and the blocking streams hold each other back, and
// the host makes no further call before what it waits for is over.
func Legal(t *trace.Trace, order []int) error {
	named := make([]bool, len(t.Records))
	for _, i := range order {
		if i < 0 || i >= len(named) || named[i] {
			return fmt.Errorf("record %d is no call that is still to be carried out", i)
		}
		named[i] = true
	}
	j := newJudge(t, named)
	for _, i := range order {
		if err := j.carryOut(i); err != nil {
			return err
		}
	}
	return nil
}

// judge is CUDA as far as order goes: what each call has to wait for, and what is over.
type judge struct {
	t     *trace.Trace
	after [][]int // by record of work in a stream: what has to be over before it
	named []bool  // by record: it is in the order. What is not is over as soon as it can be
	host  []int   // the records that are, of what the host does itself
	waits []wait  // of the host, in order
	over  []bool

	hostDone, waited int // how many of host and waits are over
}

// wait is a call that the host does not leave before some records are over.
type wait struct {
	left   int // the record of leaving it
	before []int
}

// gate is a stream while the calls are followed.
type gate struct {
	last     int   // the record of what it was given last; -1: none
	passing  []int // what has only a place in it behind that, and holds back no other stream
	blocking bool
}

func newJudge(t *trace.Trace, named []bool) *judge {
	n := len(t.Records)
	j := &judge{t: t, after: make([][]int, n), named: named, over: make([]bool, n)}
	streams := map[trace.ID]*gate{0: {last: -1, blocking: true}}
	stream := func(id trace.ID) *gate {
		if streams[id] == nil {
			streams[id] = &gate{last: -1, blocking: true}
		}
		return streams[id]
	}
	events := map[trace.ID]int{}
	made := map[trace.ID]bool{}
	lasts := func(only func(*gate) bool) (list []int) {
		for _, g := range streams {
			if g.last >= 0 && only(g) {
				list = append(list, g.last)
			}
		}
		return list
	}
	enqueue := func(i int, id trace.ID) {
		g := stream(id)
		j.after[i] = append(j.after[i], g.passing...)
		if g.last >= 0 {
			j.after[i] = append(j.after[i], g.last)
		}
		switch {
		case id == 0:
			j.after[i] = append(j.after[i], lasts(func(g *gate) bool { return g.blocking })...)
		case g.blocking && streams[0].last >= 0:
			j.after[i] = append(j.after[i], streams[0].last)
		}
		if passes(&t.Records[i]) {
			g.passing = append(g.passing, i)
			return
		}
		g.last, g.passing = i, nil
	}
	answered := answers(t)
	for i := range t.Records {
		r := &t.Records[i]
		if r.Phase == trace.Leave || answered[i] < 0 || t.Records[answered[i]].Code != 0 {
			continue
		}
		left := answered[i]
		hostWaits := func(before ...int) { j.waits = append(j.waits, wait{left, before}) }
		event := func(id trace.ID) {
			if at, ok := events[id]; ok {
				hostWaits(at)
			}
		}
		switch r.Op {
		case trace.OpStreamCreate:
			stream(r.Stream).blocking = r.Flags&1 == 0
		case trace.OpEventCreate:
			made[r.Event] = true
		case trace.OpEventRecord:
			enqueue(i, r.Stream)
			events[r.Event] = i
		case trace.OpStreamWaitEvent:
			at, recorded := events[r.Event]
			if !recorded && made[r.Event] {
				continue // it does not even come into the stream
			}
			enqueue(i, r.Stream)
			if recorded {
				j.after[i] = append(j.after[i], at)
			}
		case trace.OpEventSynchronize, trace.OpEventQuery:
			event(r.Event)
		case trace.OpEventElapsedTime:
			event(r.Event)
			event(r.Event2)
		case trace.OpStreamSynchronize, trace.OpStreamQuery:
			if r.Stream == 0 {
				hostWaits(lasts(func(g *gate) bool { return g.blocking })...)
			} else if g := stream(r.Stream); g.last >= 0 {
				hostWaits(g.last)
			}
		case trace.OpDeviceSynchronize:
			hostWaits(lasts(func(*gate) bool { return true })...)
			for _, g := range streams {
				hostWaits(g.passing...)
			}
		default:
			if !queued(r) {
				if named[i] {
					j.host = append(j.host, i)
				}
				continue
			}
			enqueue(i, r.Stream)
			if returnsWhenOver(r) {
				hostWaits(i)
			}
		}
	}
	return j
}

// returnsWhenOver reports whether a copy returns only when it is over (CUDA driver API, "API synchronization
// behavior"). The order checker has it too; a judge that asked there would make the same mistake.
func returnsWhenOver(r *trace.Record) bool {
	switch r.Op {
	case trace.OpMemcpyDtoH:
		return true
	case trace.OpMemcpyHtoD:
		return r.Host == trace.Pinned
	case trace.OpMemcpyDtoHAsync:
		return r.Host == trace.Pageable
	}
	return false
}

// carryOut has one call's work done next.
func (j *judge) carryOut(i int) error {
	for ; j.hostDone < len(j.host) && j.host[j.hostDone] < i; j.hostDone++ {
		if at := j.host[j.hostDone]; !j.over[at] {
			return fmt.Errorf("record %d comes before record %d, which the host does first", i, at)
		}
	}
	for ; j.waited < len(j.waits) && j.waits[j.waited].left < i; j.waited++ {
		for _, x := range j.waits[j.waited].before {
			if !j.isOver(x) {
				return fmt.Errorf("record %d comes before record %d, which the host waits for first", i, x)
			}
		}
	}
	for _, x := range j.after[i] {
		if !j.isOver(x) {
			return fmt.Errorf("record %d comes before record %d, which it has to wait for", i, x)
		}
	}
	j.over[i] = true
	return nil
}

// isOver reports whether a record's work is over. What only orders is so once all that it waits for is.
func (j *judge) isOver(i int) bool {
	if j.over[i] || j.named[i] {
		return j.over[i]
	}
	for _, x := range j.after[i] {
		if !j.isOver(x) {
			return false
		}
	}
	j.over[i] = true
	return true
}
