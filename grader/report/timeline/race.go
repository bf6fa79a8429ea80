package timeline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Run is a contender's part in a race that was carried out for its picture: one call of its code, until the device was
// at rest.
type Run struct {
	Name     string // "yours", "Share: solution"
	Calls    []Call // of the code alone; the race's own are left out
	Began    int64
	Returned int64 // when the code did
	Rested   int64 // when all its work was done
	t        *Timeline
}

// Took is how long the run took.
func (r *Run) Took() int64 { return r.Rested - r.Began }

// Runs are those of a race, in their order.
func (t *Timeline) Runs() []Run {
	var all []Run
	var run *Run
	next := 0 // of Calls
	for i := range t.Trace.Records {
		m := &t.Trace.Records[i]
		if m.Op != trace.OpMark {
			continue
		}
		if name, ok := strings.CutPrefix(m.Label, verdict.MarkBegan); ok {
			run = &Run{Name: name, Began: m.Time, t: t}
			for next < len(t.Calls) && t.Calls[next].Record < i {
				next++
			}
		}
		if name, ok := strings.CutPrefix(m.Label, verdict.MarkReturned); ok && run != nil && run.Name == name {
			run.Returned = m.Time
			for ; next < len(t.Calls) && t.Calls[next].Record < i; next++ {
				run.Calls = append(run.Calls, t.Calls[next])
			}
		}
		if name, ok := strings.CutPrefix(m.Label, verdict.MarkRested); ok && run != nil && run.Name == name {
			run.Rested = m.Time
			all, run = append(all, *run), nil
		}
	}
	return all
}

// Engine is what works on a call, of which each can do one thing at a time.
type Engine int

// The engines.
const (
	Host Engine = iota
	CopyIn
	Kernels // and what sets memory
	CopyOut
	NoEngine // allocations and frees, and what only orders
)

func (e Engine) String() string { return [...]string{"host", "copy in", "kernels", "copy out", ""}[e] }

func engineOf(op trace.Op) Engine {
	switch op {
	case trace.OpMemcpyHtoD, trace.OpMemcpyHtoDAsync:
		return CopyIn
	case trace.OpMemcpyDtoH, trace.OpMemcpyDtoHAsync:
		return CopyOut
	case trace.OpLaunch, trace.OpMemset, trace.OpMemsetAsync, trace.OpMemcpyDtoD, trace.OpMemcpyDtoDAsync:
		return Kernels
	}
	return NoEngine
}

// Busy is a stretch of time on an engine's lane.
type Busy struct {
	Call     int // index into Run.Calls
	From, To int64
	Waits    bool // the host does nothing but wait
}

// Lane is what an engine was busy with, in the order of time. A kernel's Start is when its stream had come to it, not
// when the device took it: on a lane nothing begins before what comes before it has ended.
func (r *Run) Lane(e Engine) []Busy {
	var all []Busy
	for i := range r.Calls {
		c := &r.Calls[i]
		switch {
		case e == Host:
			waits := r.t.Trace.Records[c.Record].Phase == trace.Enter
			all = append(all, Busy{i, c.Time, c.Time + c.Took, waits})
		case c.Code == 0 && c.Measured && engineOf(c.Op) == e:
			all = append(all, Busy{Call: i, From: c.Start, To: c.End})
		}
	}
	slices.SortStableFunc(all, func(a, b Busy) int { return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From)) })
	var last int64
	for i := range all {
		all[i].From = min(max(all[i].From, last), all[i].To)
		last = all[i].To
	}
	return all
}

// Use is what a moment of a run goes to.
type Use int

// The uses, of which each moment goes to the first that holds.
const (
	Waiting Use = iota // the host waits
	Working            // kernels
	Copying            // copies and memsets
	Calling            // calls on the host
	Nothing
	uses
)

// Spent is how long a run was at each use, and at which calls: of several at one time the first in their order.
type Spent struct {
	By   [uses]int64
	Call [uses][]int64 // by the index of the call
}

// Spent divides the run's time.
func (r *Run) Spent() Spent {
	var s Spent
	type stretch struct {
		Busy
		use Use
	}
	var all []stretch
	cuts := []int64{r.Began, r.Rested}
	for e := Host; e < NoEngine; e++ {
		for _, b := range r.Lane(e) {
			use := Calling
			switch {
			case b.Waits:
				use = Waiting
			case e == CopyIn, e == CopyOut, e == Kernels && r.Calls[b.Call].Op != trace.OpLaunch:
				use = Copying
			case e == Kernels:
				use = Working
			}
			b.From, b.To = max(b.From, r.Began), min(b.To, r.Rested)
			if b.From < b.To {
				all = append(all, stretch{b, use})
				cuts = append(cuts, b.From, b.To)
			}
		}
	}
	for u := range s.Call {
		s.Call[u] = make([]int64, len(r.Calls))
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	slices.SortStableFunc(all, func(a, b stretch) int { return cmp.Compare(a.From, b.From) })
	var open []stretch
	for i, from := range cuts[:len(cuts)-1] {
		to := cuts[i+1]
		open = slices.DeleteFunc(open, func(b stretch) bool { return b.To <= from })
		for len(all) > 0 && all[0].From <= from {
			open, all = append(open, all[0]), all[1:]
		}
		use, call := Nothing, -1
		for _, b := range open {
			if b.use < use {
				use, call = b.use, b.Call
			}
		}
		s.By[use] += to - from
		if call >= 0 {
			s.Call[use][call] += to - from
		}
	}
	return s
}

// Streams are the streams that the run has used, by name, what each was busy with, and the waits for which it stood
// still.
func (r *Run) Streams() (names []string, busy, waits [][]Busy) {
	for _, s := range r.t.Streams {
		var work, still []Busy
		for i := range r.Calls {
			if c := &r.Calls[i]; c.Stream == s.ID && c.Measured && c.Code == 0 && engineOf(c.Op) != NoEngine {
				work = append(work, Busy{Call: i, From: c.Start, To: c.End})
			}
		}
		for _, w := range r.StreamWaits() {
			if w.Stream == s.ID {
				still = append(still, Busy{w.Call, w.From, w.To, true})
			}
		}
		if len(work)+len(still) > 0 {
			name := s.Name[strings.LastIndexByte(s.Name, '.')+1:]
			if strings.HasPrefix(name, "stream ") { // it has no name but its number, which tells nothing here
				name = "stream " + strconv.Itoa(len(names)+1)
			}
			names, busy, waits = append(names, name), append(busy, work), append(waits, still)
		}
	}
	return names, busy, waits
}
