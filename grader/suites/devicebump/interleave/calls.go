package interleave

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/returned"
	"cudalab/native/trace"
)

// point is how far a call has come: behind so many operations, with these answers.
type point struct {
	id      uint32
	call    *call
	op      Op       // the next; of no meaning where the call is over
	over    bool     // it has returned
	line    int      // where the next operation stands, or where it has returned; 0 where that is not known
	offsets []uint64 // what it answered: one for each size, contract.NoRoom where it was refused
	made    int      // operations so far
	changes int      // of the word, among them
	before  *point   // nil at the beginning
	answer  uint64   // that led here from before
	next    map[uint64]*point
}

// answers are all answers that the call has had by then.
func (p *point) answers() []uint64 {
	var all []uint64
	for ; p.before != nil; p = p.before {
		all = append(all, p.answer)
	}
	slices.Reverse(all)
	return all
}

// ops are the operations on the way to a point.
func (p *point) ops() []Op {
	var all []Op
	for q := p.before; q != nil; q = q.before {
		all = append(all, q.op)
	}
	slices.Reverse(all)
	return all
}

// call is one request, whoever makes it.
type call struct {
	request  Request
	capacity uint64
	begin    *point
}

// calls are those of one exploration, each once.
type calls struct {
	code       Code
	byRequest  map[string]*call
	points     []*point
	unsteady   *call // one that did other operations with the same answers
	executions int   // of the code
}

// of is the beginning of a call.
func (c *calls) of(r Request, capacity uint64) *point {
	key := binary.LittleEndian.AppendUint64(nil, capacity)
	if r.Warp {
		key = append(key, 1)
	}
	for _, size := range r.Sizes {
		key = binary.LittleEndian.AppendUint64(key, size)
	}
	found := c.byRequest[string(key)]
	if found == nil {
		found = &call{request: r, capacity: capacity}
		c.byRequest[string(key)] = found
		found.begin = c.extend(found, nil, 0)
	}
	return found.begin
}

// after is the point behind the next operation of p, if that is answered so.
func (c *calls) after(p *point, answer uint64) *point {
	if known := p.next[answer]; known != nil {
		return known
	}
	return c.extend(p.call, p, answer)
}

// extend carries a call out up to the operation behind a new answer.
func (c *calls) extend(of *call, before *point, answer uint64) *point {
	p := &point{id: uint32(len(c.points)), call: of, before: before, answer: answer, next: map[uint64]*point{}}
	c.points = append(c.points, p)
	if before != nil {
		p.made, p.changes = before.made+1, before.changes
		if before.op.after(answer) != answer {
			p.changes++
		}
		before.next[answer] = p
	}
	c.carryOut(p)
	return p
}

// carryOut carries the call out again up to p, and finds out what comes there: the first time it is noted, later it has
// to be the same.
func (c *calls) carryOut(p *point) {
	known := p.over || p.op != Op{}
	script, want := p.answers(), p.ops()
	c.executions++
	steady, stopped, at, next, line := true, false, 0, Op{}, 0
	w := lend(func(o Op) uint64 {
		if at < len(script) && o == want[at] {
			at++
			return script[at-1]
		}
		if !stopped { // code that goes on behind a recover has come no further
			steady, next, stopped = at == len(script), o, true
			if !known {
				line = operationLine()
			}
		}
		panic(stop{})
	})
	returned.Last = returned.Lines{}
	offsets := run(c.code, p.call, w, &stopped)
	if !stopped {
		line = returned.Last.Only()
	}
	switch {
	case !steady || !stopped && at < len(script):
		c.unsteady = p.call
		next, stopped = Op{}, false
		offsets = make([]uint64, len(p.call.request.Sizes))
	case known && (stopped == p.over || stopped && next != p.op || !stopped && !slices.Equal(offsets, p.offsets)):
		c.unsteady = p.call
	}
	if !known {
		p.op, p.over, p.offsets, p.line = next, !stopped, offsets, line
	}
}

// operationLine is the line of the code's that has called an operation; it is for within that.
func operationLine() int {
	for _, f := range trace.Callers(1) {
		if strings.Contains(f.Func, "/exercises/devicebump.") {
			return f.Line
		}
	}
	return 0
}

// run is one call of the code, up to where the word stops it. Any other panic is the code's own, and goes on.
func run(code Code, c *call, w word, stopped *bool) (offsets []uint64) {
	defer func() {
		if *stopped {
			_ = recover()
		}
	}()
	if c.request.Warp {
		offsets = make([]uint64, len(c.request.Sizes))
		for i := range offsets {
			offsets[i] = poison
		}
		code.AllocWarp(w, c.capacity, slices.Clip(slices.Clone(c.request.Sizes)), offsets)
		return slices.Clone(offsets)
	}
	offset, ok := code.Alloc(w, c.capacity, c.request.Sizes[0])
	if !ok {
		offset = contract.NoRoom
	}
	return []uint64{offset}
}

// again carries out once more what calls have come to, in another order: code that keeps something from one call to the
// next comes to something else.
func (c *calls) again() {
	for _, p := range slices.Backward(c.points) {
		if c.unsteady != nil {
			return
		}
		if p.over {
			c.carryOut(p)
		}
	}
}

// stop is what the word panics with to end a call.
type stop struct{}

// word is a contract.Word by what answers its operations.
type word suite.Lent[func(Op) uint64]

func lend(answer func(Op) uint64) word { return word(suite.Lend(answer)) }

// Format prints nothing of a word, since code may look for a number in what is printed.
func (word) Format(fmt.State, rune) {}

func (w word) Load() uint64                  { return w()(Op{Kind: Load}) }
func (w word) Add(value uint64) (old uint64) { return w()(Op{Kind: Add, Value: value}) }
func (w word) CompareAndSwap(compare, value uint64) (old uint64) {
	return w()(Op{Kind: CompareAndSwap, Compare: compare, Value: value})
}

// Plain is a word that nobody else uses, kept in a variable.
func Plain(taken *uint64) contract.Word {
	return lend(func(o Op) (old uint64) {
		old = *taken
		*taken = o.after(old)
		return old
	})
}
