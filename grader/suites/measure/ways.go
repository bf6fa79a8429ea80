package measure

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// kind is one of the ways that Compare compares.
type kind struct {
	name  string
	round string // what a round is, for messages
	made  []trace.Op
	freed trace.Op
}

var kinds = []kind{
	{"Synchronous", "cuda.Malloc of all elements, kernels.Gray on them in s, and cuda.Free", []trace.Op{trace.OpMalloc},
		trace.OpFree},
	{"Ordered", "cuda.MallocAsync of all elements in s, kernels.Gray on them in s, and cuda.FreeAsync in s",
		[]trace.Op{trace.OpMallocAsync, trace.OpMallocFromPoolAsync}, trace.OpFreeAsync},
	{"Kept", "kernels.Gray in s, on memory that was there before", nil, trace.OpNone},
}

// way is a kind with the clock that measured it.
type way struct {
	kind
	clock
	timed  bool    // there is such a clock
	answer float64 // of Compare, in milliseconds
	whole  int     // rounds of its kind between the records
	stray  int     // the first record there that is of no such round; -1 if all are
	why    string  // what is wrong with it, in a clause
}

// ways are those of one call, in the order of kinds. Of all the clocks each gets one that says what was answered for
// it, and that has rounds of its kind on it, warm ones, as far as such can be had; where all is alike, in their order.
func (c call) ways() []way {
	return verdict.Once(c.Notes, fmt.Sprint("ways of call ", c.From), func() []way {
		read := c.clocks()
		all := make([]way, len(kinds))
		fits := make([][]int, len(kinds))
		for i, k := range kinds {
			all[i] = way{kind: k, answer: c.answers()[i], stray: -1}
			for _, clock := range read {
				fits[i] = append(fits[i], c.fit(all[i], clock))
			}
		}
		for i, at := range assign(fits) {
			if at >= 0 {
				all[i].clock, all[i].timed = read[at], true
				all[i].of = "the clock of " + all[i].name
				all[i].whole, all[i].stray, all[i].why = c.roundsOf(all[i].kind, read[at])
			}
		}
		return all
	})
}

// fit is how well a clock goes with a way.
func (c call) fit(w way, k clock) (points int) {
	if c.says(k, w.answer) {
		points += 2
	}
	if whole, stray, _ := c.roundsOf(w.kind, k); whole > 0 && stray < 0 {
		points += 3
		if w.clock = k; c.warm(w) {
			points++
		}
	}
	return points
}

// assign gives each way another clock, so that they fit best together, the earlier clocks first; -1 where there are too
// few. It is told how well each clock fits each way.
func assign(fits [][]int) []int {
	best, most := []int(nil), -1
	var try func(given []int, points int)
	try = func(given []int, points int) {
		if len(given) == len(fits) {
			if points > most {
				best, most = slices.Clone(given), points
			}
			return
		}
		fit := fits[len(given)]
		for _, at := range foremost(fit, len(fits)) {
			if !slices.Contains(given, at) {
				try(append(given, at), points+1+fit[at])
			}
		}
		if len(fit) < len(fits) {
			try(append(given, -1), points)
		}
	}
	try(nil, 0)
	return best
}

// foremost are the n clocks that fit best: one of them is always left over by the others' ways.
func foremost(fit []int, n int) []int {
	all := make([]int, len(fit))
	for at := range all {
		all[at] = at
	}
	slices.SortStableFunc(all, func(a, b int) int { return fit[b] - fit[a] })
	return all[:min(n, len(all))]
}

// roundOp reports whether a call may be of a round of some kind.
func roundOp(op trace.Op) bool {
	switch op {
	case trace.OpMalloc, trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpLaunch, trace.OpFree, trace.OpFreeAsync:
		return true
	}
	return false
}

// roundsOf reads what lies between a clock's records as rounds of a kind: how many are whole, and the first call that
// is of none.
func (c call) roundsOf(k kind, on clock) (whole, stray int, why string) {
	stray = -1
	memory := trace.ID(0) // of the round that has begun
	launched := false
	c.Records(func(at int, r *trace.Record) bool {
		if !on.around(at) || !roundOp(r.Op) || r.Code != 0 {
			return true
		}
		if why = c.wrongStep(k, r, memory, launched); why != "" {
			stray = at
			return false
		}
		switch {
		case slices.Contains(k.made, r.Op):
			memory = r.Alloc
		case r.Op == trace.OpLaunch:
			launched = true
		}
		if r.Op == k.freed || k.made == nil {
			memory, launched = 0, false
			whole++
		}
		return true
	})
	if stray < 0 && memory != 0 {
		stray, why = on.Stop, "the second event is recorded in the middle of a round"
	}
	return whole, stray, why
}

// wrongStep says in a clause why a call is not the next of a round that has this memory and was launched or not; ""
// where it is.
func (c call) wrongStep(k kind, r *trace.Record, memory trace.ID, launched bool) string {
	if r.Op != trace.OpMalloc && r.Op != trace.OpFree && r.Stream != c.s() {
		return fmt.Sprintf("%s is in %s", suite.CallName(r), c.streamName(r.Stream))
	}
	expected, size, next := []trace.Op{trace.OpLaunch}, int64(0), "kernels.Gray"
	switch {
	case k.made != nil && memory == 0:
		expected, size, next = k.made, r.Size, "cuda."+k.made[0].String()
	case launched:
		expected, next = []trace.Op{k.freed}, "cuda."+k.freed.String()
	case r.Op == trace.OpLaunch && len(r.Accesses) > 0:
		size = r.Accesses[0].Size
	}
	whole := 4 * int64(c.W.n)
	switch {
	case !slices.Contains(expected, r.Op) || r.Op == trace.OpLaunch && r.Kernel != kernel:
		return fmt.Sprintf("%s comes where %s should", suite.CallName(r), next)
	case size != whole && !launched:
		does := map[bool]string{true: "writes", false: "asks for"}[r.Op == trace.OpLaunch]
		return fmt.Sprintf("%s %s %s instead of %s", suite.CallName(r), does, suite.Bytes(uint64(size)),
			suite.Bytes(uint64(whole)))
	case memory != 0 && r.Op == trace.OpLaunch && r.Accesses[0].Alloc != memory, memory != 0 && r.Op == k.freed &&
		r.Alloc != memory:
		return suite.CallName(r) + " is of other memory than the round's"
	}
	return ""
}

// wayOnClock finds a clock with too few or too many rounds on it, or none to warm up before.
func (c call) wayOnClock(w way) []verdict.Finding {
	switch {
	case w.stray >= 0:
		return nil // told as a round of another shape
	case w.whole < c.W.rounds:
		return []verdict.Finding{c.tooLittle(w.clock, w.whole)}
	case !c.warm(w):
		return []verdict.Finding{c.Finding(w.Start, coldRule,
			"%s should start behind a round of its own kind that warms up, but there is none.", w.of)}
	case w.whole > c.W.rounds:
		return []verdict.Finding{c.Finding(w.Stop, tooMuchRule,
			"between the two records of %s should be %s and nothing else, but there are %d.",
			w.of, c.W.onClock(), w.whole)}
	}
	return nil
}

// warm reports whether a round of the way's kind comes before its clock.
func (c call) warm(w way) bool {
	before := clock{Clock: suite.Clock{Start: c.From - 1, Stop: w.Start}}
	if w.made == nil {
		return c.launchedOn(before, c.keptMemory(w.clock))
	}
	// Whatever else is there: a piece of memory that was made, written and freed as in a round.
	made := map[trace.ID]bool{}
	warm := false
	c.Records(func(at int, r *trace.Record) bool {
		if !before.around(at) || r.Code != 0 {
			return at < w.Start
		}
		switch {
		case slices.Contains(w.made, r.Op) && c.wrongStep(w.kind, r, 0, false) == "":
			made[r.Alloc] = false
		case r.Op == trace.OpLaunch && len(r.Accesses) > 0:
			if _, known := made[r.Accesses[0].Alloc]; known {
				made[r.Accesses[0].Alloc] = c.wrongStep(w.kind, r, r.Accesses[0].Alloc, false) == ""
			}
		case r.Op == w.freed && made[r.Alloc]:
			warm = true
		}
		return !warm
	})
	return warm
}

// keptMemory is what the kernels on a clock wrote to.
func (c call) keptMemory(on clock) (memory []trace.ID) {
	c.Records(func(at int, r *trace.Record) bool {
		if on.around(at) && r.Op == trace.OpLaunch && len(r.Accesses) > 0 {
			memory = append(memory, r.Accesses[0].Alloc)
		}
		return true
	})
	return memory
}

// launchedOn reports whether a kernel was launched on some memory between two records.
func (c call) launchedOn(on clock, memory []trace.ID) bool {
	return slices.ContainsFunc(c.keptMemory(on), func(m trace.ID) bool { return slices.Contains(memory, m) })
}
