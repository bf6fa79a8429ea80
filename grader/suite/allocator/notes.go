package allocator

import (
	"math"

	"cudalab/grader/suite"
)

// Record is a sequence that was carried out, as cudalab sees it.
type Record struct {
	Ops     []Op
	Answers []Answer // one per operation, up to the one that ended the sequence
	First   int      // the number of the first operation's Call; see suite.CaseNotes.Window
}

// note notes a sequence as numbers: the first Call, how many Calls an operation is, 1 or, where they are all in one, 0, the
// operations, and what the outcomes do not say of the answers. Operations that were skipped made no Call, and have no outcome.
func note(b *suite.Bench, name string, first, calls int, ops []Op, answers []Answer) {
	b.Value(name, uint64(first), uint64(calls), uint64(len(ops)))
	for _, op := range ops {
		b.Value(name, uint64(op.Kind), uint64(op.Size), uint64(op.Block), uint64(op.Stream))
	}
	b.Value(name, uint64(len(answers)))
	var numbers []uint64
	for _, a := range answers {
		stats := 0 // there were none
		if a.Stats != nil {
			stats = 1 + len(a.Stats)
		}
		numbers = append(numbers[:0], uint64(a.Err), a.Addr, uint64(stats))
		for _, v := range a.Stats {
			numbers = append(numbers, uint64(v))
		}
		numbers = append(numbers, uint64(len(a.Seen)))
		for _, v := range a.Seen {
			numbers = append(numbers, uint64(v))
		}
		b.Value(name, numbers...)
	}
}

// Read is the sequences that were noted under a name, in their order. ops are the operations of one that was noted without.
func Read(notes *suite.CaseNotes, name string, ops []Op) []Record {
	return suite.Once(notes, "sequences "+name, func() (found []Record) {
		r := reader{left: notes.Values[name]}
		for len(r.left) > 0 {
			found = append(found, r.record(notes.Outcomes, ops))
		}
		return found
	})
}

// reader takes numbers off what was noted; behind the end it reads zeros.
type reader struct {
	left  []uint64
	stats []int64 // what all answers' Stats are parts of
}

func (r *reader) next() uint64 {
	if len(r.left) == 0 {
		return 0
	}
	v := r.left[0]
	r.left = r.left[1:]
	return v
}

// count is a number of things to follow, each of at least so many numbers.
func (r *reader) count(size int) int { return int(min(r.next(), uint64(len(r.left)/size))) }

func (r *reader) record(outcomes []suite.Outcome, ops []Op) Record {
	rec := Record{First: int(min(r.next(), math.MaxInt32))}
	call, calls := rec.First, int(min(r.next(), 1))
	rec.Ops = make([]Op, r.count(4))
	for i := range rec.Ops {
		rec.Ops[i] = Op{Kind: Kind(r.next()), Size: int64(r.next()), Block: int(int64(r.next())), Stream: Stream(int64(r.next()))}
	}
	if len(rec.Ops) == 0 {
		rec.Ops = ops
	}
	rec.Answers = make([]Answer, r.count(4))
	for i := range rec.Answers {
		a := Answer{Err: Err(r.next()), Addr: r.next(), Stats: r.statistics(), Seen: r.seen()}
		if a.Err != Skipped && (i >= len(rec.Ops) || !rec.Ops[i].byCaller()) {
			if call < len(outcomes) {
				a.Text, a.Site = outcomes[call].Err, outcomes[call].Stack
			}
			call += calls
		}
		rec.Answers[i] = a
	}
	rec.Answers = rec.Answers[:min(len(rec.Answers), len(rec.Ops))]
	return rec
}

// statistics are an answer's Stats.
func (r *reader) statistics() []int64 {
	n := r.next()
	if n == 0 {
		return nil
	}
	return r.numbers(int(min(n-1, uint64(len(r.left)))))
}

// seen is what was seen of an operation; nil: nothing.
func (r *reader) seen() []int64 {
	if n := r.count(1); n > 0 {
		return r.numbers(n)
	}
	return nil
}

// numbers are the next n.
func (r *reader) numbers(n int) []int64 {
	if n == 0 {
		return []int64{}
	}
	if len(r.stats) < n {
		r.stats = make([]int64, len(r.left))
	}
	for i := range n {
		r.stats[i] = int64(r.next())
	}
	all := r.stats[:n:n]
	r.stats = r.stats[n:]
	return all
}

// Call is the number of the Call that operation i was, for CaseNotes.Window. A skipped operation was none, nor
// was one that is the caller's.
func (r *Record) Call(i int) int {
	call := r.First
	for k, a := range r.Answers[:min(i, len(r.Answers))] {
		if a.Err != Skipped && !r.Ops[k].byCaller() {
			call++
		}
	}
	return call
}
