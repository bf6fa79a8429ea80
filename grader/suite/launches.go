package suite

import (
	"cmp"
	"fmt"
	"slices"

	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Launch is one launch of a kernel: over how many bytes of memory, and which of its arguments are which numbers.
type Launch struct {
	Kernel  string
	Bytes   int64    // at least
	First   int      // the place of the first of Numbers among the arguments
	Numbers []uint64 // those that stand side by side there
	// Words say of any launch of the kernel what it is given: "over 5 words with 7 rounds of work".
	Words func(bytes int64, numbers []uint64) string
}

// WrongLaunch is the rule of a launch with other numbers than it should have, and what mends it.
func WrongLaunch(fix string) Rule {
	return Rule{ID: launchRule, Fix: fix, Why: "A kernel does what its arguments say, and no more: numbers that " +
		"were rounded, cut or left out change what it computes."}
}

const launchRule = "wrong-launch"

// made is a launch of a call's, by its record.
type made struct {
	Launch
	record int
}

// Unlaunched finds the first launch that a far call should have made and has not. Where a kernel is launched with the
// same numbers several times, the largest have to be as large as the largest are to be, whichever is which.
func (m *Made[W]) Unlaunched(launches []Launch) []verdict.Finding {
	if !m.Outcome.OK() {
		return nil
	}
	should, places := map[string][]Launch{}, map[string]Launch{}
	for _, l := range launches {
		should[l.key()] = append(should[l.key()], l)
		places[l.Kernel] = l
	}
	are := map[string][]made{}
	known := func(r *trace.Record) bool { return r.Op == trace.OpLaunch && places[r.Kernel].Words != nil }
	for _, at := range m.All(known) {
		l := launchOf(m.Record(at), places)
		are[l.key()] = append(are[l.key()], made{l, at})
	}
	largest := func(a, b Launch) int { return cmp.Compare(b.Bytes, a.Bytes) }
	for _, l := range launches {
		all, got := should[l.key()], are[l.key()]
		slices.SortStableFunc(all, largest)
		slices.SortStableFunc(got, func(a, b made) int { return largest(a.Launch, b.Launch) })
		for i, want := range all {
			if i < len(got) && got[i].Bytes >= want.Bytes {
				continue
			}
			var small []made
			if len(got) >= len(all) {
				small = got[i:]
			}
			return []verdict.Finding{m.notLaunched(want, small, are, should)}
		}
	}
	return nil
}

// key is what tells launches of different arguments apart.
func (l Launch) key() string { return fmt.Sprint(l.Kernel, l.Numbers) }

// launchOf is the launch of a record, with its numbers at the places that are asked about.
func launchOf(r *trace.Record, places map[string]Launch) Launch {
	l := places[r.Kernel]
	l.Bytes = 0
	for _, a := range r.Accesses {
		l.Bytes = max(l.Bytes, a.Size)
	}
	l.Numbers = make([]uint64, len(l.Numbers))
	if r.Given != nil && l.First < len(r.Given.Args) {
		copy(l.Numbers, r.Given.Args[l.First:])
	}
	return l
}

// notLaunched is the finding about a launch that is missing, on the line of one that is too small, or that nobody has
// asked for.
func (m *Made[W]) notLaunched(want Launch, small []made, are map[string][]made,
	should map[string][]Launch) verdict.Finding {
	strays := slices.Clone(small)
	for key, all := range are {
		if len(should[key]) == 0 && all[0].Kernel == want.Kernel {
			strays = append(strays, all...)
		}
	}
	name := CallName(&trace.Record{Op: trace.OpLaunch, Kernel: want.Kernel})
	rule := WrongLaunch("Launch the kernel with the numbers as they were given, by a grid that covers all of them: (n " +
		"+ block - 1) / block blocks.")
	if len(strays) == 0 {
		return m.Finding(-1, rule, "%s should be launched %s, but is not.", name, want.Words(want.Bytes, want.Numbers))
	}
	first := slices.MinFunc(strays, func(a, b made) int { return cmp.Compare(a.record, b.record) })
	return m.Finding(first.record, rule, "%s should be launched %s, but is launched %s.", name,
		want.Words(want.Bytes, want.Numbers), first.Words(first.Bytes, first.Numbers))
}
