package schedule

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Orders is how many orders there are.
type Orders struct {
	Operations int      // that the orders are of
	Count      *big.Int // how many there are, or at least are
	Exact      bool
}

// String is the number with its thousands set apart, or where it is long, how many digits a power of ten has that it is
// no less than.
func (o Orders) String() string {
	switch {
	case o.Count == nil:
		return "1"
	case len(o.Count.String()) > longNumber:
		return fmt.Sprintf("more than 10^%d", len(o.Count.String())-1)
	case !o.Exact:
		return "at least " + grouped(o.Count.String())
	}
	return grouped(o.Count.String())
}

const longNumber = 15 // digits

// grouped sets a number's thousands apart.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// most is how many of the states are looked at that operations can be in one after the other, before they are counted
// in windows of so many.
const (
	most   = 5_000
	window = 12
)

// Count counts the orders that CUDA may choose for the operations. What comes wholly before the rest is counted by
// itself: each order of the one goes with each of the other. Where there are too many states to be counted, operations
// are counted in windows of the order that happened: every choice of an order in each of these is one of the whole, so
// what comes out is a lower bound.
func (p *Program) Count() Orders { return p.CountWithin(most) }

// CountWithin is Count where it is to take less time: more than so many states at once are too many.
func (p *Program) CountWithin(states int) Orders {
	all := p.operations()
	o := Orders{Operations: len(all), Count: big.NewInt(1), Exact: true}
	for _, part := range p.parts(all) {
		n, ok := p.count(part, states)
		if ok {
			o.times(n)
			continue
		}
		o.Exact = false
		for w := range slices.Chunk(p.inTurn(part), window) {
			if n, ok := p.count(w, states); ok {
				o.times(n)
			}
		}
	}
	return o
}

func (o *Orders) times(n uint64) { o.Count.Mul(o.Count, new(big.Int).SetUint64(n)) }

// parts cuts some operations, which come in the order that happened, where everything before comes before everything
// behind.
func (p *Program) parts(some []int) (list [][]int) {
	chains := p.chained(some)
	number := map[int]int{} // of a chain, among these
	for c, l := range chains {
		number[p.chain[l[0]]] = c
	}
	at := make([]int, len(chains))
	last := map[int]int{} // by chain: what it has last in the part that has begun. All before that part comes before it
	allBefore := func(i int) bool {
		for c, x := range last {
			if c != p.chain[i] && !p.relation.Before(x, i) {
				return false
			}
		}
		return true
	}
	cut := func(k int) bool {
		if k+1 == len(some) {
			return true
		}
		if !allBefore(some[k+1]) { // so it is nearly always
			return false
		}
		for c, l := range chains {
			if at[c] < len(l) && !allBefore(l[at[c]]) {
				return false
			}
		}
		return true
	}
	begun := 0
	for k, i := range some {
		at[number[p.chain[i]]]++
		last[p.chain[i]] = i
		if cut(k) {
			list = append(list, some[begun:k+1])
			begun = k + 1
			clear(last)
		}
	}
	return list
}

// inTurn is an order of some operations that takes from each chain in turn what may come next.
func (p *Program) inTurn(some []int) []int {
	chains := p.chained(some)
	at := make([]int, len(chains))
	order := make([]int, 0, len(some))
	for len(order) < len(some) {
		for c := range chains {
			if p.ready(chains, at, c) {
				order = append(order, chains[c][at[c]])
				at[c]++
			}
		}
	}
	return order
}

// count counts the orders of some operations; it is not ok where there are too many states on the way, or orders.
func (p *Program) count(some []int, most int) (n uint64, ok bool) {
	chains := p.chained(some)
	if len(chains) == 1 {
		return 1, true
	}
	steps := make([]uint64, len(chains)) // a state is how far each chain is, in digits of its own base
	states := uint64(1)
	for c, l := range chains {
		steps[c] = states
		over, low := bits.Mul64(states, uint64(len(l)+1))
		if over > 0 {
			return 0, false
		}
		states = low
	}
	ways := map[uint64]uint64{0: 1}
	at := make([]int, len(chains))
	for range some {
		following := make(map[uint64]uint64, len(ways))
		for state, n := range ways {
			for c, l := range chains {
				at[c] = int(state / steps[c] % uint64(len(l)+1))
			}
			for c := range chains {
				if !p.ready(chains, at, c) {
					continue
				}
				sum, carry := bits.Add64(following[state+steps[c]], n, 0)
				if carry > 0 {
					return 0, false
				}
				following[state+steps[c]] = sum
			}
		}
		if len(following) > most {
			return 0, false
		}
		ways = following
	}
	return ways[states-1], true
}

// chained are some records, which come in an order that CUDA may choose, by the chain they are in.
func (p *Program) chained(some []int) (chains [][]int) {
	at := map[int]int{}
	for _, i := range some {
		c, ok := at[p.chain[i]]
		if !ok {
			c = len(chains)
			at[p.chain[i]] = c
			chains = append(chains, nil)
		}
		chains[c] = append(chains[c], i)
	}
	return chains
}

// ready reports whether the next of a chain may come next, given how far each chain is: nothing that is still to come
// in another has to come before it. In a chain it is enough to ask for the first.
func (p *Program) ready(chains [][]int, at []int, c int) bool {
	if at[c] == len(chains[c]) {
		return false
	}
	i := chains[c][at[c]]
	for other, list := range chains {
		if other != c && at[other] < len(list) && p.relation.Before(list[at[other]], i) {
			return false
		}
	}
	return true
}

// Random is an order that CUDA may choose, of all that is done to memory. Half of them take whatever may come next; the
// other half prefer some streams to others from end to end, which shows what hangs on one of them being far ahead.
func (p *Program) Random(random *rand.Rand) []int {
	at := make([]int, len(p.chains))
	order := make([]int, 0, len(p.list))
	prefer := random.IntN(2) == 0
	rank := random.Perm(len(p.chains))
	for len(order) < len(p.list) {
		if !prefer {
			random.Shuffle(len(rank), func(i, j int) { rank[i], rank[j] = rank[j], rank[i] })
		}
		for _, c := range rank {
			if p.ready(p.chains, at, c) {
				order = append(order, p.chains[c][at[c]])
				at[c]++
				break
			}
		}
	}
	return order
}

// Each visits all orders that Count counts, until there are more than limit; it reports whether that was all. Between
// the operations the host is as far ahead as it can be. An order is visit's only until it returns.
func (p *Program) Each(limit int, visit func(order []int)) (all bool) {
	at := make([]int, len(p.chains))
	order := make([]int, 0, len(p.list))
	take := func(c int) {
		order = append(order, p.chains[c][at[c]])
		at[c]++
	}
	all = true
	var from func()
	from = func() {
		known, was := len(order), slices.Clone(at)
		defer func() { order, at = order[:known], was }()
		for again := true; again; {
			again = false
			for c := range p.chains {
				for p.ready(p.chains, at, c) && !p.isOperation(p.chains[c][at[c]]) {
					take(c)
					again = true // what is no operation in one chain may hold back what is none in another
				}
			}
		}
		if len(order) == len(p.list) {
			if limit--; limit < 0 {
				all = false
				return
			}
			visit(order)
			return
		}
		here, ahead := len(order), slices.Clone(at)
		for c := range p.chains {
			if all && p.ready(p.chains, at, c) {
				take(c)
				from()
				order = order[:here]
				copy(at, ahead)
			}
		}
	}
	from()
	return all
}
