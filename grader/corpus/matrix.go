package corpus

import (
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/suite"
)

// Matrix counts what became of the programs that were checked: what they are against what the grader said of them.
type Matrix struct {
	lessons  []*lesson
	programs int
}

// Programs is how many have been counted.
func (m *Matrix) Programs() int { return m.programs }

type lesson struct {
	name   string
	counts map[Kind]map[string]int // by row and column
	checks map[string]*tally       // by the check's ID
	order  []string                // of the checks
	rules  map[string]*tally
}

// tally counts how often something is to be found, was, and was where it is not to be.
type tally struct{ wanted, found, stray int }

// The columns of a Matrix.
const (
	passed     = "passed"
	forReason  = "failed rightly"
	otherwise  = "failed otherwise"
	unfinished = "next gap told"
	refused    = "refused"
	ungraded   = "not graded"
)

var (
	columns = []string{passed, forReason, otherwise, unfinished, refused, ungraded}
	rows    = []Kind{Solution, Skeleton, Half, Right, Wrong, Cheat}
)

// Add counts one program of an exercise and what was said of it.
func (m *Matrix) Add(exercise string, p Program, r suite.Report) {
	l, x := m.lesson(exercise), p.Expect()
	if l.counts[p.Kind] == nil {
		l.counts[p.Kind] = map[string]int{}
	}
	l.counts[p.Kind][column(x, r)]++
	m.programs++
	for _, ch := range r.Checks {
		if _, known := l.checks[ch.ID]; !known {
			l.checks[ch.ID] = &tally{}
			l.order = append(l.order, ch.ID)
		}
		l.checks[ch.ID].add(slices.Contains(x.Fails, ch.ID), ch.Status == suite.Failed && !slices.Contains(x.May, ch.ID))
	}
	for _, w := range x.Wants {
		if l.rules[w.Rule] == nil {
			l.rules[w.Rule] = &tally{}
		}
		l.rules[w.Rule].add(true, w.in(r))
	}
}

func (t *tally) add(wanted, found bool) {
	switch {
	case wanted && found:
		t.wanted, t.found = t.wanted+1, t.found+1
	case wanted:
		t.wanted++
	case found:
		t.stray++
	}
}

func column(x Expectation, r suite.Report) string {
	switch {
	case r.Status == suite.Passed:
		return passed
	case r.Status == suite.Errored:
		return ungraded
	case len(x.Differences(r)) > 0:
		return otherwise
	case r.Status == suite.Refused:
		return refused
	case r.Status == suite.NotStarted || x.Next != "":
		return unfinished
	}
	return forReason
}

func (m *Matrix) lesson(name string) *lesson {
	for _, l := range m.lessons {
		if l.name == name {
			return l
		}
	}
	l := &lesson{name: name, counts: map[Kind]map[string]int{}, checks: map[string]*tally{}, rules: map[string]*tally{}}
	m.lessons = append(m.lessons, l)
	return l
}

// String is the matrix in lines: for all exercises and for each what its programs are and what was said of them; which
// checks failed of those that had to; which rules were found on the lines that break them.
func (m *Matrix) String() string {
	var b strings.Builder
	all := map[Kind]map[string]int{}
	rules := map[string]*tally{}
	for _, l := range m.lessons {
		for row, counts := range l.counts {
			if all[row] == nil {
				all[row] = map[string]int{}
			}
			for column, n := range counts {
				all[row][column] += n
			}
		}
		for rule, t := range l.rules {
			if rules[rule] == nil {
				rules[rule] = &tally{}
			}
			rules[rule].wanted += t.wanted
			rules[rule].found += t.found
		}
	}
	table(&b, "all exercises", all)
	for _, l := range m.lessons {
		table(&b, l.name, l.counts)
	}
	fmt.Fprintf(&b, "%-36s %8s %8s %8s\n", "check", "must", "does", "besides")
	for _, l := range m.lessons {
		for _, id := range l.order {
			if id != "build" { // stands for the refusals, which are counted above
				t := l.checks[id]
				fmt.Fprintf(&b, "%-36s %8d %8d %8d\n", l.name+" "+id, t.wanted, t.found, t.stray)
			}
		}
	}
	fmt.Fprintf(&b, "\n%-36s %8s %8s\n", "rule", "lines", "found")
	names := make([]string, 0, len(rules))
	for rule := range rules {
		names = append(names, rule)
	}
	slices.Sort(names)
	for _, rule := range names {
		fmt.Fprintf(&b, "%-36s %8d %8d\n", rule, rules[rule].wanted, rules[rule].found)
	}
	return b.String()
}

func table(b *strings.Builder, title string, counts map[Kind]map[string]int) {
	fmt.Fprintf(b, "%-20s", title)
	for _, c := range columns {
		fmt.Fprintf(b, " %16s", c)
	}
	b.WriteByte('\n')
	for _, row := range rows {
		fmt.Fprintf(b, "%-20s", row)
		for _, c := range columns {
			fmt.Fprintf(b, " %16d", counts[row][c])
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}
