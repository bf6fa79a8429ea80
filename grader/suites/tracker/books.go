package tracker

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// books are what a right tracker has counted.
type books struct {
	total    contract.TagUse // Tag is empty
	most     int             // live blocks at once
	failures int
	live     map[uint64]contract.LiveBlock // by address
	tags     map[string]*contract.TagUse
	sizes    map[int64]*contract.SizeUse // by UpTo
}

// newBooks have room for so many blocks and tags.
func newBooks(blocks, tags int) books {
	return books{live: make(map[uint64]contract.LiveBlock, blocks), tags: make(map[string]*contract.TagUse, tags),
		sizes: map[int64]*contract.SizeUse{}}
}

// upTo is the size class of a size: the smallest power of two that is not below it.
func upTo(size int64) int64 { return 1 << bits.Len64(uint64(size-1)) }

func (b *books) book(addr uint64, size int64, tag string) {
	tagged, to := b.tags[tag], upTo(size)
	if tagged == nil {
		tagged = &contract.TagUse{Tag: tag}
		b.tags[tag] = tagged
	}
	class := b.sizes[to]
	if class == nil {
		class = &contract.SizeUse{UpTo: to}
		b.sizes[to] = class
	}
	for _, u := range []*contract.TagUse{&b.total, tagged} {
		u.Live += size
		u.Peak = max(u.Peak, u.Live)
		u.Count++
		u.Allocs++
	}
	b.most = max(b.most, b.total.Count)
	class.Live += size
	class.Count++
	class.Allocs++
	b.live[addr] = contract.LiveBlock{Ptr: cuda.DevicePtr(addr), Size: size, Tag: tag, Number: b.total.Allocs}
}

func (b *books) unbook(addr uint64) {
	gone := b.live[addr]
	delete(b.live, addr)
	for _, u := range []*contract.TagUse{&b.total, b.tags[gone.Tag]} {
		u.Live -= gone.Size
		u.Count--
	}
	class := b.sizes[upTo(gone.Size)]
	class.Live -= gone.Size
	class.Count--
}

// byAge are the live blocks, the oldest first.
func (b *books) byAge() []contract.LiveBlock {
	return slices.SortedFunc(maps.Values(b.live), func(a, b contract.LiveBlock) int {
		return cmp.Compare(a.Number,
			b.Number)
	})
}

// byAddress are the live blocks as they lie in memory.
func (b *books) byAddress() []contract.LiveBlock {
	all := make([]contract.LiveBlock, 0, len(b.live))
	for _, at := range slices.Sorted(maps.Keys(b.live)) {
		all = append(all, b.live[at])
	}
	return all
}

func (b *books) bySize() (all []contract.SizeUse) {
	for _, size := range slices.Sorted(maps.Keys(b.sizes)) {
		all = append(all, *b.sizes[size])
	}
	return all
}

func (b *books) byTag() (all []contract.TagUse) {
	for _, u := range b.tags {
		all = append(all, *u)
	}
	slices.SortFunc(all, compareTags)
	return all
}

// sameTags reports whether a list is byTag, without making that.
func (b *books) sameTags(said []contract.TagUse) bool {
	for i, u := range said {
		if right := b.tags[u.Tag]; right == nil || *right != u || i > 0 && compareTags(said[i-1], u) >= 0 {
			return false
		}
	}
	return len(said) == len(b.tags)
}

// compareTags is the order of tags in a report.
func compareTags(a, b contract.TagUse) int {
	if a.Live != b.Live {
		return cmp.Compare(b.Live, a.Live)
	}
	return cmp.Compare(a.Tag, b.Tag)
}

// sameBlocks reports whether a list is byAge, without making that.
func (b *books) sameBlocks(said []contract.LiveBlock) bool {
	for i, l := range said {
		if right, live := b.live[uint64(l.Ptr)]; !live || right != l || i > 0 && said[i-1].Number >= l.Number {
			return false
		}
	}
	return len(said) == len(b.live)
}

// gap is a stretch of the memory without a live block.
type gap struct {
	at    uint64
	bytes int64
}

// gaps are all of some memory, as they lie there.
func (b *books) gaps(start uint64, bytes int64) (all []gap) {
	at := start
	add := func(to uint64) {
		if to > at {
			all = append(all, gap{at, int64(to - at)})
		}
	}
	for _, l := range b.byAddress() {
		add(uint64(l.Ptr))
		at = uint64(l.Ptr) + uint64(l.Size)
	}
	add(start + uint64(bytes))
	return all
}

// largest is the longest of some gaps, in bytes.
func largest(all []gap) (most int64) {
	for _, g := range all {
		most = max(most, g.bytes)
	}
	return most
}
