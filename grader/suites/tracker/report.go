package tracker

import (
	"math"
	"math/bits"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// How a report turned out to be somebody else's as well.
const (
	sharedNot   = iota
	sharedLater // a later call has changed it
	sharedBack  // what was written to it stands in the next
)

// digest is one number for many: another where one of them is another.
func digest(numbers []int64) uint64 {
	sum := uint64(len(numbers))
	for _, v := range numbers {
		sum = bits.RotateLeft64(sum^uint64(v), 29) * 0x9E3779B97F4A7C15
	}
	return sum
}

// encode appends a report as numbers.
func encode(n []int64, r *contract.MemoryReport) []int64 {
	n = slices.Grow(n, 12+4*len(r.BySize)+5*len(r.ByTag)+4*len(r.Blocks))
	n = append(n, r.Live, r.Peak, r.Free, r.LargestFree, int64(r.Count), int64(r.PeakCount), int64(r.Allocs),
		int64(r.Failures), int64(math.Float64bits(r.Fragmentation)))
	n = append(n, int64(len(r.BySize)))
	for _, u := range r.BySize {
		n = append(n, u.UpTo, u.Live, int64(u.Count), int64(u.Allocs))
	}
	n = append(n, int64(len(r.ByTag)))
	for _, u := range r.ByTag {
		n = append(n, tagNumber(u.Tag), u.Live, u.Peak, int64(u.Count), int64(u.Allocs))
	}
	n = append(n, int64(len(r.Blocks)))
	for _, b := range r.Blocks {
		n = append(n, int64(b.Ptr), b.Size, tagNumber(b.Tag), int64(b.Number))
	}
	return n
}

// strange is a tag that nobody gave.
const strange = "another tag"

// names are those of tags by their numbers, each made once: two reports of many tags hold the same strings.
type names []string

// of is the name of a tag.
func (all *names) of(n int64) string {
	switch {
	case n < 1 || n > math.MaxInt32:
		return strange
	case n > mostNames:
		return tagName(int(n))
	}
	for int64(len(*all)) < n {
		*all = append(*all, tagName(len(*all)+1))
	}
	return (*all)[n-1]
}

// mostNames is how many of them are kept: a runner may send any number.
const mostNames = 1 << 17

// decode takes a report off the numbers; false: there is none.
func decode(n *reader, tags *names) (r contract.MemoryReport, shared int64, ok bool) {
	if len(n.left) == 0 {
		return r, 0, false
	}
	shared = n.next()
	r.Live, r.Peak, r.Free, r.LargestFree = n.next(), n.next(), n.next(), n.next()
	r.Count, r.PeakCount, r.Allocs, r.Failures = int(n.next()), int(n.next()), int(n.next()), int(n.next())
	r.Fragmentation = math.Float64frombits(uint64(n.next()))
	r.BySize = make([]contract.SizeUse, n.count(4))
	for i := range r.BySize {
		r.BySize[i] = contract.SizeUse{UpTo: n.next(), Live: n.next(), Count: int(n.next()), Allocs: int(n.next())}
	}
	r.ByTag = make([]contract.TagUse, n.count(5))
	for i := range r.ByTag {
		r.ByTag[i] = contract.TagUse{Tag: tags.of(n.next()), Live: n.next(), Peak: n.next(), Count: int(n.next()),
			Allocs: int(n.next())}
	}
	r.Blocks = make([]contract.LiveBlock, n.count(4))
	for i := range r.Blocks {
		r.Blocks[i] = contract.LiveBlock{Ptr: cuda.DevicePtr(n.next()), Size: n.next(), Tag: tags.of(n.next()),
			Number: int(n.next())}
	}
	return r, shared, true
}

// scribbledSize stands in every element of a report that was written over; no block has it.
const scribbledSize = -77

// scribble writes over all that a report's slices hold.
func scribble(r *contract.MemoryReport) {
	for i := range r.BySize {
		r.BySize[i] = contract.SizeUse{UpTo: scribbledSize, Live: scribbledSize}
	}
	for i := range r.ByTag {
		r.ByTag[i] = contract.TagUse{Tag: strange, Live: scribbledSize}
	}
	for i := range r.Blocks {
		r.Blocks[i] = contract.LiveBlock{Size: scribbledSize, Tag: strange}
	}
}

// scribbled reports whether a report has what was written to another.
func scribbled(r *contract.MemoryReport) bool {
	for _, u := range r.BySize {
		if u.UpTo == scribbledSize || u.Live == scribbledSize {
			return true
		}
	}
	for _, u := range r.ByTag {
		if u.Live == scribbledSize {
			return true
		}
	}
	for _, b := range r.Blocks {
		if b.Size == scribbledSize {
			return true
		}
	}
	return false
}
