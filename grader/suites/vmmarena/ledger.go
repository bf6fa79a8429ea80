package vmmarena

import (
	"cmp"
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// step is one operation of a sequence with what the trace shows of it.
type step struct {
	op     allocator.Op
	answer sequence.Answer
	calls  []int // the records of its CUDA calls
	before int64 // bytes mapped from Base on when it began
	mapped int64 // and when it had ended
	held   int64 // physical memory when it had ended, in bytes
	// unusable is the first mapping behind the block that was handed out that may not be read and written.
	unusable *mapping.Piece
	unmapped bool // the block has addresses without any memory
}

// replay is a sequence as it went, with what the trace shows of it. What it shows behind a wrong answer may come of
// that, and is not judged.
type replay struct {
	*allocator.Run[layout]
	e     *suite.Evidence
	steps []step
}

func replayOf(e *suite.Evidence, r *allocator.Run[layout]) *replay {
	return verdict.Once(r.Notes, "steps of "+r.Name, func() *replay {
		c := &replay{Run: r, e: e}
		if r.Record != nil {
			c.steps = steps(r.Notes, r.Record)
		}
		return c
	})
}

// finding is a fault that the trace shows in a step, at the record which is at fault, or where that is -1 on the
// method's line.
func (c *replay) finding(i, record int, f verdict.Finding) []verdict.Finding {
	f.Severity, f.Record = cmp.Or(f.Severity, verdict.Error), record
	if record < 0 {
		return []verdict.Finding{c.steps[i].answer.At(c.e, f)}
	}
	return []verdict.Finding{c.e.At(f, c.Notes.Trace.SiteOf(&c.Notes.Trace.Records[record]))}
}

// doing begins a sentence about a step: "Asked to reset (operation 2 of "small blocks" with …), the arena".
func (c *replay) doing(i int) string {
	return fmt.Sprintf("Asked to %s (operation %d of %q with %s), the arena",
		allocator.Words([]allocator.Op{c.steps[i].op}), i+1, c.Name,
		c.Layout)
}

// created is the last MemCreate of a step that made memory; -1 if there is none.
func (c *replay) created(i int) int {
	made := -1
	for _, at := range c.steps[i].calls {
		if r := &c.Notes.Trace.Records[at]; r.Op == trace.OpMemCreate && r.Code == 0 {
			made = at
		}
	}
	return made
}

// steps walks through a sequence that was noted.
func steps(notes *verdict.CaseNotes, rec *allocator.Record) []step {
	var l mapping.Ledger
	var all []step
	at, _ := notes.Window(rec.First - 1)
	base := uint64(0)
	for i, a := range rec.Answers[:min(len(rec.Answers), len(rec.Ops))] {
		if base == 0 && len(a.Stats()) == statCount {
			base = uint64(a.Stats()[statBase])
		}
		from, to := notes.Window(rec.Call(i))
		for ; at < from; at++ { // New, and what was done with the block before
			r := &notes.Trace.Records[at]
			l.See(at, r)
			if r.Op == trace.OpBlockAlloc && i > 0 {
				all[i-1].checkBlock(&l, r)
			}
		}
		s := step{op: rec.Ops[i], answer: a, before: l.Reach(base)}
		for ; at < to; at++ {
			r := &notes.Trace.Records[at]
			l.See(at, r)
			if r.Op != trace.OpMark && r.Phase != trace.Leave {
				s.calls = append(s.calls, at)
			}
		}
		s.mapped, s.held = l.Reach(base), l.Held()
		all = append(all, s)
	}
	return all
}

func (s *step) checkBlock(l *mapping.Ledger, block *trace.Record) {
	p, whole := l.Unusable(block.Addr, uint64(block.Size))
	s.unmapped = !whole
	if p != nil {
		unusable := *p
		s.unusable = &unusable
	}
}
