package vmmarena

import (
	"cmp"
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/native/trace"
)

func judgeArguments(e *suite.Evidence) suite.Answer {
	a := e.JudgeArguments(caseArguments, len(badReserves), suite.Refusal{
		Fix:     "Return contract.ErrArgument for a reserve below 1, before the first CUDA call.",
		FixLate: "Look at reserve before the first CUDA call.",
	})
	notes := e.Cases[caseArguments]
	a.Findings = suite.Unique(append(a.Findings, deviceIgnored(notes)...))
	if len(a.Findings) == 0 && len(notes.Outcomes) <= len(badReserves) {
		a.Skip = "Not every bad argument could be tried."
	}
	return a
}

// deviceIgnored judges the call behind those of bad reserves, which names a device that does not exist.
func deviceIgnored(notes *suite.CaseNotes) []suite.Finding {
	i := len(badReserves)
	if i >= len(notes.Outcomes) || !notes.Outcomes[i].OK() {
		return nil
	}
	return []suite.Finding{{
		Rule: "device-ignored", Severity: suite.Error, Record: -1,
		Message: fmt.Sprintf("%s should have returned CUDA's error, since there is no such device, but it returned nil.", notes.Outcomes[i].Label),
		Why:     "Memory lies on one device: an arena on another one than its caller wants is of no use to kernels there.",
		Fix:     "Pass device on as the ID of the location, wherever memory is asked about or created.",
	}}
}

// workloads are the sequences of a case, as it drew them.
func workloads(e *suite.Evidence, caseID string) []workload {
	g := int64(0)
	for _, v := range e.Cases[caseID].Values[noteGranularity] {
		g = int64(v)
	}
	switch {
	case caseID == caseMemory:
		return nearlyFull(e.Seed)
	case g <= 0:
		return nil // the case ended before it began
	case caseID == caseExamples:
		return examples(g)
	case caseID == caseRandom:
		return drawn(e.Seed, caseID, g)
	}
	return append(examples(g), drawn(e.Seed, caseID, g)...)
}

// sequences are all sequences of some cases.
func sequences(e *suite.Evidence, cases ...string) []carried {
	var all []carried
	for _, id := range cases {
		all = append(all, suite.Once(e.Cases[id], "sequences", func() (carried []carried) {
			for _, w := range workloads(e, id) {
				carried = append(carried, carry(e.Cases[id], w))
			}
			return carried
		})...)
	}
	return all
}

// judged is what a check says of sequences: the faults that the model finds in the answers, each told by the shortest
// sequence that shows it, and those that the trace shows, each by the first.
func judged(e *suite.Evidence, all []carried, of aspect, shown func(*carried) []suite.Finding) suite.Answer {
	var a suite.Answer
	for i := range all {
		c := &all[i]
		for _, f := range sequence.Failures(c.notes, c.name, newModel(c.layout, of)) {
			a.Findings = append(a.Findings, f.Finding(e, c.layout.String()))
		}
	}
	slices.SortStableFunc(a.Findings, func(a, b suite.Finding) int { return cmp.Compare(len(a.Message), len(b.Message)) })
	for i := range all {
		a.Findings = append(a.Findings, shown(&all[i])...)
	}
	a.Findings = suite.Unique(a.Findings)
	if len(a.Findings) == 0 && !whole(all) {
		a.Skip = inTheWay
	}
	return a
}

// inTheWay is why a check is not asked whose sequences went wrong by what another check tells.
const inTheWay = "What another check found is in the way, so this could not be seen in full."

// whole reports whether all sequences could be seen to their ends.
func whole(all []carried) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(c carried) bool { return !c.whole() })
}

// nothing is for a check that goes by the answers alone.
func nothing(*carried) []suite.Finding { return nil }

// notMade are the arenas that New should have made for some sequences, and did not.
func notMade(e *suite.Evidence, all []carried, cases ...string) []suite.Finding {
	labels := map[string]bool{}
	for _, c := range all {
		labels[c.layout.String()] = true
	}
	return sequence.NotMade(e, labels, cases...)
}

// finding is a fault that the trace shows, at the record which is at fault, or where that is -1 on the method's line.
func (c *carried) finding(e *suite.Evidence, i, record int, f suite.Finding) suite.Finding {
	site := c.steps[i].answer.Site
	if record >= 0 {
		site = c.notes.Trace.SiteOf(&c.notes.Trace.Records[record])
	}
	f.Severity, f.Record = cmp.Or(f.Severity, suite.Error), record
	return e.At(f, site)
}

// doing begins a sentence about an operation: "Asked to reset (operation 2 of "small blocks" with …), the arena".
func (c *carried) doing(i int) string {
	return fmt.Sprintf("Asked to %s (operation %d of %q with %s), the arena", sequence.Words([]sequence.Op{c.steps[i].op}), i+1, c.name,
		c.layout)
}

func judgeBump(e *suite.Evidence) suite.Answer {
	all := sequences(e, plenty...)
	a := judged(e, all, ofBump, nothing)
	a.Message = "Every block lay where the one before had ended, and every mistake was answered with its own error."
	return a
}

func judgeReset(e *suite.Evidence) suite.Answer {
	a := judged(e, sequences(e, plenty...), ofReset, func(c *carried) []suite.Finding {
		return append(c.callsOfReset(e), c.callsOfAlloc(e, true)...)
	})
	a.Message = "After every Reset the first block was at Base, in memory that was still mapped."
	return a
}

// callsOfReset finds what Reset asks of CUDA.
func (c *carried) callsOfReset(e *suite.Evidence) []suite.Finding {
	var found []suite.Finding
	for i := range c.steps {
		if c.steps[i].op.Kind != sequence.Reset || i > c.right {
			continue
		}
		for _, at := range c.steps[i].calls {
			r := &c.notes.Trace.Records[at]
			f := suite.Finding{Rule: "cuda-call",
				Message: fmt.Sprintf("Reset should have left CUDA alone, but it called %s.", suite.CallName(r)),
				Why:     "What is mapped once costs nothing to use again; to unmap it and map it anew takes many microseconds.",
				Fix:     "Set the number of bytes that are used to 0, and leave the memory mapped until Close."}
			if r.Op == trace.OpMemUnmap {
				f.Rule = "reset-unmaps"
			}
			found = append(found, c.finding(e, i, at, f))
		}
	}
	return found
}

func judgeMemory(e *suite.Evidence) suite.Answer {
	if suite.HasError(e.Of(suite.EndRules, caseMemory)) {
		return suite.Answer{Skip: "What Close did not give back is missing in the next arena on the device, so this could not be seen."}
	}
	all := sequences(e, caseMemory)
	a := judged(e, all, ofMemory, func(c *carried) []suite.Finding { return c.keptByFailure(e) })
	a.Findings = append(a.Findings, notMade(e, all, caseMemory)...)
	a.Message = "Where there was no room for a generous growth, a small one was made; one that failed changed nothing."
	return a
}

// keptByFailure finds memory that an Alloc held on to, or gave up, although it answered an error.
func (c *carried) keptByFailure(e *suite.Evidence) []suite.Finding {
	for i := range c.steps {
		s := &c.steps[i]
		if i == 0 || i > c.right || s.answer.Err != outOfMemory || s.held == c.steps[i-1].held {
			continue
		}
		made := -1
		for _, at := range s.calls {
			if r := &c.notes.Trace.Records[at]; r.Op == trace.OpMemCreate && r.Code == 0 {
				made = at
			}
		}
		return []suite.Finding{c.finding(e, i, made, suite.Finding{Rule: "changed-by-error",
			Message: fmt.Sprintf("%s should have failed and kept the %d bytes of memory that it had, but has %d now.",
				c.doing(i), c.steps[i-1].held, s.held),
			Why: "Memory that a growth leaves behind when it fails is missing in every later one.",
			Fix: "Give back all that the growth has made before returning its error: unmap what was mapped, release what was created."})}
	}
	return nil
}
