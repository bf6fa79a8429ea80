package allocator

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/session"
	"cudalab/native/trace"
)

// Between is which CUDA calls the methods of an allocator may make between New and Close, and why no others. It is
// asked of lives that are too long to look at each call: of every call there is a number, and of each kind the first
// line.
type Between struct {
	Calls    []trace.Op
	Why, Fix string
	New      *suite.Rule             // of a New that may make none, either
	Giving   map[trace.Op]suite.Rule // of calls that may not be made in giving back, either
}

// rule is what a call breaks; ok is false where it breaks nothing.
func (b *Between) rule(op trace.Op, stretch int) (rule suite.Rule, ok bool) {
	if stretch == giving {
		rule, ok = b.Giving[op]
		return rule, ok
	}
	return suite.Rule{ID: "cuda-call", Why: b.Why, Fix: b.Fix}, !slices.Contains(b.Calls, op)
}

// InNew finds the first CUDA call of a Call of New's, where that may make none.
func (b *Between) InNew(e *suite.Evidence, notes *verdict.CaseNotes, call int) []verdict.Finding {
	if b.New == nil {
		return nil
	}
	return inCall(e, notes, call, func(trace.Op) (suite.Rule, bool) { return *b.New, true })
}

// inClose finds the first CUDA call of a Call of Close's that it may not make.
func (b *Between) inClose(e *suite.Evidence, notes *verdict.CaseNotes, call int) []verdict.Finding {
	return inCall(e, notes, call, func(op trace.Op) (suite.Rule, bool) { return b.rule(op, giving) })
}

// inCall finds the first CUDA call of a Call that breaks a rule.
func inCall(e *suite.Evidence, notes *verdict.CaseNotes, call int,
	rule func(trace.Op) (suite.Rule, bool)) []verdict.Finding {
	if call >= len(notes.Outcomes) {
		return nil
	}
	from, to := notes.Window(call)
	for at := from; at < to; at++ {
		r := &notes.Trace.Records[at]
		if r.Op == trace.OpMark && r.Label == noteLife {
			break // a life goes on behind New
		}
		broken, breaks := rule(r.Op)
		if !breaks || len(e.Place(notes.Trace.SiteOf(r))) == 0 {
			continue
		}
		return []verdict.Finding{e.At(verdict.Finding{Rule: broken.ID, Severity: verdict.Error, Record: at,
			Message: fmt.Sprintf("Asked for %q, the code should not have called %s, but it did.", notes.Outcomes[call].Label,
				suite.CallName(r)),
			Why: broken.Why, Fix: broken.Fix}, notes.Trace.SiteOf(r))}
	}
	return nil
}

// counted are the CUDA calls of one life, by stretches of it.
type counted struct {
	b         *suite.Bench
	made      int // the number of the Call of New, whose calls the trace has one by one
	stretches [allStretches]map[trace.Op]session.Count
}

// The stretches of a life behind New.
const (
	between = iota // New and Close
	giving         // back, by Trim and Close, which may wait
	allStretches
)

func stretchOf(op Op) int {
	if op.Kind == KindTrim || op.Kind == KindClose {
		return giving
	}
	return between
}

func newCounted(b *suite.Bench) *counted {
	return &counted{b: b, stretches: [allStretches]map[trace.Op]session.Count{{}, {}}}
}

// making has the allocator made in a Call.
func (c *counted) making(label string, f func() error) (o verdict.Outcome) {
	c.made = c.b.Calls()
	c.b.Session.Traced(func() { o = c.b.Call(label, f) })
	return o
}

// in has the allocator work in a stretch.
func (c *counted) in(stretch int, f func()) {
	c.b.Session.Traced(func() { c.b.Session.Counted(c.stretches[stretch], f) })
}

// note notes the counts of the life that a name stands for.
func (c *counted) note(name string) {
	c.b.Value(noteCounted+name, uint64(c.made))
	for stretch, counts := range c.stretches {
		for _, op := range slices.Sorted(maps.Keys(counts)) {
			c.b.Value(noteCounted+name, uint64(stretch), uint64(op), uint64(counts[op].Made), uint64(counts[op].Succeeded))
		}
	}
}

// noteCounted is the note of the counts, under a name that ends in the life's: the number of the Call of New, and then
// of each kind of call the stretch, how often it was made there, and how often it succeeded.
const noteCounted = "calls in "

// kept are the kinds of things that have to be given back, by the calls that make them and those that take them back.
var kept = []struct {
	things         string
	makes, returns []trace.Op
}{
	{"events", []trace.Op{trace.OpEventCreate}, []trace.Op{trace.OpEventDestroy}},
	{"streams", []trace.Op{trace.OpStreamCreate}, []trace.Op{trace.OpStreamDestroy}},
	{"pieces of pinned memory", []trace.Op{trace.OpMallocHost}, []trace.Op{trace.OpFreeHost}},
	{"pieces of memory", []trace.Op{trace.OpMalloc, trace.OpMallocAsync, trace.OpMallocFromPoolAsync},
		[]trace.Op{trace.OpFree, trace.OpFreeAsync}},
	{"pieces of physical memory", []trace.Op{trace.OpMemCreate}, []trace.Op{trace.OpMemRelease}},
	{"ranges of addresses", []trace.Op{trace.OpMemAddressReserve}, []trace.Op{trace.OpMemAddressFree}},
	{"pools", []trace.Op{trace.OpMemPoolCreate}, []trace.Op{trace.OpMemPoolDestroy}},
}

// counts is what cudalab knows of a life whose calls were counted.
type counts struct {
	notes *verdict.CaseNotes
	call  int                            // of New
	from  int                            // the record behind which it begins
	made  [allStretches]map[trace.Op]int // how often each call was made
	left  []int                          // how many of each kept kind were made and not given back
}

// countsOf reads the counts of the life that a name stands for; ok is false where it did not come to its end.
func countsOf(e *suite.Evidence, notes *verdict.CaseNotes, name string) (c counts, ok bool) {
	all := notes.Values[noteCounted+name]
	if len(all) == 0 {
		return counts{}, false
	}
	call := int(min(all[0], math.MaxInt32))
	from, to := notes.Window(call)
	c = counts{notes, call, from, [allStretches]map[trace.Op]int{{}, {}}, nil}
	succeeded := map[trace.Op]int{}
	for all = all[1:]; len(all) >= 4; all = all[4:] {
		op := trace.Op(min(all[1], math.MaxUint8))
		if all[0] < allStretches {
			c.made[all[0]][op] += int(min(all[2], math.MaxInt32))
		}
		succeeded[op] += int(min(all[3], math.MaxInt32))
	}
	for at := from; at < to; at++ {
		if r := &notes.Trace.Records[at]; r.Code == 0 && r.Phase != trace.Enter && len(e.Place(notes.Trace.SiteOf(r))) > 0 {
			succeeded[r.Op]++
		}
	}
	for _, k := range kept {
		n := 0
		for _, op := range k.makes {
			n += succeeded[op]
		}
		for _, op := range k.returns {
			n -= succeeded[op]
		}
		c.left = append(c.left, n)
	}
	return c, true
}

// firstOf is the record of the code's first call of some kinds; -1 where there is none.
func (c *counts) firstOf(e *suite.Evidence, ops ...trace.Op) int {
	for at := c.from; at < len(c.notes.Trace.Records); at++ {
		r := &c.notes.Trace.Records[at]
		if slices.Contains(ops, r.Op) && len(e.Place(c.notes.Trace.SiteOf(r))) > 0 {
			return at
		}
	}
	return -1
}

// at is an error on the line of a record of the life.
func (c *counts) at(e *suite.Evidence, record int, f verdict.Finding) verdict.Finding {
	f.Severity, f.Record = verdict.Error, record
	if record < 0 {
		return f
	}
	return e.At(f, c.notes.Trace.SiteOf(&c.notes.Trace.Records[record]))
}

// calls finds the first kind of call that the methods should not have made. when says in which life: "Among many
// blocks".
func (c *counts) calls(e *suite.Evidence, when string, b *Between) []verdict.Finding {
	for stretch, made := range c.made {
		for _, op := range slices.Sorted(maps.Keys(made)) {
			record := c.firstOf(e, op)
			rule, breaks := b.rule(op, stretch)
			if record < 0 || !breaks {
				continue
			}
			r := &c.notes.Trace.Records[record]
			if e.WaitsIn(c.notes)[record] != "" && stretch == between {
				rule.ID = "host-wait"
			}
			return []verdict.Finding{c.at(e, record, verdict.Finding{Rule: rule.ID, Why: rule.Why, Fix: rule.Fix,
				Message: fmt.Sprintf("%s the allocator should never have called %s%s, but it did so %s, here first.", when,
					suite.CallName(r), [allStretches]string{between: " between New and Close"}[stretch],
					verdict.Count(made[op], "time", "times"))})}
		}
	}
	return b.InNew(e, c.notes, c.call)
}

// leaks finds the first kind of things of which some were left when Close had returned.
func (c *counts) leaks(e *suite.Evidence, when string) []verdict.Finding {
	for i, k := range kept {
		if c.left[i] <= 0 {
			continue
		}
		return []verdict.Finding{c.at(e, c.firstOf(e, k.makes...), verdict.Finding{Rule: "leak",
			Message: fmt.Sprintf("%s Close should have given back all that the allocator had made, but %d of its %s were left.",
				when, c.left[i], k.things),
			Why: "What nobody gives back stays taken until the program ends, and who has worked for long has made much.",
			Fix: "Keep account of each until Close, however many there are, and give all of them back there."})}
	}
	return nil
}

// inLives finds the first CUDA call that the methods should not have made in lives in which calls fail.
func (b *Between) inLives(e *suite.Evidence) []verdict.Finding {
	for _, id := range slices.Sorted(maps.Keys(e.Cases)) {
		notes := e.Cases[id]
		for _, rec := range Read(notes, noteLife, nil) {
			if found := b.InNew(e, notes, rec.First); found != nil {
				return found
			}
			from, to := notes.Window(rec.First)
			op := -1 // New
			for at := from; at < to; at++ {
				r := &notes.Trace.Records[at]
				if r.Op == trace.OpMark && r.Label == noteLife {
					op++
				}
				if op < 0 || op >= len(rec.Ops) || r.Phase == trace.Leave ||
					r.Op == trace.OpBlockAlloc || r.Op == trace.OpBlockFree { // what the kit notes of the blocks
					continue
				}
				places, stretch := e.Place(notes.Trace.SiteOf(r)), stretchOf(rec.Ops[op])
				if inStats(places) {
					stretch = between
				}
				rule, breaks := b.rule(r.Op, stretch)
				if len(places) == 0 || !breaks {
					continue
				}
				return []verdict.Finding{e.At(verdict.Finding{Rule: rule.ID, Severity: verdict.Error, Record: at,
					Message: fmt.Sprintf("Beside CUDA calls that fail the allocator should not have called %s, either, but did so "+
						"when it was asked to %s.", suite.CallName(r), phrase(rec.Ops[op])),
					Why: rule.Why, Fix: rule.Fix}, notes.Trace.SiteOf(r))}
			}
		}
	}
	return nil
}

// inStats reports whether a call of CUDA's was made by Stats, which are asked for behind every other call.
func inStats(places []verdict.Place) bool {
	return len(places) > 0 && strings.HasSuffix(places[len(places)-1].Func, ").Stats")
}

// Calls has a part ask of a Large trial, too, that the methods make no CUDA calls but the lab's.
func (s *Steps[Code, L]) Calls(p suite.Part[Code]) suite.Part[Code] {
	return s.counts(p, func(e *suite.Evidence, c *counts, when string) []verdict.Finding {
		return c.calls(e, when, &s.lab.Between)
	}).Deeper(s.lab.Between.inLives)
}

// Leaks has a part ask of a Large trial, too, that Close gives everything back.
func (s *Steps[Code, L]) Leaks(p suite.Part[Code]) suite.Part[Code] {
	return s.counts(p, func(e *suite.Evidence, c *counts, when string) []verdict.Finding { return c.leaks(e, when) })
}

func (s *Steps[Code, L]) counts(p suite.Part[Code],
	look func(e *suite.Evidence, c *counts, when string) []verdict.Finding) suite.Part[Code] {
	return p.Deeper(func(e *suite.Evidence) (found []verdict.Finding) {
		for _, t := range s.all() {
			if len(found) > 0 || t.abreast && !t.rightWithFew(e) {
				break // what goes wrong with few blocks would only be told again
			}
			for _, r := range t.Runs(e) {
				if c, ok := countsOf(e, r.Notes, r.Name); ok {
					when := fmt.Sprintf("In a life of %d operations", len(r.Ops))
					found = append(found, look(e, &c, when)...)
				}
			}
		}
		return found
	}, s.trials()...)
}
