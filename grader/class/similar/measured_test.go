package similar_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/similar"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/suites/course"
)

const root = "../../.."

const measuredFile = "testdata/measured.txt"

var record = flag.Bool("record", false, "write what was measured to "+measuredFile)

// author is a program and whose work is in it.
type author struct {
	similar.Program
	of   []string        // names of right programs
	kind string          // "" for a right program itself
	kin  map[string]bool // right programs that are related to one of these
}

// related reports whether two right programs have half of the lines of the shorter one in common, to the letter, those
// that everybody was given aside: the corpus's author wrote one with the other at hand. Such a pair is neither copied
// nor independent, and is counted nowhere.
func related(a, b, given string) bool {
	lines := func(text string) map[string]bool {
		found := map[string]bool{}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) > 12 {
				found[line] = true
			}
		}
		return found
	}
	of, with := lines(a), lines(b)
	for line := range lines(given) {
		delete(of, line)
		delete(with, line)
	}
	shared := 0
	for line := range of {
		shared += one(with[line])
	}
	return 2*shared >= min(len(of), len(with))
}

// byOneHand are exercises in which one hand has written a part for all the right programs, so that none are
// independent.
var byOneHand = []string{"async-pipeline", "pool-config"}

// classOf is a class that hands in one exercise: the corpus's right programs with a file of their own, which were
// written independently, and copies of each in every disguise. Edits of other programs are left out: they are copies
// themselves.
func classOf(t testing.TB, check *checker, e course.Exercise) (authors []author) {
	t.Helper()
	programs, err := corpus.Programs(root, e.Package)
	require.NoError(t, err)
	var right []corpus.Program
	given := ""
	for _, p := range programs {
		if p.Kind == corpus.Solution || p.Kind == corpus.Skeleton {
			given += p.Text
		}
		file := filepath.Join(root, filepath.FromSlash(corpus.Folder(e.Package)), p.String()+".go")
		if _, err := os.Stat(file); p.Kind == corpus.Right && err == nil {
			right = append(right, p)
		}
	}
	add := func(text, kind string, of ...string) {
		id := strings.Join(of, "+") + " " + kind
		kin := map[string]bool{}
		for _, p := range right {
			for _, q := range right {
				if slices.Contains(of, p.Name) && p.Name != q.Name &&
					(slices.Contains(byOneHand, e.Name) || related(p.Text, q.Text, given)) {
					kin[q.Name] = true
				}
			}
		}
		authors = append(authors,
			author{similar.Program{ID: id, Files: []similar.File{{Name: e.Package + ".go", Text: text}}}, of, kind, kin})
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range right {
		add(p.Text, "", p.Name)
		for _, d := range disguises {
			if made, ok := d.make(check, r, p.Text); ok {
				add(made, d.name, p.Name)
			}
		}
		for _, q := range right {
			if p.Name == q.Name {
				continue
			}
			if made, ok := merged(check, r, p.Text, q.Text); ok {
				if made, ok := renamed(check, r, made); ok {
					add(made, "two merged", p.Name, q.Name)
				}
			}
		}
	}
	return authors
}

func baseOf(t testing.TB, e course.Exercise) *similar.Base {
	t.Helper()
	given, err := similar.GivenFor(root, e)
	require.NoError(t, err)
	return given.Base()
}

// kinds are the table's columns of copies, in their order.
var kinds = []string{"renamed", "reordered", "comments", "helpers", "all of these", "dead code", "two merged"}

// tally is what came of comparing some programs.
type tally struct {
	copies, found, short  int // copies that were made, are listed with an origin, are too short to tell
	listed, truly         int // pairs; those with an origin in common
	pairs, falsely        int // of independent programs; those that are listed
	kin, kinListed        int // pairs that are related; those that are listed
	independent, tooShort int
	leastOwn, mostOwn     int
}

func (n *tally) add(m tally) {
	n.copies, n.found, n.short = n.copies+m.copies, n.found+m.found, n.short+m.short
	n.listed, n.truly = n.listed+m.listed, n.truly+m.truly
	n.pairs, n.falsely = n.pairs+m.pairs, n.falsely+m.falsely
	n.kin, n.kinListed = n.kin+m.kin, n.kinListed+m.kinListed
	n.independent, n.tooShort = n.independent+m.independent, n.tooShort+m.tooShort
}

// compare counts what comes of a class.
func compare(t testing.TB, authors []author, base *similar.Base) (n tally) {
	t.Helper()
	var programs []similar.Program
	for _, a := range authors {
		programs = append(programs, a.Program)
	}
	result, err := similar.Compare(t.Context(), programs, base, similar.Options{})
	require.NoError(t, err)
	found := map[int]bool{} // copies
	for _, p := range result.Pairs {
		a, b := authors[p.A], authors[p.B]
		shares := slices.ContainsFunc(a.of, func(name string) bool { return slices.Contains(b.of, name) })
		if !shares && slices.ContainsFunc(a.of, func(name string) bool { return b.kin[name] }) {
			n.kinListed++
			continue
		}
		n.listed++
		switch {
		case shares:
			n.truly++
			found[p.A], found[p.B] = found[p.A] || b.kind == "", found[p.B] || a.kind == ""
		case a.kind+b.kind == "":
			n.falsely++
		}
	}
	for _, s := range result.Shared {
		for _, i := range s.In {
			found[i] = found[i] || slices.ContainsFunc(s.In, func(j int) bool {
				return authors[j].kind == "" && slices.Contains(authors[i].of, authors[j].of[0])
			})
		}
	}
	for i, a := range authors {
		s := result.Programs[i]
		if a.kind != "" {
			n.copies++
			n.found += one(found[i])
			n.short += one(s.TooLittle())
			continue
		}
		for _, b := range authors[:i] {
			if kin := a.kin[b.of[0]]; b.kind == "" {
				n.pairs += one(!kin)
				n.kin += one(kin)
			}
		}
		if n.independent == 0 {
			n.leastOwn = s.Own
		}
		n.independent++
		n.tooShort += one(s.TooLittle())
		n.leastOwn, n.mostOwn = min(n.leastOwn, s.Own), max(n.mostOwn, s.Own)
	}
	return n
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func of(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", n, all)
}

// TestMeasured holds the table of precision and recall to what comes of the corpus and of copies made of it. A class is
// the right programs of an exercise and their copies in one disguise.
func TestMeasured(t *testing.T) {
	c, err := course.Open(root)
	require.NoError(t, err)
	check := newChecker(t)
	want, err := os.ReadFile(measuredFile)
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("| exercise | own tokens | too short to tell | independent pairs listed |")
	for _, kind := range kinds {
		fmt.Fprintf(&b, " %s |", kind)
	}
	b.WriteString("\n|---|--:|--:|--:|" + strings.Repeat("--:|", len(kinds)) + "\n")
	var right, copies tally
	sums := map[string]*tally{}
	for _, kind := range kinds {
		sums[kind] = &tally{}
	}
	for _, e := range c.Exercises {
		if !*record && !strings.Contains(string(want), "\n| "+e.Name+" |") {
			continue // a lesson that has come since
		}
		authors, base := classOf(t, check, e), baseOf(t, e)
		in := func(kinds ...string) (class []author) {
			for _, a := range authors {
				if slices.Contains(kinds, a.kind) {
					class = append(class, a)
				}
			}
			return class
		}
		alone := compare(t, in(""), base)
		right.add(alone)
		length := "–"
		if alone.independent > 0 {
			length = fmt.Sprintf("%d to %d", alone.leastOwn, alone.mostOwn)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |", e.Name, length, of(alone.tooShort, alone.independent),
			of(alone.falsely, alone.pairs))
		for _, kind := range kinds {
			n := compare(t, in("", kind), base)
			sums[kind].add(n)
			copies.add(n)
			fmt.Fprintf(&b, " %s |", of(n.found, n.copies))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "| all | | %s | %s |", of(right.tooShort, right.independent), of(right.falsely, right.pairs))
	for _, kind := range kinds {
		fmt.Fprintf(&b, " %s |", of(sums[kind].found, sums[kind].copies))
	}
	fmt.Fprintf(&b, "\n\nOf %d pairs listed in all these classes %d have an origin in common: a precision of %.1f %%. Of "+
		"%d copies %d are listed with an origin: a recall of %.1f %%. Of the other %d, %d are too short to tell. %d pairs "+
		"of right programs are related: of these %d are listed, and they are counted nowhere.\n", copies.listed, copies.truly,
		percent(copies.truly, copies.listed), copies.copies, copies.found, percent(copies.found, copies.copies),
		copies.copies-copies.found, copies.short, right.kin, right.kinListed)
	fmt.Fprintf(&b, "\nIn classes of %d, of which some have copies of one program, each disguised by itself, so many of "+
		"those who have it are listed with "+
		"another of them:\n\n%s", classSize, rings(t, check, c))
	if *record {
		want = []byte(b.String())
		require.NoError(t, os.WriteFile(measuredFile, want, 0o644))
	}
	require.Equal(t, string(want), b.String(), "if this is meant, write it anew with -record, read the diff and run go "+
		"generate ./lessons")
	require.Greater(t, percent(copies.truly, copies.listed), 90.0)
	require.Greater(t, percent(copies.found, copies.copies-copies.short), 90.0)
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(of) }
