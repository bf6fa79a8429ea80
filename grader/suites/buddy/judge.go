package buddy

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
)

func judgeArguments(e *suite.Evidence) suite.Answer {
	return sequence.JudgeArguments(e, caseArguments, len(badArguments), suite.Refusal{
		Fix: "Return contract.ErrArgument for a total or a minimal block below 1 or above 2^62, and where the minimal block, rounded up to a power " +
			"of two and to 256 at least, is larger than the total, rounded up to a power of two.",
		FixLate: "Look at both arguments, rounded up, before the first CUDA call.",
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

// labels are the calls of New that began the sequences.
func labels(e *suite.Evidence) map[string]bool {
	all := map[string]bool{}
	for _, r := range runs(e) {
		all[r.layout.String()] = true
	}
	return all
}

// judged applies one aspect of the model to every sequence.
func judged(e *suite.Evidence, of aspect, message string) suite.Answer {
	a := suite.Answer{Message: message}
	unseen := false
	for _, r := range runs(e) {
		for _, f := range sequence.Failures(r.notes, r.name, func() sequence.Model { return newModel(r.layout, of) }) {
			a.Findings = append(a.Findings, f.Finding(e, r.layout.String()))
		}
		unseen = unseen || !r.seen(of)
	}
	a.Findings = suite.Unique(sequence.Shortest(a.Findings))
	if unseen && len(a.Findings) == 0 {
		a.Skip = "What another check found is in the way, so this could not be seen in full."
	}
	return a
}

// seen reports whether the sequence ran to its end in the sight of an aspect. One with misuse in it need be seen only by
// the aspect that is about misuse.
func (r *run) seen(of aspect) bool {
	whole, blinded := r.watched(of)
	return whole && (!blinded || r.misuse && of != ofErrors)
}

// watched reports whether the sequence ran to its end, on a root that is known, and whether a model of the aspect was
// blinded on the way.
func (r *run) watched(of aspect) (whole, blinded bool) {
	records := sequence.Read(r.notes, r.name)
	if len(records) == 0 || len(records[0].Answers) < len(r.ops) {
		return false, false
	}
	m := newModel(r.layout, of)
	for i, a := range records[0].Answers {
		if len(a.Stats) == statCount && a.Stats[statRoot] == 0 {
			return false, false
		}
		if a.Err != sequence.Skipped {
			m.Step(r.ops[i], a)
		}
	}
	return true, m.blinded
}

func judgeErrors(e *suite.Evidence) suite.Answer {
	return judged(e, ofErrors, "Every size and every address that is not valid was refused with its error, and no valid one was.")
}

func judgeCoalescing(e *suite.Evidence) suite.Answer {
	return judged(e, ofCoalescing, "Whenever an aligned block was free it was found, and what was all free was one block again.")
}

func judgeStats(e *suite.Evidence) suite.Answer {
	return judged(e, ofStats, "After every call Stats told what was in use and what was free.")
}

func judgeBlocks(e *suite.Evidence) suite.Answer {
	a := judged(e, ofBlocks, "Every block was stamped on the device, and had its stamp until it was given back.")
	if len(a.Findings) > 0 || a.Skip != "" {
		return a
	}
	stamped, wrong := uint64(0), uint64(0)
	for _, r := range runs(e) {
		if _, blinded := r.watched(ofBlocks); blinded {
			continue // a free that should have been refused has given one block to two users, and was told of
		}
		for _, n := range r.notes.Values[noteStamped+r.name] {
			stamped += n
		}
		for _, n := range r.notes.Values[noteWrong+r.name] {
			wrong += n
		}
	}
	switch {
	case stamped == 0:
		a.Skip = "No block could be stamped on the device."
	case wrong > 0:
		a.Findings = []suite.Finding{{
			Rule: "overwritten", Severity: suite.Error, Record: -1, Function: "Alloc",
			Message: fmt.Sprintf("The blocks should have kept what their users wrote, but when they were read back from the device, %d "+
				"words of 8 bytes had other values.", wrong),
			Why: "A block is its user's alone from Alloc until Free.",
			Fix: "Write nothing to the root block: what the allocator has to remember of its blocks belongs on the host.",
		}}
	default:
		a.Message = fmt.Sprintf("Blocks were stamped on the device and read back %d times: all had what was written to them.", stamped)
	}
	return a
}

func judgeCleanup(e *suite.Evidence) suite.Answer {
	return sequence.JudgeCleanup(e, caseFaults, caseExamples, caseRandom)
}
