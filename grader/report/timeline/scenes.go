package timeline

import (
	"cmp"
	"slices"

	"cudalab/grader/order"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// faults finds the order checker's findings that concern the student's code.
func (t *Timeline) faults(at []int) {
	for _, f := range order.Check(t.Trace) {
		if f.At < 0 || f.At >= len(at) || at[f.At] < 0 {
			continue
		}
		fault := Fault{Rule: f.Rule, Remark: f.Severity == order.Remark, Message: f.Message, At: at[f.At], Other: -1}
		switch f.Rule {
		case order.UseBeforeAlloc, order.FreeBeforeUse, order.RevokeBeforeUse, order.EarlyReuse, order.DataRace,
			order.HostRace:
			if len(f.Related) > 0 {
				fault.Other = at[f.Related[0].At]
			}
		}
		own := len(t.Calls[fault.At].Places) > 0 || fault.Other >= 0 && len(t.Calls[fault.Other].Places) > 0
		if own {
			t.Faults = append(t.Faults, fault)
		}
	}
}

// scenes divides the timeline by the calls of the code under test. To each belongs what was enqueued before and still
// at work when it began, and what the grader did until the device was at rest.
func (t *Timeline) scenes(notes *verdict.CaseNotes, at []int) {
	previous := 0
	for i, o := range notes.Outcomes {
		from, to := notes.Window(i)
		if from == to {
			continue
		}
		first, last := t.index(at, from), t.index(at, to)
		s := Scene{Label: o.Label, From: first, To: t.rest(last)}
		if first < len(t.Calls) {
			for began := t.Calls[first].Time; s.From > previous && t.Calls[s.From-1].busyAt(began); {
				s.From--
			}
		}
		previous = s.To
		for n, f := range t.Faults {
			if f.At >= first && f.At < s.To {
				s.Faults = append(s.Faults, n)
			}
		}
		s.Overlap = t.overlap(s)
		t.Scenes = append(t.Scenes, s)
	}
}

// index is the first call at or behind a record.
func (t *Timeline) index(at []int, record int) int {
	for ; record < len(at); record++ {
		if at[record] >= 0 {
			return at[record]
		}
	}
	return len(t.Calls)
}

// rest is the index behind the next wait for the whole device, if one comes next.
func (t *Timeline) rest(i int) int {
	if i < len(t.Calls) && t.Calls[i].Op == trace.OpDeviceSynchronize {
		return i + 1
	}
	return i
}

// busyAt reports whether the call's work in its stream was still to be done at a time.
func (c *Call) busyAt(time int64) bool { return c.Work && c.Measured && c.End > time }

// overlap is how long two streams or more were at work at once for the code under test.
func (t *Timeline) overlap(s Scene) int64 {
	type edge struct {
		at     int64
		change int
	}
	var edges []edge
	for i := range t.Calls[s.From:s.To] {
		if c := &t.Calls[s.From+i]; c.Work && c.Measured && len(c.Places) > 0 {
			edges = append(edges, edge{c.Start, 1}, edge{c.End, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), a.change-b.change) })
	var total, since int64
	busy := 0
	for _, e := range edges {
		if busy > 1 {
			total += e.at - since
		}
		busy += e.change
		since = e.at
	}
	return total
}
