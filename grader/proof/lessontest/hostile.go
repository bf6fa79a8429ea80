package lessontest

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/order"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

var hostile = flag.Int("hostile", 3, "of how many `notes` that no runner would send each question is asked, behind "+
	"the check of the solution")

// patience is how long a question may take to be answered, whatever the notes.
const patience = 20 * time.Second

// answersWhatever asks each question of a suite about notes that a runner has sent, with something changed in them: a
// runner is the student's process, and may send anything. Whatever that is, the answer is one, and comes in time.
func answersWhatever(t *testing.T, s *suite.Suite, cases []*verdict.CaseNotes, place func(trace.Site) []verdict.Place) {
	r := rand.New(rand.NewPCG(seed, 0))
	for _, q := range s.Checks {
		for range *hostile {
			var change string
			spoilt := q.Needs[r.IntN(len(q.Needs))]
			e := evidenceOf(cases, place, func(n *verdict.CaseNotes) {
				if n.ID == spoilt {
					change = spoil(r, n)
				}
			})
			began := time.Now()
			func() {
				defer func() {
					if v := recover(); v != nil {
						require.Fail(t, fmt.Sprintf("%s, asked about notes of %s %s, panicked: %v\n%s", q.ID, spoilt, change, v,
							debug.Stack()))
					}
				}()
				q.Judge(e)
			}()
			require.Less(t, time.Since(began), patience, "%s, asked about notes of %s %s", q.ID, spoilt, change)
		}
	}
}

// findsNothingWithout asks each question about the solution with one drawn case lost, as a crash loses it: nothing is
// wrong with the others.
func findsNothingWithout(t *testing.T, s *suite.Suite, cases []*verdict.CaseNotes,
	place func(trace.Site) []verdict.Place) {
	for _, q := range s.Checks {
		lost := q.Needs[rand.IntN(len(q.Needs))]
		e := evidenceOf(cases, place, func(n *verdict.CaseNotes) {
			if n.ID == lost {
				*n = verdict.CaseNotes{ID: lost, Trace: &trace.Trace{}}
			}
		})
		for _, f := range q.Judge(e).Findings {
			require.NotEqual(t, verdict.Error, f.Severity, "%s, asked without %s: %s", q.ID, lost, f.Message)
		}
	}
}

// evidenceOf is a copy of some notes, with something changed in each.
func evidenceOf(cases []*verdict.CaseNotes, place func(trace.Site) []verdict.Place,
	change func(*verdict.CaseNotes)) *suite.Evidence {
	e := &suite.Evidence{Seed: seed, Place: place, Cases: map[string]*verdict.CaseNotes{},
		Relate: func(t *trace.Trace) suite.Relation { return order.Of(t) }}
	for _, c := range cases {
		n := &verdict.CaseNotes{ID: c.ID, Outcomes: slices.Clone(c.Outcomes), Values: maps.Clone(c.Values),
			Samples: maps.Clone(c.Samples), Trace: c.Trace, Findings: c.Findings}
		change(n)
		e.Cases[c.ID] = n
	}
	return e
}

var odd = []uint64{0, 1, 2, 3, 255, 256, math.MaxInt32, math.MaxUint32, 1 << 40, math.MaxInt64, 1 << 63,
	math.MaxUint64 - 1, math.MaxUint64}

// spoil changes something in a case's notes, and says what.
func spoil(r *rand.Rand, n *verdict.CaseNotes) string {
	any := func() uint64 { return odd[r.IntN(len(odd))] }
	names := slices.Sorted(maps.Keys(n.Values))
	switch r.IntN(6) {
	case 0, 1:
		if len(names) == 0 {
			break
		}
		name := names[r.IntN(len(names))]
		values := slices.Clone(n.Values[name])
		n.Values[name] = values
		if r.IntN(4) == 0 {
			n.Values[name] = values[:r.IntN(len(values)+1)]
			return fmt.Sprintf("of which only %d numbers of %q are left", len(n.Values[name]), name)
		}
		for range 1 + r.IntN(3) {
			values[min(r.IntN(len(values)), r.IntN(len(values)))] = any() // rather the first, which tell what follows
		}
		return fmt.Sprintf("with other numbers in %q", name)
	case 2:
		if len(n.Outcomes) == 0 {
			break
		}
		i := r.IntN(len(n.Outcomes))
		if r.IntN(2) == 0 {
			n.Outcomes = n.Outcomes[:i]
			return fmt.Sprintf("with %d outcomes", i)
		}
		n.Outcomes[i] = verdict.Outcome{Err: "other", Panic: []string{"", "nil"}[r.IntN(2)], Argument: r.IntN(2) == 0}
		return fmt.Sprintf("with another outcome %d", i)
	case 3:
		for name, samples := range n.Samples {
			samples = slices.Clone(samples)
			for i := range samples {
				samples[i] = int64(any())
			}
			n.Samples[name] = samples
		}
		return "with other samples"
	}
	n.Trace, n.Findings = strange(r, n.Trace), nil
	return "with another trace"
}

// strange is a trace with records that no session would write.
func strange(r *rand.Rand, t *trace.Trace) *trace.Trace {
	if len(t.Records) == 0 {
		return t
	}
	records := slices.Clone(t.Records)
	for range 1 + r.IntN(4) {
		at := r.IntN(len(records))
		x, other := &records[at], records[r.IntN(len(records))]
		v := odd[r.IntN(len(odd))]
		switch r.IntN(11) {
		case 0:
			*x = other
		case 1:
			records = slices.Delete(records, at, min(at+1+r.IntN(3), len(records)))
		case 2:
			x.Stream, x.Event = trace.ID(v), other.Event
		case 3:
			x.Alloc = trace.ID(v)
		case 4:
			x.Size = int64(v)
		case 5:
			x.Addr = v
		case 6:
			x.Code = int32(v)
		case 7:
			x.Value = v
		case 8:
			x.Op = other.Op
		case 9:
			x.Accesses = []trace.Access{{Alloc: other.Alloc, Offset: int64(v), Size: int64(odd[r.IntN(len(odd))]),
				Kind: trace.Write}}
		case 10:
			x.Faked, x.Label = !x.Faked, other.Label
		}
		if len(records) == 0 {
			break
		}
	}
	return &trace.Trace{Sites: t.Sites, Records: records}
}
