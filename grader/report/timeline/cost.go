package timeline

import (
	"cmp"
	"maps"
	"slices"

	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Cost is what a run lost its time to that another one took less of.
type Cost struct {
	Kind  CostKind
	Name  string        // the kernel's, the call's, or the stream's
	Place verdict.Place // the line that has the most of it
	Calls map[int]bool  // those that it is made of, as indices into Run.Calls
	Spent int64         // how long the run was at it
	Lost  int64         // how much longer than the other one was
	Count int           // how many calls there are, and in the other run
	Other int
	Block uint64 // threads to a block, of a kernel
}

// CostKind is what a Cost is of.
type CostKind int

// The kinds of cost.
const (
	SlowKernel  CostKind = iota // each launch takes longer
	ManyKernels                 // there are more launches
	HostWaits
	Copies
	HostCalls
	StreamWaits // streams wait for each other by turns
	OneStream   // all work is in one stream
)

// kinds are those of what a run is more often at.
var kinds = map[Use]CostKind{Waiting: HostWaits, Copying: Copies, Calling: HostCalls}

// clearly is how many times as long or as often something has to be to be what the time was lost to.
const clearly = 1.5

// CostOf is what the student's run lost its time to; ok is false where nothing has a good part of that.
func CostOf(yours, solution *Run) (c Cost, ok bool) {
	lost := yours.Took() - solution.Took()
	if lost <= 0 {
		return c, false
	}
	if c, ok := slowKernel(yours, solution, lost); ok {
		return c, true
	}
	mine, its := yours.Spent(), solution.Spent()
	for _, use := range []Use{Waiting, Copying, Calling} {
		if 2*(mine.By[use]-its.By[use]) < lost {
			continue
		}
		c = yours.at(mine.Call[use])
		if c.Kind, c.Lost = kinds[use], mine.By[use]-its.By[use]; 3*c.Spent < lost {
			return c, false // it is spread over many lines
		}
		for i := range solution.Calls {
			if its.Call[use][i] > 0 && solution.Calls[i].Name == c.Name {
				c.Other++
			}
		}
		return c, len(c.Calls) > 0
	}
	if 3*(mine.By[Working]+mine.By[Nothing]-its.By[Working]-its.By[Nothing]) < lost {
		return c, false
	}
	c, ok = serialised(yours, solution)
	c.Spent, c.Lost = yours.Took(), lost
	return c, ok
}

// at is the line with the most of a time, by calls, and the calls of its kind that were made there.
func (r *Run) at(spent []int64) (c Cost) {
	type site struct {
		name string
		at   verdict.Place
	}
	of := map[site]int64{}
	where := func(i int) site { return site{r.Calls[i].Name, r.Calls[i].place()} }
	for i, s := range spent {
		if s > 0 {
			of[where(i)] += s
		}
	}
	most := slices.MaxFunc(append(slices.Collect(maps.Keys(of)), site{}), func(a, b site) int {
		return cmp.Or(cmp.Compare(of[a], of[b]), cmp.Compare(b.at.Line, a.at.Line), cmp.Compare(b.name, a.name))
	})
	c = Cost{Name: most.name, Place: most.at, Calls: map[int]bool{}, Spent: of[most]}
	for i := range r.Calls {
		if where(i) == most {
			c.Calls[i] = true
			c.Count++
		}
	}
	return c
}

// place is where in the student's code a call was made.
func (c *Call) place() verdict.Place {
	if len(c.Places) == 0 {
		return verdict.Place{}
	}
	return c.Places[0]
}

// launches are a run's launches of each kernel.
func (r *Run) launches() map[string][]int {
	all := map[string][]int{}
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Op == trace.OpLaunch && c.Measured && c.Code == 0 {
			all[c.Name] = append(all[c.Name], i)
		}
	}
	return all
}

// median is how long one of some calls' work takes as a rule.
func (r *Run) median(calls []int) int64 {
	var all []int64
	for _, i := range calls {
		all = append(all, r.Calls[i].End-r.Calls[i].Start)
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// union is how long at least one of some calls was at work.
func (r *Run) union(calls []int) (sum int64) {
	at := slices.SortedFunc(slices.Values(calls), func(a, b int) int {
		return cmp.Compare(r.Calls[a].Start, r.Calls[b].Start)
	})
	var until int64
	for _, i := range at {
		c := &r.Calls[i]
		sum += max(0, c.End-max(c.Start, until))
		until = max(until, c.End)
	}
	return sum
}

func slowKernel(yours, solution *Run, lost int64) (best Cost, ok bool) {
	others := solution.launches()
	for _, name := range slices.Sorted(maps.Keys(yours.launches())) {
		calls, other := yours.launches()[name], others[name]
		c := Cost{Name: name, Calls: map[int]bool{}, Spent: yours.union(calls), Count: len(calls), Other: len(other)}
		c.Lost = c.Spent - solution.union(other)
		if 2*c.Lost < lost || ok && c.Lost <= best.Lost {
			continue
		}
		spent := make([]int64, len(yours.Calls))
		for _, i := range calls {
			spent[i] = yours.Calls[i].End - yours.Calls[i].Start
			c.Calls[i] = true
		}
		switch {
		case float64(yours.median(calls)) >= clearly*float64(solution.median(other)):
			c.Kind = SlowKernel
		case float64(c.Count) >= clearly*float64(c.Other):
			c.Kind = ManyKernels
		default:
			continue
		}
		c.Place = yours.at(spent).Place
		if g := yours.t.Trace.Records[yours.Calls[calls[0]].Record].Given; g != nil {
			c.Block = 1
			for _, n := range g.Block {
				c.Block *= uint64(max(n, 1))
			}
		}
		best, ok = c, true
	}
	return best, ok
}

// serialised finds what keeps a run's work from being done at once: the waits on the longest chain of work, where they
// have a good part of it, or else that all is in one stream.
func serialised(yours, solution *Run) (c Cost, ok bool) {
	if solution.AtOnce() < clearly*yours.AtOnce() {
		return c, false
	}
	if waits := yours.chain(); len(waits) > 1 {
		spent := make([]int64, len(yours.Calls))
		for _, i := range waits {
			spent[i]++
		}
		c = yours.at(spent)
		c.Kind = StreamWaits
		return c, true
	}
	if mine := yours.streams(); len(mine) == 1 && len(solution.streams()) > 1 {
		spent := make([]int64, len(yours.Calls))
		for i := range yours.Calls {
			if c := &yours.Calls[i]; c.Work && c.Measured {
				spent[i] = c.End - c.Start
			}
		}
		c = yours.at(spent)
		c.Kind, c.Name = OneStream, yours.t.StreamName(mine[0])
		return c, true
	}
	return c, false
}

// streams are those that a run has work in.
func (r *Run) streams() (all []trace.ID) {
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Work && c.Measured && !slices.Contains(all, c.Stream) {
			all = append(all, c.Stream)
		}
	}
	return all
}

// StreamWait is a stream that does nothing until an event of another one has happened.
type StreamWait struct {
	Busy
	Stream trace.ID
	from   int // the work behind which the event was recorded, an index into Calls; -1: none
}

// StreamWaits are the waits for which a stream stood still, in the order of the calls.
func (r *Run) StreamWaits() (all []StreamWait) {
	of := map[int]int{} // by the record's index of the wait: the call that recorded the event
	for _, w := range r.t.Waits {
		of[r.t.Calls[w.To].Record] = w.From
	}
	ends, last := map[trace.ID]int64{}, map[trace.ID]int{}
	behind := map[int]int{} // by the record of an EventRecord: the work before it
	for i := range r.Calls {
		c := &r.Calls[i]
		if c.Code != 0 || !c.InStream {
			continue
		}
		work, any := last[c.Stream]
		switch {
		case c.Op == trace.OpEventRecord && any:
			behind[c.Record] = work
		case c.Op == trace.OpStreamWaitEvent:
			from := max(c.Time, ends[c.Stream])
			if rec, ok := of[c.Record]; ok && c.Start > from {
				w := StreamWait{Busy{Call: i, From: from, To: c.Start}, c.Stream, -1}
				if work, ok := behind[r.t.Calls[rec].Record]; ok {
					w.from = work
				}
				all = append(all, w)
			}
		case c.Work:
			last[c.Stream] = i
		}
		ends[c.Stream] = max(ends[c.Stream], c.End)
	}
	return all
}

// AtOnce is in how many streams a run had work at once, on average over the time in which there was any.
func (r *Run) AtOnce() float64 {
	of, all := map[trace.ID][]int{}, []int(nil)
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Work && c.Measured && c.Code == 0 {
			of[c.Stream], all = append(of[c.Stream], i), append(all, i)
		}
	}
	var sum int64
	for _, calls := range of {
		sum += r.union(calls)
	}
	return float64(sum) / float64(max(r.union(all), 1))
}

// chain follows the work that was done last back to the first, and answers the waits on which pieces of it hang.
func (r *Run) chain() (waits []int) {
	end := -1
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Work && c.Measured && (end < 0 || c.End > r.Calls[end].End) {
			end = i
		}
	}
	held := map[trace.ID][]StreamWait{}
	for _, w := range r.StreamWaits() {
		held[w.Stream] = append(held[w.Stream], w)
	}
	for end >= 0 {
		c := &r.Calls[end]
		before := -1
		for i := end - 1; i >= 0 && before < 0; i-- {
			if o := &r.Calls[i]; o.Work && o.Measured && o.Stream == c.Stream {
				before = i
			}
		}
		next := before
		for _, w := range held[c.Stream] {
			if w.Call < end && w.Call > before && w.from >= 0 && w.from < end {
				next = w.from
				waits = append(waits, w.Call)
			}
		}
		end = next
	}
	return waits
}
