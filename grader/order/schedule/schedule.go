// Package schedule says what a program's other orders would have come to. A trace holds the one order in which a device
// happened to do the work of several streams; CUDA may choose any that the happens-before relation allows. Of a fault
// in the order, Counterexample builds an order in which it goes wrong, and carries it out. Of a program without one,
// Count says how many orders there are, and Same carries out as many as one likes, all of which have to come to the
// same.
//
// An order is carried out on memory of a kind of its own: every write leaves a value there that only this write leaves,
// made of its call and of all that the call has read. Two orders in which each call reads the same values hence compute
// the same, whatever the kernels do. Atomic updates add up, in whatever order.
//
// Legal judges orders without the relation that they were built from: it follows the streams, events and waits of the
// trace one call at a time, as CUDA does.
package schedule

import (
	"cudalab/grader/order"
	"cudalab/native/trace"
)

// hostID stands for the host where a stream's identity is asked for.
const hostID = ^trace.ID(0)

// Program is the work of a trace, for which there may be several orders. It may be used by several goroutines.
type Program struct {
	Trace    *trace.Trace
	relation *order.Relation
	done     []int   // by record: the one that has its call's answer
	ops      []*op   // by record; nil where nothing is done to memory
	list     []int   // the records that have one
	chains   [][]int // the same, in the order that each stream, and the host, has for its own
	chain    []int   // by record: the number of its chain
	space    *space  // whose bytes are where
}

// op is what a call does to memory.
type op struct {
	kind    opKind
	memory  trace.ID // that is made, ended or mapped
	size    int64
	touches []touch
	from    trace.Op   // of an end: the call that the memory is from
	blocks  []trace.ID // that an unmapping ends, for they lie there
	part    bool       // of a block: its bytes are those of other memory
}

type opKind uint8

const (
	uses    opKind = iota
	makes          // an allocation or block
	ends           // likewise
	places         // physical memory to addresses
	unmaps         // all mappings in touches
	permits        // or forbids: MemSetAccess
)

// touch is a range of bytes that a call uses.
type touch struct {
	memory  trace.ID // whose bytes they are: that around a block, and behind a mapping
	lo, hi  int64
	block   trace.ID // that the program was handed; 0: none
	mapping int      // the record of the MemMap that the call goes through; -1: none
	kind    trace.AccessKind
	partly  bool // behind some of the block's addresses there is no memory
}

// New is the program of a trace.
func New(t *trace.Trace) *Program {
	p := &Program{Trace: t, relation: order.Of(t), done: answers(t), ops: make([]*op, len(t.Records)),
		chain: make([]int, len(t.Records))}
	s := newSpace(t, p.done)
	p.space = s
	chains := map[trace.ID]int{}
	for i := range t.Records {
		o := s.op(i)
		if o == nil {
			continue
		}
		p.ops[i] = o
		p.list = append(p.list, i)
		c := chainOf(&t.Records[i])
		if _, ok := chains[c]; !ok {
			chains[c] = len(p.chains)
			p.chains = append(p.chains, nil)
		}
		p.chain[i] = chains[c]
		p.chains[chains[c]] = append(p.chains[chains[c]], i)
	}
	return p
}

// answers says of each record which one has its call's answer: that of leaving for a call that may wait; -1 where the
// call was never left.
func answers(t *trace.Trace) []int {
	done := make([]int, len(t.Records))
	for i := range t.Records {
		done[i] = i
		if t.Records[i].Phase == trace.Enter {
			done[i] = -1
		}
	}
	for i := range t.Records {
		if r := &t.Records[i]; r.Phase == trace.Leave && int(r.Pair) < i && r.Pair >= 0 {
			done[r.Pair] = i
		}
	}
	return done
}

// chainOf is the stream that does a call's work, or the host.
func chainOf(r *trace.Record) trace.ID {
	if queued(r) {
		return r.Stream
	}
	return hostID
}

// queued reports whether a call has a place in a stream.
func queued(r *trace.Record) bool { return r.Op.InStream() || passes(r) }

// passes reports whether a call has a place in its stream, where nothing is done: a block is handed out or taken back
// there.
func passes(r *trace.Record) bool {
	return (r.Op == trace.OpBlockAlloc || r.Op == trace.OpBlockFree) && r.Flags&trace.InStream != 0
}

// operations are the records of what the order is about: the work of streams, and what the host itself reads and writes
// of pinned memory.
func (p *Program) operations() []int {
	var all []int
	for _, i := range p.list {
		if p.isOperation(i) {
			all = append(all, i)
		}
	}
	return all
}

func (p *Program) isOperation(i int) bool {
	switch r := &p.Trace.Records[i]; r.Op {
	case trace.OpHostRead, trace.OpHostWrite:
		return true
	default:
		return queued(r) && !passes(r)
	}
}

// Does reports whether the i-th record is of a call that did something to memory. One that was refused did not.
func (p *Program) Does(i int) bool { return i >= 0 && i < len(p.ops) && p.ops[i] != nil }

// Happened is the order in which the calls were made, which is one that CUDA may choose.
func (p *Program) Happened() []int { return append([]int(nil), p.list...) }
