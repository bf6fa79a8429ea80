package mend

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"cudalab/grader/judge/edits"
	"cudalab/grader/judge/run"
)

// mostPaired is of how many candidates pairs are made, of those of one kind, and mostPairs how many pairs there are.
const (
	mostPaired = 24
	mostPairs  = 280
)

// pairs are two candidates at a time, for two mistakes that one check sees: of those with which some of the errors are
// gone, and of the places in which the code and the solution part.
func pairs(all []*candidate) (made []*candidate) {
	single := only(all, func(c *candidate) bool { return c.compiles && c.second == nil && len(c.changes) == 1 })
	// Behind an error that is gone one may show that it has hidden.
	better := only(single, func(c *candidate) bool { return c.gone > 0 && c.gone+1 >= c.more })
	slices.SortStableFunc(better, func(a, b *candidate) int { return cmp.Compare(b.gone-b.more, a.gone-a.more) })
	better = apart(better)
	hunks := only(single, func(c *candidate) bool { return c.hunk })
	done := map[[2]*candidate]bool{}
	for _, some := range [][]*candidate{better, hunks[:min(len(hunks), mostPaired)]} {
		for i, a := range some {
			for _, b := range some[:i] {
				a, b := a, b
				if a.changes[0].From > b.changes[0].From {
					a, b = b, a
				}
				x, y := a.changes[0], b.changes[0]
				if x.To > y.From || a.line() == b.line() || done[[2]*candidate{a, b}] || len(made) == mostPairs {
					continue
				}
				done[[2]*candidate{a, b}] = true
				made = append(made, &candidate{changes: []edits.Change{x, y}, guided: a.guided && b.guided, what: "pair",
					function: a.function, second: b})
			}
		}
	}
	return made
}

// mostInLine is how many candidates of one line are paired.
const mostInLine = 4

// apart are the first of some candidates, few of each line.
func apart(some []*candidate) (kept []*candidate) {
	type place struct {
		*function
		line int
	}
	in := map[place]int{}
	for _, c := range some {
		at := place{c.function, c.line()}
		if in[at]++; in[at] <= mostInLine && len(kept) < mostPaired {
			kept = append(kept, c)
		}
	}
	return kept
}

// compared is how many of the errors of a trial are gone in another, and how many are new there. Errors that differ in
// numbers alone are the same. None are gone where less was carried out: then they are only not reached.
func compared(before, now run.Trial) (gone, more int) {
	was, is := errorsOf(before), errorsOf(now)
	callsBefore, badBefore := reached(before)
	if calls, bad := reached(now); bad > badBefore || calls < callsBefore*4/5 {
		return 0, len(is)
	}
	for e := range was {
		if !is[e] {
			gone++
		}
	}
	for e := range is {
		if !was[e] {
			more++
		}
	}
	return gone, more
}

// reached is how many calls of CUDA's a trial has, and how many of its tests ended in an error or a panic.
func reached(t run.Trial) (calls, bad int) {
	for _, c := range t.Cases {
		calls += len(c.Trace.Records)
		for _, o := range c.Outcomes {
			if o.Err != "" || o.Panic != "" {
				bad++
			}
		}
	}
	return calls, bad
}

func errorsOf(t run.Trial) map[string]bool {
	all := map[string]bool{}
	for _, c := range t.Checks {
		for _, f := range c.Findings {
			if f.Root() {
				all[f.Rule+" "+strings.Map(func(r rune) rune {
					if unicode.IsDigit(r) {
						return -1
					}
					return r
				}, f.Message)] = true
			}
		}
	}
	return all
}
