package growable

import (
	"fmt"
	"math"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/native/trace"
)

// examples are the scripts at the edges, on a device of granularity g. The first calls the methods in the order of the
// skeleton's gaps, and begins with what Append refuses, before there has to be any memory.
func examples(from sequence.Source) []script {
	g := from.Granularity
	of := layout{granularity: g}.scripts()
	// page divides every granularity.
	const page = 4096
	p := g / page // elements of a page in a granule
	return []script{
		of("small appends", 12, 1000, put(a, 0, 0), put(a, 0, 1001), put(a, 0, 5), add(b, 3), put(a, 7, 1), look, shrink(4),
			put(b, 2, 6), shut), of("numbers that no vector takes", 4, 100, put(a, 0, 0), put(a, 0, 60), put(a, 0, -1),
			add(b, math.MinInt64), put(a, 0, 41), put(b, 0, 1<<31), add(a, 1<<32), put(a, 0, 1<<62), add(b, math.MaxInt64),
			shrink(-1), shrink(61), shrink(math.MinInt64), shrink(1<<32+3),
			put(b, 9, 40), put(a, 0, 1), shrink(101), shrink(100), put(a, 0, 1), shut),
		of("a maximum inside a granule", 3, 5, put(a, 0, 5), put(a, 0, 1), shrink(3), put(b, 1, 3), put(b, 1, 2), shut),
		of("elements of one byte", 1, 3*g, add(a, g), put(b, 0, 1), add(a, g-2), put(b, 100, 1), add(b, 1), look, shrink(g+1),
			again(a, 1, 500), shut), of("elements that are larger than a granule", g+1, 8, put(a, 0, 1), put(b, 0, 2),
			again(a, 1, 1), look, shrink(1), put(b, 1, 1), shut),
		of("a byte more than a granule", 1, g+1, add(a, g), put(b, 0, 1), shut),
		// To the end of the range, where twice as much would be too much.
		of("a granule at a time", page, 100*p, append(slices.Repeat([]op{add(a, p)}, 100), shut)...),
		of("much at once, then little", page, 100*p, add(a, 40*p), shrink(3), put(b, 0, 2), shrink(0), put(a, 1, 5),
			shrink(5), add(c, 17*p+1), shrink(8*p+1), shrink(4*p), shrink(4*p-1), put(c, 3, 1), shut),
		of("spare memory", page, 100*p, add(a, 5*p+1), look, shrink(5*p+1), put(b, 0, 1), shrink(5*p+2), shrink(5*p+2), shut),
		of("copies of its own elements", 12, 100_000, put(a, 0, 100), again(b, 10, 50), again(a, 0, 150), look,
			again(a, 0, 1), shrink(120), again(c, 20, 100), shut),
		of("copies of its own while it grows", page, 100*p, add(a, p), again(b, 0, 2), again(a, p, 2), again(c, p-1, 4),
			shut), of("never used", 16, 1<<20, shut),
		of("emptied at once", 16, 1<<20, shrink(0, reader), put(a, 0, 1), shrink(0), shut),
		of("after Close", 4, 100, put(a, 0, 5), shut, put(a, 0, 1), put(a, 0, 0), shrink(0), shrink(-1), shut),
	}
}

// inUse are scripts in which the device is at work when the vector shrinks: on its elements, and on what is none of its
// business.
func inUse(from sequence.Source) []script {
	g := from.Granularity
	// page divides every granularity.
	const page = 4096
	p := g / page // elements of a page in a granule
	of := layout{granularity: g, inUse: true}.scripts()
	all := []script{
		of("read while it shrinks", page, 100*p, add(a, 8*p), used(reader), shrink(1, reader), put(b, 0, 3), shut),
		of("nothing to unmap", 4, 1000, put(a, 0, 50), used(reader), shrink(10, reader), put(b, 50, 30), shut),
		of("two that append", page, 100*p, add(a, 4*p), add(b, 4*p), op{kind: beside, n: 2}, shrink(1), add(c, 3*p),
			add(a, p), add(b, 1), shrink(2),
			shut), of("appended once, read later", page, 100*p, add(a, 8*p), look, put(b, 0, 1), used(a), shrink(2),
			put(b, 1, 1), shut),
		of("appended long ago", page, 100*p, put(a, 0, 1), look, shrink(0), add(b, 6*p), used(a), shrink(1), put(b, 2, 3),
			shut), of("another stream at work", page, 100*p, add(a, 8*p), elsewhere, shrink(p), elsewhere, put(b, 0, 1),
			shrink(1, reader), elsewhere, shrink(0), shut),
		of("the legacy default stream", page, 100*p, put(legacy, 0, 2), add(legacy, 4*p), used(reader), used(legacy),
			shrink(1, reader, legacy, reader), put(a, 0, 1), add(a, 4*p), shrink(1), shut),
	}
	for i, w := range drawn(from) {
		w.Name, w.Layout.inUse = fmt.Sprintf("random in use %d", i), true
		all = append(all, w)
	}
	users := append(slices.Repeat([]int{reader}, suite.Somewhere(from.Rand, 4, farUsers)), other)
	return append(all, of("many users", 4, 1<<24, put(a, 0, 50), elsewhere, shrink(10, users...), put(b, 50, 30), shut))
}

// Bounds of the random scripts.
const (
	randomCount = 4
	randomOps   = 40
)

// drawn are random scripts.
func drawn(from sequence.Source) []script {
	all, of := make([]script, randomCount), layout{granularity: from.Granularity}.scripts()
	for i := range all {
		elem := []int64{1, 3, 12, 4096, 8, from.Granularity/4 + 1}[from.IntN(6)]
		most := max((4+from.Int64N(60))*from.Granularity/elem, 1)
		all[i] = of(fmt.Sprintf("random %d", i), elem, most, drawOps(from, elem, most)...)
	}
	return all
}

// both are the examples and random scripts.
func both(from sequence.Source) []script { return append(examples(from), drawn(from)...) }

// drawOps draws operations that nothing synchronises, with mistakes in between. Whoever may still be reading is named
// to Shrink.
func drawOps(from sequence.Source, elem, most int64) (ops []op) {
	length, g := int64(0), from.Granularity
	reading := map[int]bool{}
	streams := 2 + from.IntN(2)
	for len(ops) < randomOps {
		stream := from.IntN(streams)
		bytes := 1 + from.Int64N([]int64{100, g / 8, g, 4 * g}[from.IntN(4)])
		n := (bytes + elem - 1) / elem
		switch k := from.IntN(20); {
		case k == 0:
			ops = append(ops, []op{put(stream, 0, 0), add(stream, most-length+1), put(stream, 0, 1<<62), shrink(length + 1),
				shrink(-1 - from.Int64N(9))}[from.IntN(5)])
			continue
		case k == 1:
			ops = append(ops, elsewhere)
			continue
		case k < 4 && length > 0:
			who := []int{reader, from.IntN(streams)}[from.IntN(2)]
			reading[who] = true
			ops = append(ops, used(who))
			continue
		case k < 8 && length > 0:
			var users []int
			for _, s := range []int{a, b, c, reader} {
				if reading[s] || from.IntN(4) == 0 {
					users = append(users, s)
				}
			}
			keep := []int64{0, length, length / 2, from.Int64N(length + 1), min(length, 3)}[from.IntN(5)]
			if keep < length {
				clear(reading)
			}
			length = keep
			ops = append(ops, shrink(keep, users...))
			continue
		}
		n = min(n, most-length)
		if n == 0 {
			length /= 4
			ops = append(ops, look, shrink(length))
			clear(reading)
			continue
		}
		o := add(stream, n)
		if limit := lentElements(elem); from.IntN(2) == 0 {
			o = put(stream, 0, min(n, limit))
			o.at = from.Int64N(limit - o.n + 1)
		} else if length > 0 && from.IntN(3) == 0 {
			o = again(stream, 0, min(n, limit, length))
			o.at = from.Int64N(length - o.n + 1)
		}
		length += o.n
		ops = append(ops, o)
	}
	return append(ops, look, shut, put(a, 0, 1), shut)
}

// large are scripts with more than 32 bits can count. What nobody touches costs nothing.
func large(from sequence.Source) []script {
	of := layout{granularity: from.Granularity, light: true}.scripts()
	return []script{
		of("5 GiB of pages", 4096, 1<<22, add(a, 5<<30/4096), put(b, 0, 100), again(a, 5<<30/4096+50, 50), add(b, 1<<20),
			look, shrink(5<<30/4096+120), put(a, 100, 10), look, put(a, 0, 1<<22), put(a, 0, 1<<52), shrink(3), put(b, 0, 7),
			shut),
		of("more bytes than 32 bits count", 1, 1<<34, add(a, 1<<31+1), put(b, 0, 100), add(a, 1<<32+1), put(b, 5, 1000),
			add(a, 1<<34), look, shrink(1<<31+50), put(a, 7, 9), look, shrink(3),
			put(b, 9, 5), shut),
		of("70,000 appends", 256, 1<<20, put(b, 3, 5), add(a, 1).many(70_000), put(b, 0, 4000), look, shrink(3), put(b, 0, 4),
			shut),
	}
}

// The most of what far scripts have: there are addresses for all of them, also where none gives its own back, and
// memory costs the host some.
const (
	farBytes  = 1 << 40
	farMemory = 1 << 28
	farUsers  = 1 << 7
)

// far are scripts with numbers from all over their domains, in which nothing is computed.
func far(from sequence.Source) (ws []script) {
	of := layout{granularity: from.Granularity, far: true}.scripts()
	elems, mosts := suite.Everywhere(from.Rand, 1, farBytes), suite.Everywhere(from.Rand, 1, farBytes)
	slices.Sort(elems)
	slices.Sort(mosts)
	users := suite.Everywhere(from.Rand, 0, farUsers)
	for i, elem := range elems { // the smaller the elements, the more of them
		most := min(int64(mosts[len(mosts)-1-i]), farBytes/int64(elem))
		ops := farOps(from, int64(elem), most, users[i%len(users)]>>(2*(i/len(users))))
		ws = append(ws, of(fmt.Sprintf("far %d", i), int64(elem), most, ops...))
	}
	var sizes []op
	for _, n := range suite.Everywhere(from.Rand, 0, math.MaxInt64) {
		sizes = append(sizes, add(a, int64(n)), add(b, -1-int64(n)))
		if int64(n) <= farMemory {
			sizes = append(sizes, shrink(0))
		}
	}
	return append(ws, of("all sizes", 1, farMemory, append(sizes, shut)...))
}

// farOps grow a vector a few times and shrink it between, for so many users.
func farOps(from sequence.Source, elem, most int64, users int) (ops []op) {
	length := int64(0)
	some := func() (n int64) {
		if room := min(most, farMemory/elem) - length; room > 0 {
			n = int64(suite.Somewhere(from.Rand, 1, int(room)))
		}
		return n
	}
	grow := func(stream int) {
		if n := some(); n > 0 {
			ops, length = append(ops, add(stream, n)), length+n
		}
	}
	keep := func() {
		length = from.Int64N(length + 1)
		o := shrink(length)
		for range users {
			o.users = append(o.users, from.IntN(streamCount))
		}
		ops = append(ops, o)
	}
	grow(a)
	if n := min(length, most-length); n > 0 && (length+n) <= farMemory/elem {
		ops, length = append(ops, again(b, 0, n)), length+n
	}
	ops = append(ops, add(c, most-length+1), op{kind: beside, n: some()})
	keep()
	grow(c)
	grow(legacy)
	ops = append(ops, shrink(length+1))
	keep()
	length = 0
	ops = append(ops, shrink(0))
	grow(b)
	return append(ops, shut, add(a, 1), shut)
}

// nearlyFull are the scripts on a device that runs out of memory. All of that is the vector's, so nobody writes to it.
func nearlyFull(from sequence.Source) []script {
	o := scarce(from.Seed)
	g, m := int64(o.Granularity), int64(o.Memory)
	const page = 4096
	p, all := g/page, m/page
	half := all / p / 2 * p
	nearly := layout{granularity: g, memory: m}.scripts()
	of := func(name string, ops ...op) script { return nearly(name, page, 8*all, ops...) }
	return []script{
		of("more than half of the memory", add(a, half+p), add(b, all-half-2*p), add(a, p), add(a, 1), shrink(2),
			add(b, all-p), shut), of("all but a granule", add(a, all-p), add(b, p+1), add(a, 100), shrink(all-p), add(a, p),
			add(a, 100), shrink(0), add(b, all), shut),
		of("much too large", add(a, 2*all), add(a, p), add(b, 4*all), add(b, p), add(a, all), add(a, all-2*p), add(b, 1),
			shut), of("again and again", add(a, half), add(a, all), add(b, all), add(a, all), shrink(1), add(a, all),
			add(a, all-1), shrink(all), shut),
	}
}

// failing are scripts in which calls fail that an Append makes last, when it has grown already.
func failing(from sequence.Source) []script {
	g := from.Granularity
	const page = 4096
	p := g / page
	of := layout{granularity: g}.scripts()
	copies, unmaps := trace.OpMemcpyDtoDAsync, trace.OpMemUnmap
	n := lentElements(page)
	return []script{
		of("a copy that fails", page, 100*p, put(a, 0, 1), add(a, 2*p-2), put(b, 0, n).failing(copies), put(b, 0, n),
			put(a, 1, 1).failing(copies), put(a, 1, 1), shut),
		of("the first copy fails", 12, 1000, put(a, 0, 5).failing(copies), put(b, 3, 5), shut),
		of("a copy that fails, and the way back as well", 12, 1000, put(a, 0, 5).failing(copies, unmaps), put(b, 3, 5),
			shrink(2), shut), of("a copy of its own that fails", page, 100*p, put(a, 0, 2), add(b, 2*p-4), again(a, 0, 2),
			again(b, 0, 2), again(b, 1, 3).failing(copies), again(b, 1, 3), shut),
	}
}

// neverMapped is a script in which no memory can be mapped for a while, however often it is tried.
func neverMapped(from sequence.Source) []script {
	const page = 4096
	p := from.Granularity / page
	maps := trace.OpMemMap
	return []script{layout{granularity: from.Granularity}.scripts()("memory that is never mapped", page, 100*p,
		put(a, 0, 1).failing(maps).forGood(), put(a, 0, 1), add(b, 4*p).failing(maps).forGood(), add(b, 4*p), shut)}
}
