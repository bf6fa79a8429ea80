package devicebump

import (
	"fmt"
	"math/rand/v2"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/devicebump/interleave"
)

// losing is a trial of calls that lose their swaps to others, as often as is drawn.
type losing struct {
	*suite.Trial[Code]
	function string
	draw     func(*rand.Rand) []interleave.Contention
}

const (
	othersBytes = 16      // what somebody else takes each time
	mostLosses  = 1 << 16 // no code tries so often and then gives up
)

// noteLost is, of each call, the word behind it, how often others have changed that, how many operations it took, and
// its offsets; of one that has no end 0 operations.
const noteLost = "lost"

func newLosing(id, after, function string, one func(*rand.Rand) request) *losing {
	l := &losing{function: function, draw: func(r *rand.Rand) []interleave.Contention {
		few := func() interleave.Contention {
			return interleave.Contention{Request: one(r), Bytes: othersBytes, Capacity: 16 * r.Uint64N(12)}
		}
		lose := func(c *interleave.Contention, times int) {
			c.Times = times
			if c.Capacity += othersBytes * uint64(times); r.IntN(3) == 0 {
				c.Capacity /= 2 // it is full before
				c.Capacity -= c.Capacity % 16
			}
		}
		return suite.Farther(r, few, suite.Number[interleave.Contention]{Most: mostLosses, Set: lose})
	}}
	l.Trial = &suite.Trial[Code]{ID: id, After: after, Drive: func(b *suite.Bench, sides suite.Sides[Code]) {
		for _, c := range l.draw(b.Rand()) {
			var came interleave.Contended
			label := fmt.Sprintf("%s of %s bytes, of which others take %d ahead of each swap", c.Request,
				interleave.Number(c.Capacity), othersBytes)
			o := b.Call(label, func() error {
				return interleave.Unfinished(func() { came = c.Run(ofCode(sides.Student)) })
			})
			if !o.OK() {
				return
			}
			if came.Endless {
				came.Ops = 0
			}
			b.Value(noteLost, append([]uint64{came.Word, uint64(came.Changes), uint64(came.Ops)}, came.Offsets...)...)
		}
	}}
	return l
}

// wrong judges what the calls have answered, costly how many operations they took. One that has no end is told by the
// programs of threads.
func (l *losing) wrong(e *suite.Evidence) []verdict.Finding {
	return l.first(e, func(c interleave.Contention, came interleave.Contended) *verdict.Finding {
		if came.Ops == 0 || c.Right(came) {
			return nil
		}
		should, bytes := c.Alone(came.Changes)
		return &verdict.Finding{Rule: "lost-swaps",
			Message: fmt.Sprintf("should answer %s and take %s, but answered %s and left %d in the word.", said(should),
				verdict.Count(int(bytes), "byte", "bytes"), said(came.Offsets), came.Word),
			Why: "However often others are first, there is room or there is none: who gives up after some tries leaves room " +
				"that is there.",
			Fix: "Try again with what the swap has found there, until it succeeds or the block does not fit any more."}
	})
}

func (l *losing) costly(e *suite.Evidence) []verdict.Finding {
	return l.first(e, func(c interleave.Contention, came interleave.Contended) *verdict.Finding {
		most, over := c.TooMany(came)
		if !over {
			return nil
		}
		return &verdict.Finding{Rule: interleave.TooMany,
			Message: fmt.Sprintf("should take no more than %d operations, but took %d.", most, came.Ops),
			Why:     "Each operation on the word holds up all other threads.",
			Fix:     "Take what CompareAndSwap has found there for the next try, and ask for nothing besides."}
	})
}

// first is the first finding about one of the calls, with a beginning to its message.
func (l *losing) first(e *suite.Evidence,
	look func(interleave.Contention, interleave.Contended) *verdict.Finding) []verdict.Finding {
	values, outcomes := e.Cases[l.ID].Values[noteLost], e.Cases[l.ID].Outcomes
	for i, c := range l.draw(suite.NewRand(e.Seed, l.ID)) {
		n := 3 + len(c.Request.Sizes)
		if len(values) < n {
			return nil
		}
		came := interleave.Contended{Word: values[0], Changes: int(min(values[1], uint64(c.Times))),
			Ops: int(min(values[2], 1<<30)), Offsets: values[3:n]}
		values = values[n:]
		if f := look(c, came); f != nil {
			f.Severity, f.Record, f.Function = verdict.Error, -1, l.function
			if i < len(outcomes) {
				f.Look.Return = outcomes[i].Returned
			}
			f.Message = fmt.Sprintf("%s for %s of %s bytes, while others took %d ahead of its swaps %s, %s", l.function,
				c.Request, interleave.Number(c.Capacity), othersBytes, verdict.Count(came.Changes, "time", "times"), f.Message)
			return []verdict.Finding{*f}
		}
	}
	return nil
}

// said are offsets in words.
func said(offsets []uint64) string {
	all := make([]string, len(offsets))
	for i, o := range offsets {
		if all[i] = fmt.Sprint(o); o == contract.NoRoom {
			all[i] = "no room"
		}
	}
	return fmt.Sprint(all)
}

var (
	losingThread = newLosing("losing", "1b", "Alloc", func(r *rand.Rand) request { return one(1 + r.Uint64N(80)) })
	losingWarp   = newLosing("losing-warp", "2b", "AllocWarp", func(r *rand.Rand) request {
		return warp(1+r.Uint64N(80), 1+r.Uint64N(80), 1+r.Uint64N(80))
	})
)
