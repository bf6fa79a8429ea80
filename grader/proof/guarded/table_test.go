package guarded

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/corpus"
	"cudalab/grader/suites/course"
)

// table is what became of a lesson's pairs.
type table struct {
	known   []*listed
	results map[Kind]*[fates]int
	wrong   map[string]bool // the wrong programs that were tried
	blind   map[string]int  // checks and a case that they do not look at: how many pairs pass there
	holes   []result        // those and others
	like    int             // pairs that are like another one, or like no guard, on all that was seen
	held    int             // pairs of which the predicate held somewhere
	ranges  string
	seconds float64
}

func (t *table) count(r result) {
	if t.results == nil {
		t.results, t.wrong, t.blind = map[Kind]*[fates]int{}, map[string]bool{}, map[string]int{}
	}
	if t.results[r.Kind] == nil {
		t.results[r.Kind] = &[fates]int{}
	}
	t.results[r.Kind][r.fate]++
	t.wrong[r.Wrong.String()] = true
	switch r.fate {
	case elsewhere:
		id, _, _ := strings.Cut(r.where, ":")
		t.blind[strings.Join(r.Wrong.Program.Expect().Fails, " ")+" in "+id]++
		t.holes = append(t.holes, r)
	case passed:
		t.holes = append(t.holes, r)
	}
}

// drawn notes which numbers were seen, in untimed cases and with the timed ones. Those of the first program are enough.
func (t *table) drawn(b *bench) {
	if t.ranges != "" {
		return
	}
	var s strings.Builder
	for _, f := range b.functions {
		for i, o := range f.observed {
			if o.kind == shape {
				continue
			}
			untimed, all := b.untimed.drawn(f, i), b.seen.drawn(f, i)
			fmt.Fprintf(&s, "%-45s %s", f.name+": "+o.name, untimed)
			if all != untimed {
				fmt.Fprintf(&s, "   with the timed cases %s", all)
			}
			fmt.Fprintln(&s)
		}
	}
	t.ranges = s.String()
}

// String is what became of the pairs by the kinds of predicates, what was drawn, and the holes.
func (t *table) String() string {
	var b strings.Builder
	row := func(name string, counts [fates]int) {
		fmt.Fprintf(&b, "%-12s", name)
		for _, n := range counts {
			fmt.Fprintf(&b, " %12d", n)
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintf(&b, "%-12s", "predicate")
	for _, name := range fateNames {
		fmt.Fprintf(&b, " %12s", name)
	}
	fmt.Fprintln(&b)
	var sum [fates]int
	tried := 0
	for _, k := range kinds {
		if counts := t.results[k]; counts != nil {
			row(string(k), *counts)
			for f, n := range counts {
				sum[f] += n
				if fate(f) != never {
					tried += n
				}
			}
		}
	}
	row("all", sum)
	fmt.Fprintf(&b, "%d wrong programs, %d pairs in %.0f s; of %d drawn ones the predicate held, and %d are like others\n",
		len(t.wrong), tried, t.seconds, t.held, t.like)
	fmt.Fprintf(&b, "\nWhat came in, by its powers of two:\n%s\nWhat checks do not look at:\n", t.ranges)
	for _, checks := range slices.Sorted(maps.Keys(t.blind)) {
		fmt.Fprintf(&b, "%5d  %s\n", t.blind[checks], checks)
	}
	var lines []string
	for _, h := range t.holes {
		lines = append(lines, fmt.Sprintf("%-12s %s\t%s\n", fateNames[h.fate], h.Pair, h.where))
	}
	slices.Sort(lines)
	return b.String() + "\nHoles:\n" + strings.Join(lines, "")
}

// listed are holes that are known, with the reason why they are there. In what they are told by "*" is for anything.
type listed struct {
	line                    string
	wrong, predicate, where *regexp.Regexp
	found                   bool
}

// passing are the holes that are known of a lesson. A line of the list is the wrong program, the predicate, where it is
// something else than the right one, and the reason, with tabs between. Of a spoilt call it is where a panic would be
// told.
func passing(t *testing.T, exercisePackage string) (all []*listed) {
	text, err := os.ReadFile(listOf(exercisePackage))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	pattern := func(s string) *regexp.Regexp {
		return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(s), `\*`, ".*") + "$")
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		columns := strings.Split(line, "\t")
		require.Len(t, columns, 4, "%s: a line without its reason: %s", listOf(exercisePackage), line)
		all = append(all, &listed{line, pattern(columns[0]), pattern(columns[1]), pattern(columns[2]), false})
	}
	return all
}

func listOf(exercisePackage string) string { return filepath.Join("testdata", exercisePackage+".txt") }

// isListed reports whether a hole is known.
func isListed(known []*listed, h result) (is bool) {
	for _, l := range known {
		if l.wrong.MatchString(h.Wrong.String()) && l.predicate.MatchString(h.Predicate.String()) &&
			l.where.MatchString(h.where) {
			is, l.found = true, true
		}
	}
	return is
}

// spoils reports whether the hole is of spoilt calls; see Spoilt.
func (l *listed) spoils() bool {
	return strings.Contains(l.line, ": ") && strings.HasPrefix(l.line, spoilt)
}

// complain fails the test for every hole that is not listed, and with every pair tried for what is listed and no hole.
func (t *table) complain(test *testing.T, exercisePackage string) {
	for _, h := range t.holes {
		if !isListed(t.known, h) && h.fate != elsewhere { // which fails when a check comes to look at it
			tell := test.Errorf
			if *lesson == "" {
				tell = test.Logf // a sample is to say that guarded programs can be made and tried; what is open is listed later
			}
			tell("%s passes, and differs in %s. Have the suite fail it, or list it in %s with the reason why the "+
				"contract allows it: the wrong program, the predicate, where it differs, and the reason, with tabs between.",
				h.Pair, h.where, listOf(exercisePackage))
		}
	}
	for _, l := range t.known {
		if *all && !l.found && !l.spoils() {
			test.Errorf("no pair passes that is listed in %s: %s", listOf(exercisePackage), l.line)
		}
	}
}

func TestWhatIsListedIsThere(t *testing.T) {
	c, err := course.Open("../../..")
	require.NoError(t, err)
	lists, err := filepath.Glob(listOf("*"))
	require.NoError(t, err)
	require.NotEmpty(t, lists)
	for _, list := range lists {
		e, err := c.Find(strings.TrimSuffix(filepath.Base(list), ".txt"))
		require.NoError(t, err)
		programs, err := corpus.Programs(c.Root, e.Package)
		require.NoError(t, err)
		for _, l := range passing(t, e.Package) {
			require.True(t, l.spoils() || slices.ContainsFunc(programs, func(p corpus.Program) bool {
				return p.Kind == corpus.Wrong && l.wrong.MatchString(p.String())
			}), "%s lists a program that is not there: %s", list, l.line)
		}
	}
}
