// Keeps the gaps in a tree by address, each node with the longest gap below it, so that Report need not look for it.
package tracker

import (
	"cmp"
	"errors"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// node is a live block in a treap by address, with the gap in front of it.
type node struct {
	contract.LiveBlock
	gap, longest int64
	weight       uint64
	left, right  *node
}

func (n *node) update() *node {
	n.longest = n.gap
	for _, below := range []*node{n.left, n.right} {
		if below != nil {
			n.longest = max(n.longest, below.longest)
		}
	}
	return n
}

// split parts a tree in the nodes below p and the others.
func split(n *node, p cuda.DevicePtr) (below, others *node) {
	switch {
	case n == nil:
		return nil, nil
	case n.Ptr < p:
		n.right, others = split(n.right, p)
		return n.update(), others
	}
	below, n.left = split(n.left, p)
	return below, n.update()
}

func join(a, b *node) *node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.weight > b.weight:
		a.right = join(a.right, b)
		return a.update()
	}
	b.left = join(a, b.left)
	return b.update()
}

func last(n *node) *node {
	for n != nil && n.right != nil {
		n = n.right
	}
	return n
}

type Tracker struct {
	inner      contract.Allocator
	start, end cuda.DevicePtr
	limit      int64
	onFull     func(int64) bool
	depth      int
	root       *node // behind the last block stands one without bytes
	random     uint64
	now        contract.MemoryReport
	live       map[cuda.DevicePtr]*node
	tags       map[string]int // the place in now.ByTag
	sizes      [64]contract.SizeUse
}

func Wrap(inner contract.Allocator, memory cuda.DevicePtr, bytes, limit int64) (*Tracker, error) {
	end := memory + cuda.DevicePtr(bytes)
	if inner == nil || min(bytes, limit) < 1 || memory == 0 || end < memory || end > 1<<63 {
		return nil, contract.ErrArgument
	}
	t := &Tracker{inner: inner, start: memory, end: end, limit: limit, random: 1, live: map[cuda.DevicePtr]*node{}, tags: map[string]int{}}
	t.root = (&node{LiveBlock: contract.LiveBlock{Ptr: end}, gap: bytes}).update()
	return t, nil
}

func (t *Tracker) OnFull(f func(size int64) bool) { t.onFull = f }

func (t *Tracker) Alloc(size int64, tag string) (cuda.DevicePtr, error) {
	if size < 1 || size > t.limit || size > 1<<62 {
		return 0, contract.ErrSize
	}
	p, err := t.attempt(size, tag, t.depth == 0 && t.onFull != nil)
	if errors.Is(err, contract.ErrFull) {
		t.now.Failures++
	}
	return p, err
}

func (t *Tracker) attempt(size int64, tag string, more bool) (p cuda.DevicePtr, err error) {
	err = contract.ErrFull
	if t.now.Live <= t.limit-size {
		p, err = t.inner.Alloc(size)
	}
	if err == nil {
		t.enter(contract.LiveBlock{Ptr: p, Size: size, Tag: tag})
		return p, nil
	}
	if !more || !errors.Is(err, contract.ErrFull) {
		return 0, err
	}
	t.depth++
	again := t.onFull(size)
	t.depth--
	if !again {
		return 0, err
	}
	return t.attempt(size, tag, false)
}

func (t *Tracker) enter(b contract.LiveBlock) {
	t.now.Allocs++
	b.Number = t.now.Allocs
	t.random ^= t.random << 13
	t.random ^= t.random >> 7
	t.random ^= t.random << 17
	n := &node{LiveBlock: b, weight: t.random}
	below, others := split(t.root, b.Ptr)
	n.gap = int64(b.Ptr - t.start)
	if before := last(below); before != nil {
		n.gap = int64(b.Ptr-before.Ptr) - before.Size
	}
	t.live[b.Ptr] = n
	t.root = join(join(below, n.update()), shorten(others, n.gap+b.Size))
	t.now.Live += b.Size
	t.now.Count++
	t.now.Peak, t.now.PeakCount = max(t.now.Peak, t.now.Live), max(t.now.PeakCount, t.now.Count)
	i, ok := t.tags[b.Tag]
	if !ok {
		i = len(t.now.ByTag)
		t.tags[b.Tag] = i
		t.now.ByTag = append(t.now.ByTag, contract.TagUse{Tag: b.Tag})
	}
	u := &t.now.ByTag[i]
	u.Live, u.Count, u.Allocs = u.Live+b.Size, u.Count+1, u.Allocs+1
	u.Peak = max(u.Peak, u.Live)
	c := t.class(b.Size)
	c.Live, c.Count, c.Allocs = c.Live+b.Size, c.Count+1, c.Allocs+1
}

// shorten takes bytes off the gap in front of the first block of a tree.
func shorten(n *node, bytes int64) *node {
	if n.left != nil {
		n.left = shorten(n.left, bytes)
	} else {
		n.gap -= bytes
	}
	return n.update()
}

func (t *Tracker) class(size int64) *contract.SizeUse {
	k := 0
	for int64(1)<<k < size {
		k++
	}
	t.sizes[k].UpTo = 1 << k
	return &t.sizes[k]
}

func (t *Tracker) Free(p cuda.DevicePtr) error {
	n := t.live[p]
	if n == nil {
		return contract.ErrInvalidFree
	}
	if err := t.inner.Free(p); err != nil {
		return err
	}
	below, others := split(t.root, p)
	_, others = split(others, p+1)
	t.root = join(below, shorten(others, -n.gap-n.Size))
	delete(t.live, p)
	t.now.Live -= n.Size
	t.now.Count--
	u, c := &t.now.ByTag[t.tags[n.Tag]], t.class(n.Size)
	u.Live, u.Count = u.Live-n.Size, u.Count-1
	c.Live, c.Count = c.Live-n.Size, c.Count-1
	return nil
}

func (t *Tracker) Report() contract.MemoryReport {
	r := t.now
	r.ByTag = slices.Clone(t.now.ByTag)
	slices.SortFunc(r.ByTag, func(a, b contract.TagUse) int { return cmp.Or(-cmp.Compare(a.Live, b.Live), cmp.Compare(a.Tag, b.Tag)) })
	for _, c := range t.sizes {
		if c.UpTo > 0 {
			r.BySize = append(r.BySize, c)
		}
	}
	for _, n := range t.live {
		r.Blocks = append(r.Blocks, n.LiveBlock)
	}
	slices.SortFunc(r.Blocks, func(a, b contract.LiveBlock) int { return cmp.Compare(a.Number, b.Number) })
	r.Free, r.LargestFree = int64(t.end-t.start)-r.Live, t.root.longest
	if r.Free > 0 {
		r.Fragmentation = 1 - float64(r.LargestFree)/float64(r.Free)
	}
	return r
}
