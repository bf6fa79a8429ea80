package growable

import (
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// layout is a vector and the device it is on, in bytes.
type layout struct {
	device      int
	elem, max   int64
	granularity int64
	memory      int64 // the device's, a multiple of the granularity; 0 where there is plenty
	// light: so many elements are added without a source that the caller writes the first and last of them alone.
	light bool
	far   bool // no kernel and no copy does its work, so that nobody looks at elements
	inUse bool // the device may be at work when the vector shrinks; elsewhere it comes to rest before
}

// String is the call that makes the vector.
func (l layout) String() string {
	return fmt.Sprintf("growable.New(%d, %s, %s)", l.device, suite.Literal(l.elem), suite.Literal(l.max))
}

// The streams of a script by their places in it. The caller's own work on elements is in reader, and work that has
// nothing to do with the vector in other.
const (
	a = iota
	b
	c
	reader
	other
	legacy // the zero Stream
	streamCount
)

var streamNames = [streamCount]string{"a", "b", "c", "reader", "other", "the legacy default stream"}

// kind is what an operation does.
type kind uint8

const (
	opens kind = iota // New; the first operation of each script
	appending
	shrinks
	beside // another vector is made, filled and closed
	closes
	// What the caller does, who has nothing to be asked:
	use     // the elements are read, in a stream, behind what has written them
	busy    // stream other is given work
	looking // the device comes to rest, and all elements are looked at
)

// source is where the elements of an Append come from.
type source uint8

const (
	none   source = iota
	lent          // the caller's own memory
	inside        // the vector
)

// op is one operation.
type op struct {
	kind   kind
	stream int
	from   source
	at     int64 // of a source: the first element
	n      int64 // elements
	times  int   // how often the Append is made, of n elements each; 0 for once
	users  []int
	fail   []trace.Op // calls of CUDA's that are made to fail meanwhile, the first of each kind
	always bool       // those behind the first fail as well
}

// elements is how many an Append is to add in all.
func (o op) elements() int64 { return o.n * int64(max(o.times, 1)) }

func add(stream int, n int64) op { return op{kind: appending, stream: stream, n: n} }
func put(stream int, at, n int64) op {
	return op{kind: appending, stream: stream, from: lent, at: at, n: n}
}
func again(stream int, at, n int64) op {
	return op{kind: appending, stream: stream, from: inside, at: at, n: n}
}
func shrink(n int64, users ...int) op     { return op{kind: shrinks, n: n, users: users} }
func used(stream int) op                  { return op{kind: use, stream: stream} }
func (o op) failing(calls ...trace.Op) op { o.fail = calls; return o }
func (o op) forGood() op                  { o.always = true; return o }
func (o op) many(times int) op            { o.times = times; return o }

var shut, look, elsewhere = op{kind: closes}, op{kind: looking}, op{kind: busy}

// streamName is what messages call a stream: "stream a".
func streamName(i int) string {
	if i == legacy {
		return streamNames[i]
	}
	return "stream " + streamNames[i]
}

// fewUsers are named one by one, also where one is named twice.
const fewUsers = 4

// String is the operation as a person says it: "append 5 elements in stream a", "shrink to 3 for stream reader".
func (o op) String() string {
	switch o.kind {
	case appending:
		what, where := fmt.Sprintf("append %d elements in ", o.n), ""
		if o.n == 1 {
			what = "append 1 element in "
		}
		switch {
		case o.from == none:
			where = " without a source"
		case o.from == inside && o.n == 1:
			where = fmt.Sprintf(", a copy of that at index %d", o.at)
		case o.from == inside:
			where = fmt.Sprintf(", copies of those from index %d on", o.at)
		}
		if o.times > 1 {
			where += fmt.Sprintf(", %d times", o.times)
		}
		return what + streamName(o.stream) + where
	case shrinks:
		var users []string
		for i, u := range o.users {
			if len(o.users) <= fewUsers || !slices.Contains(o.users[:i], u) {
				users = append(users, streamName(u))
			}
		}
		what := fmt.Sprintf("shrink to %d", o.n)
		if users == nil {
			return what
		}
		if what += " for "; len(users) < len(o.users) {
			what += fmt.Sprintf("%d users that are ", len(o.users))
		}
		return what + strings.Join(users, " and ")
	case beside:
		return fmt.Sprintf("live beside another vector of %d elements", o.n)
	case closes:
		return "close"
	case use:
		return "the caller reads in " + streamName(o.stream)
	case busy:
		return "the caller works in " + streamName(other)
	}
	return "the caller looks at all"
}

// ByCaller reports whether the vector is asked for nothing in the operation.
func (o op) ByCaller() bool { return o.kind > closes }

// method is the method that carries an operation out.
func (o op) method() string {
	return map[kind]string{opens: "New", appending: "Append", shrinks: "Shrink", beside: "New", closes: "Close"}[o.kind]
}

// script is one vector and what is done with it.
type script = sequence.Workload[layout, op]

// scripts are such of vectors that have something in common.
func (l layout) scripts() func(name string, elem, max int64, ops ...op) script {
	return func(name string, elem, max int64, ops ...op) script {
		l.elem, l.max = elem, max
		return script{Name: name, Layout: l, Ops: append([]op{{}}, ops...)}
	}
}

// lentElements is how many elements of a size the caller has for an Append to copy.
func lentElements(elem int64) int64 { return min(max(lentBytes/elem, 2), 4096) }

const lentBytes = 1 << 20

// reach is how many of them a script has copied, from the first on: the caller writes no more.
func reach(w script) (elements int64) {
	most := lentElements(w.Layout.elem)
	for _, o := range w.Ops {
		if o.from == lent && o.n > 0 {
			elements = max(elements, o.at+min(o.n, most))
		}
	}
	return min(elements, most)
}

// The devices that no GPU is: the seed draws how they differ.

func fine(seed uint64) sim.Options {
	r := suite.NewRand(seed, "devices fine")
	return sim.Options{Granularity: 64 << 10 << r.IntN(4)} // 64 KiB to 512 KiB
}

func coarse(seed uint64) sim.Options {
	r := suite.NewRand(seed, "devices coarse")
	// 4 MiB or 8: what is written there is what a check takes longest for
	return sim.Options{Granularity: 4 << 20 << r.IntN(2)}
}

// scarce has room for some granules only.
func scarce(seed uint64) sim.Options {
	r := suite.NewRand(seed, "devices memory")
	g := uint64(1<<20) << r.IntN(3)
	return sim.Options{Granularity: g, Memory: g * (24 + r.Uint64N(24))}
}

// vast has memory for anything.
func vast(seed uint64) sim.Options { return sim.Options{Seed: seed, Memory: suite.Unlimited} }
