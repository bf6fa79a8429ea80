package sequence

import (
	"math"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/returned"
	"cudalab/grader/suite/verdict"
)

// Op is an operation of a lesson's, or of a kit that lessons are built on.
type Op interface {
	ByCaller() bool // reports whether the student's code is asked for nothing, and makes no Call
}

// Record is a sequence that was carried out, as cudalab sees it.
type Record[O Op] struct {
	Ops     []O
	Answers []Answer // one per operation, up to the one that ended the sequence
	First   int      // the number of the first operation's Call; see verdict.CaseNotes.Window
}

// Note notes a sequence as numbers: the first Call, how many Calls an operation is, 1 or, where they are all in one,
// 0, the operations, each as three numbers that Read is told how to read, and what the outcomes do not say of the
// answers. Operations that were skipped made no Call, and have no outcome. ops may be nil where who reads knows them.
func Note(b *suite.Bench, name string, first, calls int, ops [][3]uint64, answers []Answer) {
	b.Value(name, uint64(first), uint64(calls), uint64(len(ops)))
	for _, op := range ops {
		b.Value(name, op[:]...)
	}
	b.Value(name, uint64(len(answers)))
	var numbers []uint64
	for _, a := range answers {
		numbers = append(numbers[:0], 0, a.Addr)
		stats, seen := a.Stats(), a.Seen()
		what := uint64(a.Err)
		if stats != nil {
			what |= hasStats
			numbers = appendCounted(numbers, stats)
		}
		if len(seen) > 0 {
			what |= hasSeen
			numbers = appendCounted(numbers, seen)
		}
		numbers[0] = what
		b.Value(name, numbers...)
	}
}

// What an answer's first number holds beside the Err.
const (
	hasStats = 1 << (8 + iota)
	hasSeen
)

func appendCounted(to []uint64, numbers []int64) []uint64 {
	to = append(slices.Grow(to, 1+len(numbers)), uint64(len(numbers)))
	for _, v := range numbers {
		to = append(to, uint64(v))
	}
	return to
}

// Read is the sequences that were noted under a name, in their order; op is the operation that three numbers stand
// for. ops are the operations of one that was noted without.
func Read[O Op](notes *verdict.CaseNotes, name string, ops []O, op func([3]uint64) O) []Record[O] {
	return verdict.Once(notes, "sequences "+name, func() (found []Record[O]) {
		r := reader{left: notes.Values[name]}
		for len(r.left) > 0 {
			found = append(found, record(&r, notes.Outcomes, ops, op))
		}
		return found
	})
}

// reader takes numbers off what was noted; behind the end it reads zeros.
type reader struct {
	left []uint64
	room []int64 // for the Stats of some answers
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

func record[O Op](r *reader, outcomes []verdict.Outcome, ops []O, op func([3]uint64) O) Record[O] {
	rec := Record[O]{First: int(min(r.next(), math.MaxInt32))}
	call, calls := rec.First, int(min(r.next(), 1))
	if n := r.count(3); n > 0 {
		ops = make([]O, n)
		for i := range ops {
			ops[i] = op([3]uint64{r.next(), r.next(), r.next()})
		}
	}
	rec.Ops, rec.Answers = ops, make([]Answer, r.count(2))
	common := detailsOf(outcomes, call) // where all are in one Call, of all answers that have no numbers
	if common != nil && calls == 0 {
		common.Returned = returned.Lines{} // the last one's
	}
	for i := range rec.Answers {
		what := r.next()
		a := Answer{Err: Err(what), Addr: r.next()}
		var own Details
		if what&hasStats != 0 {
			own.Stats = r.numbers()
		}
		if what&hasSeen != 0 {
			own.Seen = r.numbers()
		}
		if a.Err != Skipped && (i >= len(ops) || !ops[i].ByCaller()) {
			a.details = common
			if calls > 0 {
				a.details = detailsOf(outcomes, call)
			}
			call += calls
		}
		if own.Stats != nil || own.Seen != nil {
			d := a.Details()
			own.Text, own.Site, own.Returned = d.Text, d.Site, d.Returned
			a = a.With(own)
		}
		rec.Answers[i] = a
	}
	rec.Answers = rec.Answers[:min(len(rec.Answers), len(ops))]
	return rec
}

// detailsOf are what the outcome of a Call says of an answer; nil where there is none.
func detailsOf(outcomes []verdict.Outcome, call int) *Details {
	if call >= len(outcomes) {
		return nil
	}
	return &Details{Text: outcomes[call].Err, Site: outcomes[call].Stack,
		Returned: outcomes[call].Returned}
}

// numbers are those of a list, behind their number; never nil.
func (r *reader) numbers() []int64 {
	n := r.count(1)
	if n == 0 {
		return []int64{}
	}
	if len(r.room) < n {
		r.room = make([]int64, min(len(r.left), max(n, roomAtOnce)))
	}
	for i := range n {
		r.room[i] = int64(r.next())
	}
	all := r.room[:n:n]
	r.room = r.room[n:]
	return all
}

// roomAtOnce is for how many numbers room is made together.
const roomAtOnce = 1 << 10

// Call is the number of the Call that operation i was, for CaseNotes.Window. A skipped operation was none, nor
// was one that is the caller's.
func (r *Record[O]) Call(i int) int {
	call := r.First
	for k, a := range r.Answers[:min(i, len(r.Answers))] {
		if a.Err != Skipped && !r.Ops[k].ByCaller() {
			call++
		}
	}
	return call
}
