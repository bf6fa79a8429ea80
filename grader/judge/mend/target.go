package mend

import (
	"slices"
	"strings"

	"cudalab/grader/judge/check"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

// target is what is to pass.
type target struct {
	check  verdict.Check
	needs  []string // its cases
	timed  bool
	lines  map[string]map[int]bool
	failed map[string]bool // all checks that failed
	rules  map[string]bool // of the errors
}

// targetOf is the first check that has failed, of those about time only where all others have passed and the clock is
// the simulated device's.
func targetOf(r check.Result, s *suite.Suite) (target, bool) {
	if r.Err != nil || r.Place == nil {
		return target{}, false
	}
	t := target{lines: map[string]map[int]bool{}, failed: map[string]bool{}, rules: map[string]bool{}}
	for _, c := range r.Report.Checks {
		if c.Status != verdict.Failed {
			continue
		}
		t.failed[c.ID] = true
		for _, f := range c.Findings {
			if f.Severity != verdict.Error {
				continue
			}
			if f.Root() {
				t.rules[strings.TrimSuffix(f.Rule, "-on-error")] = true
			}
			t.add(f.File, f.Line)
			for _, other := range f.Related {
				t.add(other.File, other.Line)
			}
		}
	}
	for _, t.timed = range []bool{false, true} {
		for _, c := range r.Report.Checks {
			if c.Status == verdict.Failed && s.IsTimed(c.ID) == t.timed && (!t.timed || r.Report.Device.Kind == "sim") {
				i := slices.IndexFunc(s.Checks, func(q suite.Question) bool { return q.ID == c.ID })
				t.check, t.needs = c, s.Checks[i].Needs
				return t, true
			}
		}
	}
	return target{}, false
}

func (t *target) add(file string, line int) {
	if t.lines[file] == nil {
		t.lines[file] = map[int]bool{}
	}
	t.lines[file][line] = true
}

// about reports whether an error has one of some rules.
func (t *target) about(rules []string) bool {
	return slices.ContainsFunc(rules, func(rule string) bool { return t.rules[rule] })
}

// near is how far a line is from the next of those that the findings are about; very far where there is none.
func (t *target) near(file string, line int) int {
	least := 1 << 20
	for l := range t.lines[file] {
		least = min(least, max(l-line, line-l))
	}
	return least
}
