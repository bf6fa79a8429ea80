package schedule

import (
	"fmt"

	"cudalab/native/trace"
)

// cover is an event of the program's own that was to hold the early call back, or looks as if it were, and covers
// something else: its record and the wait for it.
type cover struct {
	record, wait  int    // wait is -1 where nothing waits for it
	stands, holds string // what the one stands for, and what the other holds back
}

// calls are its two, or one, in their order.
func (v *cover) calls() []int {
	switch {
	case v == nil:
		return nil
	case v.wait < 0:
		return []int{v.record}
	}
	return []int{v.record, v.wait}
}

// near finds the event of the program's own that comes the nearest to holding the early call back; nil: none does.
func (f *filming) near(own func(record int) bool) (best *cover) {
	bestRank := 0
	better := func(v cover, rank int) {
		if rank > 0 && (best == nil || rank <= bestRank) { // of equals the last
			best, bestRank = &v, rank
		}
	}
	recorded, waited := map[trace.ID]int{}, map[int]bool{}
	for i := range f.Trace.Records {
		r := &f.Trace.Records[i]
		if f.done[i] < 0 || r.Code != 0 || r.Stale || r.Phase == trace.Leave {
			continue
		}
		switch at, ok := recorded[r.Event]; {
		case r.Op == trace.OpEventRecord:
			recorded[r.Event] = i
		case r.Op == trace.OpStreamWaitEvent && ok && own(i) && own(at):
			waited[at] = true
			better(f.pair(at, i))
		}
	}
	for i := f.c.Late + 1; i < f.c.Early; i++ {
		if r := &f.Trace.Records[i]; r.Op == trace.OpEventRecord && r.Code == 0 && own(i) && !waited[i] &&
			f.sameStream(i, f.c.Late) {
			better(cover{i, -1, fmt.Sprintf("An event stands for what %s was given up to here, step %d included, but nothing "+
				"waits for it.",
				f.names.Stream(r.Stream), f.c.number(f.c.Late)), ""}, 3)
		}
	}
	return best
}

// pair says what a record and a wait for it cover, and how likely they were to hold the early call back behind the late
// one; 0: not at all.
func (f *filming) pair(record, wait int) (cover, int) {
	c := f.c
	late, early := fmt.Sprintf("step %d", c.number(c.Late)), fmt.Sprintf("step %d", c.number(c.Early))
	from, to := f.names.Stream(f.Trace.Records[record].Stream), f.names.Stream(f.Trace.Records[wait].Stream)
	stands := fmt.Sprintf("An event stands for what %s was given up to here", from)
	switch behind, before := f.sameStream(record, c.Late), f.sameStream(wait, c.Early); {
	case behind && before && record < c.Late && wait < c.Early:
		return cover{record, wait, fmt.Sprintf("%s, which is without %s: that is given later.", stands, late),
			fmt.Sprintf("The wait on %s is for what the event stands for, and so not for %s.", to, late)}, 1
	case behind && before && record > c.Late && wait > c.Early:
		return cover{record, wait, fmt.Sprintf("%s, %s included.", stands, late),
			fmt.Sprintf("The wait on %s comes behind %s: it holds back only what is given to that stream later.", to, early)}, 1
	case behind && !before && record > c.Late && wait < c.Early:
		return cover{record, wait, fmt.Sprintf("%s, %s included.", stands, late),
			fmt.Sprintf("The wait holds back what is in %s, and not %s, which is elsewhere.", to, early)}, 2
	case before && !behind && record > c.Late && wait < c.Early:
		return cover{record, wait, fmt.Sprintf("%s, and for nothing of another stream, such as %s.", stands, late),
			fmt.Sprintf("The wait on %s is for what the event stands for, and so not for %s.", to, late)}, 2
	}
	return cover{}, 0
}

// sameStream reports whether two calls are of one stream.
func (f *filming) sameStream(i, j int) bool {
	return f.inStream(i) && f.inStream(j) && f.Trace.Records[i].Stream == f.Trace.Records[j].Stream
}
