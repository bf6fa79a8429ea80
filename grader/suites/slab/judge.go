package slab

import (
	"fmt"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
)

func judgeArguments(e *suite.Evidence) suite.Answer {
	var a suite.Answer
	notes := e.Cases[caseArguments]
	const fix = "Return contract.ErrArgument for no classes, for a size that is below 1, no multiple of 256, or not larger than the one " +
		"before, and for fewer than one block in a class."
	for _, o := range notes.Outcomes {
		switch {
		case o.OK():
			a.Findings = append(a.Findings, suite.Finding{
				Rule: "bad-argument-accepted", Severity: suite.Error, Record: -1,
				Message: fmt.Sprintf("%s should have returned an error, but it returned nil.", o.Label),
				Why:     "An argument that is refused before anything is made leaves nothing to undo.",
				Fix:     fix,
			})
		case !o.Argument:
			a.Findings = append(a.Findings, suite.Finding{
				Rule: "wrong-error", Severity: suite.Error, Record: -1,
				Message: fmt.Sprintf("%s should have returned contract.ErrArgument, but it returned: %s.", o.Label, strings.TrimSuffix(o.Err, ".")),
				Why:     "The caller finds out with errors.Is whether the arguments were at fault or the device.",
				Fix:     fix,
			})
		}
	}
	told := map[int]bool{}
	for at, i := range notes.CallsOfRecords() {
		if i < 0 || i >= len(notes.Outcomes) || told[i] {
			continue // the grader's own, or not the first in its call
		}
		told[i] = true
		r := &notes.Trace.Records[at]
		a.Findings = append(a.Findings, e.At(suite.Finding{
			Rule: "late-argument-check", Severity: suite.Error, Record: at,
			Message: fmt.Sprintf("%s should have refused before any CUDA call, but it called %s first.", notes.Outcomes[i].Label, suite.CallName(r)),
			Why:     "An argument that is refused before anything is made leaves nothing to undo.",
			Fix:     "Look at the number of blocks and at every size before the first CUDA call.",
		}, notes.Trace.SiteOf(r)))
	}
	a.Findings = suite.Unique(a.Findings)
	if len(a.Findings) == 0 && len(notes.Outcomes) < len(badArguments) {
		a.Skip = "Not every bad argument could be tried."
	}
	a.Message = "Bad arguments are refused, and nothing was touched."
	return a
}

// run is a sequence as it went.
type run struct {
	workload
	notes *suite.CaseNotes
}

// runs are all sequences of the two cases that a right allocator completes.
func runs(e *suite.Evidence) []run {
	var all []run
	for _, w := range examples() {
		all = append(all, run{w, e.Cases[caseExamples]})
	}
	for _, w := range drawn(e.Seed) {
		all = append(all, run{w, e.Cases[caseRandom]})
	}
	return all
}

// judged applies one aspect of the model to every sequence. An allocator that could not be made is told once, by the
// check that is given the task to tell; others are skipped over it.
func judged(e *suite.Evidence, of aspect, tells bool, message string) suite.Answer {
	a := suite.Answer{Message: message}
	missing := false
	for _, r := range runs(e) {
		for _, f := range sequence.Failures(r.notes, r.name, newModel(&r.workload, of)) {
			a.Findings = append(a.Findings, f.Finding(e, r.label()))
		}
		missing = missing || len(sequence.Read(r.notes, r.name)) == 0
	}
	if missing && tells {
		a.Findings = append(a.Findings, notMade(e)...)
	}
	a.Findings = suite.Unique(shortest(a.Findings))
	if missing && len(a.Findings) == 0 {
		a.Skip = "No allocator could be made, so this could not be seen."
	}
	return a
}

// labels are the calls of New that began the sequences.
func labels(e *suite.Evidence) map[string]bool {
	all := map[string]bool{}
	for _, r := range runs(e) {
		all[r.label()] = true
	}
	return all
}

// notMade are the allocators that New should have made, and did not.
func notMade(e *suite.Evidence) []suite.Finding {
	var found []suite.Finding
	labels := labels(e)
	for _, id := range []string{caseExamples, caseRandom} {
		for _, o := range e.Cases[id].Outcomes {
			if labels[o.Label] && !o.OK() {
				found = append(found, suite.UnexpectedError("New", o))
			}
		}
	}
	return found
}

// shortest puts, of the findings with the same rule, the one first whose sequence is told in the fewest words.
func shortest(findings []suite.Finding) []suite.Finding {
	first := map[string]int{}
	for i, f := range findings {
		if j, ok := first[f.Rule]; !ok {
			first[f.Rule] = i
		} else if len(f.Message) < len(findings[j].Message) {
			findings[i], findings[j] = findings[j], findings[i]
		}
	}
	return findings
}

func judgeClasses(e *suite.Evidence) suite.Answer {
	return judged(e, ofClasses, true, "Every block came from the smallest class that fits, or from the next larger one that had any left.")
}

func judgeErrors(e *suite.Evidence) suite.Answer {
	return judged(e, ofErrors, false, "Every mistake was answered with its own error, and changed nothing.")
}

func judgeStats(e *suite.Evidence) suite.Answer {
	return judged(e, ofStats, false, "After every call Stats said how the classes stood.")
}
