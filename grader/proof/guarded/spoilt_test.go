package guarded

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/run"
	"cudalab/grader/proof/sample"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// Of the calls of a function the first firstCalls are spoilt in turn, and drawnCalls of those behind them. A sample has
// so many pairs.
const (
	firstCalls = 8
	drawnCalls = 20
	fewSpoilt  = 24
)

// seenThrough are the lessons in which nothing is known to be unseen, so that a sample fails for it. Of the others it
// tells what it sees.
var seenThrough = []string{"async-pipeline", "pool-config", "cross-stream-events", "slab", "buddy", "measure",
	"overlap", "ring", "bug-clinic", "block-pool", "vmm-arena", "growable", "device-bump", "stream-pool", "tracker"}

// TestEverySpoiltCallIsSeen has one call of one function panic, leak, answer wrong or wait, whichever call that is.
// What every call of the function may do but those that are refused is allowed there, and nothing is asked of one.
func TestEverySpoiltCallIsSeen(t *testing.T) {
	c, err := course.Open("../../..")
	require.NoError(t, err)
	if *lesson == "" {
		e := c.Exercises[sample.Few("spoilt", len(c.Exercises), 1)[0]]
		spoilCalls(t, c, e, fewSpoilt)
		return
	}
	eachAsked(t, c, func(t *testing.T, e course.Exercise) { spoilCalls(t, c, e, mostPairs()) })
}

func spoilCalls(t *testing.T, c *course.Course, e course.Exercise, most int) {
	p, left, err := Spoilt(c.Root, e.Package)
	require.NoError(t, err)
	for _, u := range left {
		t.Errorf("%s cannot be spoilt: %v", u, u.Why)
	}
	b := build(t, c, e, precompile(c, e), p)
	r := rand.New(rand.NewPCG(*draw, uint64(len(e.Name))))
	var todo []Pair
	allowed, minded := map[string]bool{}, []string{}
	for _, w := range b.Wrong {
		for _, f := range b.functions {
			if !w.comesTo[f.name] || !strings.HasSuffix(w.Name, ": "+f.name) {
				continue
			}
			always := Pair{w, Predicate{Always, f, 0, whatever, 0}, 0}
			told := b.spoilt(t, always).Report
			if b.isAllowed(told) {
				allowed[w.Name] = true
				continue
			}
			minded = append(minded, w.Name+" ("+strings.Join(lost(told), " ")+")")
			for _, q := range b.someCalls(f, r) {
				if p := (Pair{w, q, 0}); strings.Contains(p.String(), *only) {
					todo = append(todo, p)
				}
			}
		}
	}
	r.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	todo = todo[:min(len(todo), most)]
	results := make([]run.Result, len(todo))
	each(len(todo), func(i int) { results[i] = b.spoilt(t, todo[i]) })
	unseen, listed, counted, same := []string{}, 0, 0, 0
	known := passing(t, e.Package)
	for i, r := range results {
		if r.Report.Status == verdict.Passed && !strings.Contains(r.Report.Output, entered) {
			continue // the call came in a process that was asked for less this time
		}
		counted++
		if r.Report.Status == verdict.Passed {
			if len(b.differs(t, todo[i], r)) == 0 {
				same++
			} else if one := b.place(t, todo[i]); isListed(known, one) {
				listed++
			} else {
				unseen = append(unseen, one.Pair.String()+"\n    "+one.where)
			}
			continue
		}
		assert.True(t, slices.ContainsFunc(r.Report.Checks, func(ch verdict.Check) bool {
			return ch.Status == verdict.Failed && len(ch.Findings) > 0
		}), "what fails is told: %s", todo[i])
	}
	slices.Sort(unseen)
	t.Logf("%s: %d spoilt calls, of which %d did the same as the right one, %d were not seen that are listed, and %d "+
		"that are not.\nAllowed in all calls: %s\nNot in all: %s\n%s", e.Name, counted, same, listed, len(unseen),
		strings.Join(slices.Sorted(maps.Keys(allowed)), "; "), strings.Join(minded, "; "), strings.Join(unseen, "\n"))
	if *lesson != "" || slices.Contains(seenThrough, e.Name) {
		assert.Zero(t, len(unseen), "some are not seen")
	}
}

// lost are the checks that do not pass, each with the rules that are broken.
func lost(r verdict.Report) (all []string) {
	for _, c := range r.Checks {
		if c.Status != verdict.Passed {
			one := c.ID
			for _, f := range c.Findings {
				one += "/" + f.Rule
			}
			all = append(all, one)
		}
	}
	return all
}

// isAllowed reports whether nobody minds but who asks for bad arguments to be refused before anything is done, or for
// the error of what spoils the call, which a function that answers none cannot tell. Behind that nothing is timed.
func (b *bench) isAllowed(r verdict.Report) bool {
	minds := func(f verdict.Finding) bool { return f.Rule != "error-ignored" && f.Severity == verdict.Error }
	return r.Status == verdict.Passed || !slices.ContainsFunc(r.Checks, func(c verdict.Check) bool {
		i := slices.IndexFunc(b.exercise.Suite.Checks, func(q suite.Question) bool { return q.ID == c.ID })
		return c.Status != verdict.Passed && !b.exercise.Suite.Checks[i].Aside && !b.exercise.Suite.IsTimed(c.ID) &&
			(len(c.Findings) == 0 || slices.ContainsFunc(c.Findings, minds))
	})
}

// spoilt checks a program with some calls spoilt.
func (b *bench) spoilt(t *testing.T, p Pair) run.Result {
	file, err := chosen(b.file, p)
	assert.NoError(t, err)
	return b.check(t, file, false)
}

// place has the check that tells a panic of the same call, and in which words: they say where the call is.
func (b *bench) place(t *testing.T, p Pair) result {
	way := slices.IndexFunc(b.Wrong, func(w Wrong) bool { return w.Name == "every panics: "+p.function.name })
	for _, c := range b.spoilt(t, Pair{b.Wrong[way], p.Predicate, 0}).Report.Checks {
		for _, f := range c.Findings {
			return result{Pair: p, where: c.ID + ": " + f.Message}
		}
	}
	return result{Pair: p}
}

// someCalls are predicates of single calls of a function that the right program is asked for.
func (b *bench) someCalls(f *function, r *rand.Rand) (all []Predicate) {
	variable := slices.IndexFunc(f.observed, func(o observed) bool { return o.kind == call })
	calls := int64(0)
	for _, v := range b.seen[[2]int{f.index, variable}] {
		calls = max(calls, v)
	}
	for k := int64(1); k <= min(firstCalls, calls); k++ {
		all = append(all, Predicate{OneCall, f, variable, is, k})
	}
	for range min(drawnCalls, max(calls-firstCalls, 0)) {
		all = append(all, Predicate{OneCall, f, variable, is, firstCalls + 1 + r.Int64N(calls-firstCalls)})
	}
	return all
}
