package corpus

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/suite/verdict"
)

// Matrix counts what became of an exercise's programs that were checked: what they are against what the grader said of
// them.
type Matrix struct {
	exercise string
	counts   map[kind]map[string]int // by row and column
	checks   map[string]*tally       // by the check's ID
	order    []string                // of the checks
	rules    map[string]*tally
}

// NewMatrix is an exercise's matrix without any program.
func NewMatrix(exercise string) *Matrix {
	return &Matrix{exercise: exercise, counts: map[kind]map[string]int{}, checks: map[string]*tally{},
		rules: map[string]*tally{}}
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
	rows    = []kind{Solution, Skeleton, Half, Right, Wrong, Cheat}
)

// Add counts one program and what was said of it.
func (m *Matrix) Add(p Program, r verdict.Report) {
	x := p.Expect()
	m.count(p.Kind, column(x, r))
	for _, ch := range r.Checks {
		if !slices.Contains(m.order, ch.ID) {
			m.order = append(m.order, ch.ID)
		}
		tallyOf(m.checks, ch.ID).add(slices.Contains(x.Fails, ch.ID), ch.Status == verdict.Failed &&
			!slices.Contains(x.May, ch.ID))
	}
	for _, w := range x.Wants {
		tallyOf(m.rules, w.Rule).add(true, w.in(r))
	}
}

// Expect counts one program as if what has to be said of it had been.
func (m *Matrix) Expect(p Program) {
	x := p.Expect()
	switch {
	case x.Refused:
		m.count(p.Kind, refused)
	case x.Next != "":
		m.count(p.Kind, unfinished)
	case x.Wrong:
		m.count(p.Kind, forReason)
	default:
		m.count(p.Kind, passed)
	}
	for _, id := range x.Fails {
		tallyOf(m.checks, id).add(true, true)
	}
	for _, w := range x.Wants {
		tallyOf(m.rules, w.Rule).add(true, true)
	}
}

func (m *Matrix) count(k kind, column string) {
	if m.counts[k] == nil {
		m.counts[k] = map[string]int{}
	}
	m.counts[k][column]++
}

func tallyOf(tallies map[string]*tally, name string) *tally {
	if tallies[name] == nil {
		tallies[name] = &tally{}
	}
	return tallies[name]
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

func column(x expectation, r verdict.Report) string {
	switch {
	case r.Status == verdict.Passed:
		return passed
	case r.Status == verdict.Errored:
		return ungraded
	case len(x.Differences(r)) > 0:
		return otherwise
	case r.Status == verdict.Refused:
		return refused
	case r.Status == verdict.NotStarted || x.Next != "":
		return unfinished
	}
	return forReason
}

// String is the matrix in lines: what the programs are and what was said of them; which checks failed of those that had
// to; which rules were found on the lines that break them.
func (m *Matrix) String() string {
	var b strings.Builder
	table(&b, m.exercise, m.counts)
	fmt.Fprintf(&b, "%-36s %8s %8s %8s\n", "check", "must", "does", "besides")
	for _, id := range m.order {
		if id != "build" { // stands for the refusals, which are counted above
			t := m.checks[id]
			fmt.Fprintf(&b, "%-36s %8d %8d %8d\n", m.exercise+" "+id, t.wanted, t.found, t.stray)
		}
	}
	fmt.Fprintf(&b, "\n%-36s %8s %8s\n", "rule", "lines", "found")
	for _, rule := range slices.Sorted(maps.Keys(m.rules)) {
		fmt.Fprintf(&b, "%-36s %8d %8d\n", rule, m.rules[rule].wanted, m.rules[rule].found)
	}
	return b.String()
}

// MatrixFile is where an exercise's matrix on a device is kept, in the course at root.
func MatrixFile(root, exercisePackage, device string) string {
	return filepath.Join(root, "grader", "suites", exercisePackage, "testdata", "matrix", device+".txt")
}

// Sum is the first table of several exercises' matrices as one, in lines.
func Sum(matrices ...string) (string, error) {
	all := map[kind]map[string]int{}
	for _, row := range rows {
		all[row] = map[string]int{}
	}
	for _, m := range matrices {
		lines := strings.Split(m, "\n")
		for i, row := range rows {
			cells := []string{}
			if i+1 < len(lines) {
				cells = strings.Fields(lines[i+1])
			}
			if len(cells) != 1+len(columns) || cells[0] != string(row) {
				return "", fmt.Errorf("line %d of a matrix should count the programs of kind %s:\n%s", i+2, row, m)
			}
			for j, c := range columns {
				n, err := strconv.Atoi(cells[j+1])
				if err != nil {
					return "", fmt.Errorf("line %d of a matrix: %w", i+2, err)
				}
				all[row][c] += n
			}
		}
	}
	var b strings.Builder
	table(&b, "all exercises", all)
	return b.String(), nil
}

func table(b *strings.Builder, title string, counts map[kind]map[string]int) {
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
