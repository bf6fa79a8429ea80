package vmmarena

import (
	"cmp"
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// ledger is an arena's memory as the trace shows it, whatever the arena says.
type ledger struct {
	pieces []piece // by address
	memory map[trace.ID]*physical
}

// piece is one mapping.
type piece struct {
	from, to uint64
	of       trace.ID
	mapped   int  // the record of its MemMap
	access   int  // the record of the last MemSetAccess that covered it; -1 where there was none
	usable   bool // for reading and writing
}

// physical is memory that MemCreate has made.
type physical struct {
	size     int64
	mappings int
	released bool
}

// see takes a record in.
func (l *ledger) see(at int, r *trace.Record) {
	if r.Code != int32(device.Success) || r.Phase == trace.Enter {
		return
	}
	from, to := r.Addr, r.Addr+uint64(r.Size)
	switch r.Op {
	case trace.OpMemCreate:
		if l.memory == nil {
			l.memory = map[trace.ID]*physical{}
		}
		l.memory[r.Alloc] = &physical{size: r.Size}
	case trace.OpMemRelease:
		if x := l.memory[r.Alloc]; x != nil {
			x.released = true
			l.drop(r.Alloc)
		}
	case trace.OpMemMap:
		if x := l.memory[r.Alloc]; x != nil {
			x.mappings++
		}
		l.pieces = append(l.pieces, piece{from: from, to: to, of: r.Alloc, mapped: at, access: -1})
		slices.SortFunc(l.pieces, func(a, b piece) int { return cmp.Compare(a.from, b.from) })
	case trace.OpMemUnmap:
		l.pieces = slices.DeleteFunc(l.pieces, func(p piece) bool {
			out := p.from >= from && p.to <= to
			if x := l.memory[p.of]; out && x != nil {
				x.mappings--
				l.drop(p.of)
			}
			return out
		})
	case trace.OpMemSetAccess:
		for i := range l.pieces {
			p := &l.pieces[i]
			if p.from > from {
				break // behind a hole CUDA has changed nothing
			}
			if p.from == from && p.to <= to {
				p.access, p.usable = at, r.Flags == uint32(device.MemAccessReadWrite)
				from = p.to
			}
		}
	}
}

// drop forgets memory that nothing holds any more.
func (l *ledger) drop(id trace.ID) {
	if x := l.memory[id]; x.released && x.mappings == 0 {
		delete(l.memory, id)
	}
}

// held is how many bytes of physical memory there are, mapped or not.
func (l *ledger) held() int64 {
	total := int64(0)
	for _, x := range l.memory {
		total += x.size
	}
	return total
}

// reach is how many bytes from an address on are mapped without a hole.
func (l *ledger) reach(base uint64) int64 {
	end := base
	for _, p := range l.pieces {
		if p.from <= end && end < p.to {
			end = p.to
		}
	}
	return int64(end - base)
}

// unusable is the first mapping behind a block that may not be read and written. It answers nil where there is none, and
// whole is false where some of the block has no mapping at all.
func (l *ledger) unusable(at, size uint64) (p *piece, whole bool) {
	end := at + size
	for i := range l.pieces {
		p := &l.pieces[i]
		if p.from > at || at >= p.to {
			continue
		}
		if !p.usable {
			return p, true
		}
		if at = p.to; at >= end {
			return nil, true
		}
	}
	return nil, false
}

// step is one operation of a sequence with what the trace shows of it.
type step struct {
	op     allocator.Op
	answer allocator.Answer
	calls  []int // the records of its CUDA calls
	before int64 // bytes mapped from Base on when it began
	mapped int64 // and when it had ended
	held   int64 // physical memory when it had ended, in bytes
	// unusable is the first mapping behind the block that was handed out that may not be read and written.
	unusable *piece
	unmapped bool // the block has addresses without any memory
}

// grew reports whether memory was added.
func (s *step) grew() bool { return s.mapped > s.before }

// replay is a sequence as it went, with what the trace shows of it. What it shows behind a wrong answer may come of that,
// and is not judged.
type replay struct {
	*allocator.Run[layout]
	e     *suite.Evidence
	steps []step
}

func replayOf(e *suite.Evidence, r *allocator.Run[layout]) *replay {
	return suite.Once(r.Notes, "steps of "+r.Name, func() *replay {
		c := &replay{Run: r, e: e}
		if r.Record != nil {
			c.steps = steps(r.Notes, r.Record)
		}
		return c
	})
}

// finding is a fault that the trace shows in a step, at the record which is at fault, or where that is -1 on the method's line.
func (c *replay) finding(i, record int, f suite.Finding) []suite.Finding {
	site := c.steps[i].answer.Site
	if record >= 0 {
		site = c.Notes.Trace.SiteOf(&c.Notes.Trace.Records[record])
	}
	f.Severity, f.Record = cmp.Or(f.Severity, suite.Error), record
	return []suite.Finding{c.e.At(f, site)}
}

// doing begins a sentence about a step: "Asked to reset (operation 2 of "small blocks" with …), the arena".
func (c *replay) doing(i int) string {
	return fmt.Sprintf("Asked to %s (operation %d of %q with %s), the arena", allocator.Words([]allocator.Op{c.steps[i].op}), i+1, c.Name,
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
func steps(notes *suite.CaseNotes, rec *allocator.Record) []step {
	var l ledger
	var all []step
	at, _ := notes.Window(rec.First - 1)
	base := uint64(0)
	for i, a := range rec.Answers[:min(len(rec.Answers), len(rec.Ops))] {
		if base == 0 && len(a.Stats) == statCount {
			base = uint64(a.Stats[statBase])
		}
		from, to := notes.Window(rec.Call(i))
		for ; at < from; at++ { // New, and what was done with the block before
			r := &notes.Trace.Records[at]
			l.see(at, r)
			if r.Op == trace.OpBlockAlloc && i > 0 {
				all[i-1].checkBlock(&l, r)
			}
		}
		s := step{op: rec.Ops[i], answer: a, before: l.reach(base)}
		for ; at < to; at++ {
			r := &notes.Trace.Records[at]
			l.see(at, r)
			if r.Op != trace.OpMark && r.Phase != trace.Leave {
				s.calls = append(s.calls, at)
			}
		}
		s.mapped, s.held = l.reach(base), l.held()
		all = append(all, s)
	}
	return all
}

func (s *step) checkBlock(l *ledger, block *trace.Record) {
	p, whole := l.unusable(block.Addr, uint64(block.Size))
	s.unmapped = !whole
	if p != nil {
		unusable := *p
		s.unusable = &unusable
	}
}
