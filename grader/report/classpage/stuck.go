package classpage

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/class"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/suite/verdict"
)

// stuck is what several have to mend next in an exercise.
type stuck struct {
	Exercise, What string
	Who            []sentence // without a text
	Percent        int        // of those who handed the exercise in
	Likely         string     // where one change is enough: functions with lines; "" where nobody knows of any
}

// mostStuck is how many of these the page shows, and mostNamed how many students of each.
const (
	mostStuck = 8
	mostNamed = 12
)

// MostNamed is mostNamed, for the template.
func (*content) MostNamed() int { return mostNamed }

// More is how many are not named.
func (s stuck) More() int { return max(0, len(s.Who)-mostNamed) }

// stuckAt are the places at which most students are, the first that each does not get past in an exercise.
func stuckAt(c *class.Class) []stuck {
	var all []stuck
	for i, e := range c.Exercises {
		at, lines, handedIn := map[string]*stuck{}, map[string][]verdict.Likely{}, 0
		var order []string
		for j := range c.Students {
			s := &c.Students[j]
			r, decided := s.Report(i)
			if !decided || r.Status == verdict.NotStarted {
				continue
			}
			handedIn++
			what := firstUnpassed(e, r)
			if what == "" {
				continue
			}
			if at[what] == nil {
				at[what] = &stuck{Exercise: e.Name, What: what}
				order = append(order, what)
			}
			at[what].Who = append(at[what].Who, sentence{ID: gradebook.Clean(s.ID), Link: link(c, s)})
			if r.Likely != nil {
				lines[what] = append(lines[what], *r.Likely)
			}
		}
		for _, what := range order {
			found := at[what]
			found.Likely = likelyLines(lines[what])
			found.Percent = (100*len(found.Who) + handedIn/2) / handedIn
			all = append(all, *found)
		}
	}
	slices.SortStableFunc(all, func(a, b stuck) int { return cmp.Compare(len(b.Who), len(a.Who)) })
	return all[:min(len(all), mostStuck)]
}

// likelyLines are functions with the lines in which one change is enough, those of most students first.
func likelyLines(all []verdict.Likely) string {
	slices.SortStableFunc(all, func(a, b verdict.Likely) int { return cmp.Compare(a.Line, b.Line) })
	lines := map[string][]string{}
	for _, l := range all {
		lines[l.Function] = append(lines[l.Function], strconv.Itoa(l.Line))
	}
	functions := slices.Sorted(maps.Keys(lines))
	slices.SortStableFunc(functions, func(a, b string) int { return cmp.Compare(len(lines[b]), len(lines[a])) })
	for i, f := range functions {
		some := lines[f][:min(len(lines[f]), mostNamed)]
		functions[i] = gradebook.Clean(f) + " " + strings.Join(some, ", ")
	}
	return strings.Join(functions, "; ")
}

// Searched reports whether anybody knows of such a line.
func (p *content) Searched() bool {
	return slices.ContainsFunc(p.Stuck, func(s stuck) bool { return s.Likely != "" })
}

// firstUnpassed is the first check of an exercise that a report says is not passed; "" where all are.
func firstUnpassed(e class.Exercise, r verdict.Report) string {
	switch r.Status {
	case verdict.Passed:
		return ""
	case verdict.BuildFailed:
		return "does not compile"
	case verdict.Refused:
		return "is refused"
	}
	for _, k := range e.Checks {
		if statusOf(r, k.ID) == verdict.Failed {
			return k.ID + ": " + k.Name
		}
	}
	for _, k := range e.Checks {
		if statusOf(r, k.ID) != verdict.Passed {
			return k.ID + ": " + k.Name
		}
	}
	return ""
}
