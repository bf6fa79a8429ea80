package order

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// machine runs a program: the host makes its calls one after the other, and between any two of them any stream may go
// on with what it has to do. It knows nothing of clocks.
type machine []machineCall

// machineCall is what a call means to those that run the program. Calls are named by their numbers.
type machineCall struct {
	idle    bool  // it does nothing itself, and at most has the host wait
	queued  bool  // what it does is done by a stream, at some time after the call, and not by the host at once
	turn    []int // what a stream does before it comes to this call
	awaits  []int // what else is over before what the call does begins
	returns []int // what is over before the host goes on
}

// relation says of two calls of a program whether what the first does is over before what the second does begins, in
// every interleaving. A call is in order with itself.
type relation interface{ ordered(i, j int) bool }

// calls is a set of calls of a small program.
type calls uint64

func (s calls) has(i int) bool { return s>>i&1 != 0 }
func (s calls) with(list ...int) calls {
	for _, i := range list {
		s |= 1 << i
	}
	return s
}
func (s calls) within(all calls) bool { return s&^all == 0 }

// run is a small program while it runs.
type run struct {
	queued, idle  calls
	gate, returns []calls
}

func (m machine) run() *run {
	r := &run{gate: make([]calls, len(m)), returns: make([]calls, len(m))}
	for i, c := range m {
		if c.queued {
			r.queued = r.queued.with(i)
		}
		if c.idle {
			r.idle = r.idle.with(i)
		}
		r.gate[i] = calls(0).with(c.turn...).with(c.awaits...)
		r.returns[i] = calls(0).with(c.returns...)
	}
	return r
}

// state is how many calls the host has made, and which of them are over.
type state uint64

const smallCalls = 56 // calls that a state has room for

func stateOf(made int, over calls) state { return state(made)<<smallCalls | state(over) }
func (s state) made() int                { return int(s >> smallCalls) }
func (s state) over() calls              { return calls(s) & (1<<smallCalls - 1) }

// next calls visit with each state that can follow s, by one step of the host or of a stream.
func (r *run) next(s state, visit func(state)) {
	made, over := s.made(), s.over()
	if made < len(r.gate) && (made == 0 || r.returns[made-1].within(over)) {
		switch {
		case r.queued.has(made):
			visit(stateOf(made+1, over))
		case r.gate[made].within(over):
			visit(stateOf(made+1, over.with(made)))
		}
	}
	for left := r.queued &^ over & (1<<made - 1); left != 0; left &= left - 1 {
		if i := bits.TrailingZeros64(uint64(left)); r.gate[i].within(over) {
			visit(stateOf(made, over.with(i)))
		}
	}
}

// observed is what all interleavings of a small program show together.
type observed struct {
	interleavings float64
	first         []calls // by call: those that it was over before, in some interleaving
}

func (o *observed) ordered(i, j int) bool { return !o.first[j].has(i) }

// see takes in a state that so many interleavings come to.
func (o *observed) see(r *run, s state, interleavings float64) {
	over, all := s.over()&^r.idle, calls(1<<len(r.gate)-1)
	for left := over; left != 0; left &= left - 1 {
		o.first[bits.TrailingZeros64(uint64(left))] |= all &^ r.idle &^ over
	}
	if s.made() == len(r.gate) && all.within(s.over()) {
		o.interleavings += interleavings
	}
}

// observe goes through all interleavings at once, step by step: those that have come to the same state go on together.
func (m machine) observe() *observed {
	r, o := m.run(), &observed{first: make([]calls, len(m))}
	ways := map[state]float64{0: 1}
	for len(ways) > 0 {
		following := make(map[state]float64, len(ways))
		for s, n := range ways {
			o.see(r, s, n)
			r.next(s, func(to state) { following[to] += n })
		}
		ways = following
	}
	return o
}

// observeEach goes through all interleavings one after the other.
func (m machine) observeEach() *observed {
	r, o := m.run(), &observed{first: make([]calls, len(m))}
	var from func(state)
	from = func(s state) {
		o.see(r, s, 1)
		r.next(s, from)
	}
	from(0)
	return o
}

// follows is the same relation as a graph, closed transitively, for programs that have too many interleavings. By
// call it has what is over before the call does what it does.
type follows [][]bool

func (f follows) ordered(i, j int) bool { return i == j || f[j][i] }

func (m machine) graph() relation {
	f := make(follows, len(m))
	host := make([]bool, len(m)) // what is over when the host makes the next call
	for i, c := range m {
		f[i] = append([]bool(nil), host...)
		for _, list := range [][]int{c.turn, c.awaits} {
			for _, x := range list {
				f.join(f[i], x)
			}
		}
		if !c.queued {
			f.join(host, i)
		}
		for _, x := range c.returns {
			f.join(host, x)
		}
	}
	return f
}

// join adds call x, and all that is over before it, to a set.
func (f follows) join(set []bool, x int) {
	set[x] = true
	for i, before := range f[x] {
		set[i] = set[i] || before
	}
}

// Going through the interleavings together shows what going through each by itself shows, and so does the graph.
func TestInterleavings(t *testing.T) {
	ordered := [2]int{}
	for seed := range uint64(500) {
		m := randomProgram(rand.New(rand.NewPCG(seed, 3)), 6, 3, 3).build().machine
		each, graph := m.observeEach(), m.graph()
		require.Equal(t, each, m.observe())
		require.Positive(t, each.interleavings)
		for j := range m {
			for i := range j {
				if m[i].idle || m[j].idle {
					continue
				}
				require.Equal(t, each.ordered(i, j), graph.ordered(i, j), "seed %d: call %d before call %d", seed, i, j)
				if each.ordered(i, j) {
					ordered[1]++
				} else {
					ordered[0]++
				}
			}
		}
	}
	require.Greater(t, ordered[0], 500)
	require.Greater(t, ordered[1], 500)
}
