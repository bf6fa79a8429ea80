package guarded

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// Predicate is when a guarded program is wrong.
type Predicate struct {
	Kind     Kind
	function *function
	variable int
	relation relation
	constant int64
}

// Kind is what a predicate is about.
type Kind string

const (
	Always      Kind = "always"
	Small       Kind = "small"       // a number is below a power of two
	Large       Kind = "large"       // or at least one
	PowerOfTwo  Kind = "power"       // or exactly one
	End         Kind = "end"         // or 0, or the largest that there is
	Equal       Kind = "equal"       // two arguments are, or a truth is true
	Unequal     Kind = "unequal"     // or are not
	OneCall     Kind = "call"        // it is the k-th call
	LaterCall   Kind = "later call"  // or that or a later one
	AfterErrors Kind = "after error" // so many calls have answered an error before
	Shape       Kind = "shape"       // the numbers of a call that came in the timed run alone
)

// kinds are all, in the order in which tables have them.
var kinds = []Kind{Always, Small, Large, PowerOfTwo, End, Equal, Unequal, OneCall, LaterCall, AfterErrors, Shape}

// relation is how a number is compared with the constant; support.txt has the same.
type relation int64

const (
	whatever relation = iota
	is
	atLeast
	below
)

func (p Predicate) String() string {
	if p.Kind == Always {
		return p.function.name + ": always"
	}
	o := p.function.observed[p.variable]
	if o.kind == shape {
		return p.function.name + ": " + p.function.shape(p.constant)
	}
	sign := map[relation]string{is: "==", atLeast: ">=", below: "<"}[p.relation]
	if o.kind == truth {
		if p.constant == 1 {
			return fmt.Sprintf("%s: %s", p.function.name, o.name)
		}
		return fmt.Sprintf("%s: not %s", p.function.name, o.name)
	}
	return fmt.Sprintf("%s: %s %s %s", p.function.name, o.name, sign, short(p.constant))
}

// shape says what numbers a call has that is of a shape.
func (f *function) shape(hash int64) string {
	const fit = 10 // more numbers are not to be read from it
	if f.numbers > fit {
		return fmt.Sprintf("shape %x", hash)
	}
	said := make([]string, f.numbers)
	hash &= 1<<62 - 1
	for i := f.numbers - 1; i >= 0; i-- {
		power := hash % 67
		hash /= 67
		said[i] = f.observed[i].name + " 0"
		if power > 0 {
			said[i] = fmt.Sprintf("%s 2^%d", f.observed[i].name, power-1)
		}
	}
	return "about " + strings.Join(said, ", ")
}

// short is a number as one reads it: 2^20.
func short(n int64) string {
	if n == math.MaxInt64 {
		return "2^63-1"
	}
	for power := 7; power < 63; power++ {
		if n == 1<<power {
			return fmt.Sprintf("2^%d", power)
		}
	}
	return fmt.Sprint(n)
}

// counts are the calls that predicates tell apart by their number.
var counts = []int64{1, 2, 3, 4, 8, 16, 64, 256, 1000}

// predicates are all predicates of a function's calls, but for those by shapes, which have to be seen.
func (f *function) predicates() (all []Predicate) {
	add := func(kind Kind, variable int, r relation, constant int64) {
		all = append(all, Predicate{kind, f, variable, r, constant})
	}
	add(Always, 0, whatever, 0)
	for i, o := range f.observed {
		switch o.kind {
		case truth:
			add(Equal, i, is, 1)
			add(Unequal, i, is, 0)
		case call:
			for _, k := range counts {
				add(OneCall, i, is, k)
				add(LaterCall, i, atLeast, k)
			}
		case failed:
			add(AfterErrors, i, atLeast, 1)
			add(AfterErrors, i, atLeast, 2)
		case number:
			add(End, i, is, 0)
			add(End, i, is, int64(uint64(1)<<min(o.bits, 63)-1))
			for power := range o.bits {
				add(Small, i, below, 1<<power)
				add(Large, i, atLeast, 1<<power)
				add(PowerOfTwo, i, is, 1<<power)
			}
		}
	}
	return all
}

// Pair is a wrong program and when it is wrong: a guarded program.
type Pair struct {
	Wrong
	Predicate
	mode int64
}

func (p Pair) String() string { return p.Wrong.Program.String() + " where " + p.Predicate.String() }

// pair makes a pair, if a call that the predicate is of can be wrong, or what it makes or works on.
func (p *Program) pair(w Wrong, q Predicate) (Pair, bool) {
	f := q.function
	others := func(of string) bool {
		return slices.ContainsFunc(p.functions, func(g *function) bool { return g.of == of && w.comesTo[g.name] })
	}
	switch {
	case f.makes != "":
		return Pair{w, q, 0}, w.comesTo[f.name] || others(f.makes)
	case f.of != "" && w.whole:
		return Pair{}, false
	case w.comesTo[f.name]:
		return Pair{w, q, 0}, true
	case f.of != "" && q.Kind != Always:
		return Pair{w, q, sticky}, others(f.of)
	}
	return Pair{}, false
}

// Seen is what was observed in a run of the right program, by function and variable.
type Seen map[[2]int][]int64

// Holds reports whether a predicate held, and whether it held always.
func (s Seen) Holds(q Predicate) (ever, always bool) {
	always = true
	for _, v := range s[[2]int{q.function.index, q.variable}] {
		holds := q.relation == whatever || q.relation == is && v == q.constant || q.relation == atLeast && v >= q.constant ||
			q.relation == below && v < q.constant
		ever, always = ever || holds, always && holds
	}
	return ever, always
}

// like is what a predicate is equal to on all that was seen.
func (s Seen) like(q Predicate) string {
	var b strings.Builder
	fmt.Fprint(&b, q.function.index, " ", q.variable, " ")
	for _, v := range s[[2]int{q.function.index, q.variable}] {
		one := Seen{[2]int{q.function.index, q.variable}: {v}}
		if holds, _ := one.Holds(q); holds {
			fmt.Fprint(&b, v, " ")
		}
	}
	return b.String()
}

// drawn says which powers of two were seen of a number of a function's calls, each for all numbers up to the next: "0
// 2^0-2^5 2^9".
func (s Seen) drawn(f *function, variable int) string {
	powers := map[int]bool{}
	for _, v := range s[[2]int{f.index, variable}] {
		powers[bits.Len64(uint64(max(v, 0)))] = true
	}
	var ranges []string
	for from := 0; from <= 63; from++ {
		if !powers[from] {
			continue
		}
		to := from
		for from > 0 && powers[to+1] {
			to++
		}
		switch {
		case from == 0:
			ranges = append(ranges, "0")
		case to == from:
			ranges = append(ranges, fmt.Sprintf("2^%d", from-1))
		default:
			ranges = append(ranges, fmt.Sprintf("2^%d-2^%d", from-1, to-1))
		}
		from = to
	}
	return strings.Join(ranges, " ")
}
