package slab

import (
	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
)

func judgeArguments(e *suite.Evidence) suite.Answer {
	return sequence.JudgeArguments(e, caseArguments, len(badArguments), suite.Refusal{
		Fix: "Return contract.ErrArgument for no classes, for a size that is below 1, no multiple of 256, or not larger than the one " +
			"before, for fewer than one block in a class, and for more bytes in all than an int64 can count.",
		FixLate: "Look at the number of blocks and at every size before the first CUDA call.",
	})
}

// run is a sequence as it went.
type run struct {
	workload
	notes *suite.CaseNotes
}

// runs are all sequences of the two cases that a right allocator completes.
func runs(e *suite.Evidence) []run {
	return suite.Once(e.Cases[caseRandom], "runs", func() (all []run) {
		for _, w := range examples() {
			all = append(all, run{w, e.Cases[caseExamples]})
		}
		for _, w := range drawn(e.Seed) {
			all = append(all, run{w, e.Cases[caseRandom]})
		}
		return all
	})
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
		a.Findings = append(a.Findings, sequence.NotMade(e, labels(e), caseExamples, caseRandom)...)
	}
	a.Findings = suite.Unique(sequence.Shortest(a.Findings))
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

func judgeClasses(e *suite.Evidence) suite.Answer {
	return judged(e, ofClasses, true, "Every block came from the smallest class that fits, or from the next larger one that had any left.")
}

func judgeErrors(e *suite.Evidence) suite.Answer {
	return judged(e, ofErrors, false, "Every mistake was answered with its own error, and changed nothing.")
}

func judgeStats(e *suite.Evidence) suite.Answer {
	return judged(e, ofStats, false, "After every call Stats said how the classes stood.")
}

func judgeCleanup(e *suite.Evidence) suite.Answer {
	return sequence.JudgeCleanup(e, caseFaults, caseExamples, caseRandom)
}
