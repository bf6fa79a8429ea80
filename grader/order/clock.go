package order

import "cudalab/native/trace"

// clock is a vector clock: for each stream, up to which position everything in it is known to be over. It is a value
// that never changes; set and join return another. Clocks share what they have in common, so a copy costs nothing
// and a join costs what differs, however many streams there are.
type clock struct {
	floor  int32 // in every stream, everything up to here is over
	height uint8 // of the tree: its leaves are this many levels below the root
	root   *node // by stream; nil where nothing is known beyond floor
}

const (
	fanBits = 4
	fan     = 1 << fanBits
)

// node is a leaf, which holds one stream's position in each place, or an inner node, which holds the largest
// position below it in each place.
type node struct {
	top  [fan]int32
	kids *[fan]*node // nil in a leaf
}

func place(id trace.ID, height uint8) trace.ID { return id >> (fanBits * height) & (fan - 1) }

// holds reports whether a tree of c's height has a place for stream id.
func (c clock) holds(id trace.ID) bool { return uint64(id)>>(fanBits*(uint(c.height)+1)) == 0 }

// position is how far stream id is known to be over.
func (c clock) position(id trace.ID) int32 {
	if c.root == nil || !c.holds(id) {
		return c.floor
	}
	n := c.root
	for h := c.height; h > 0; h-- {
		if n = n.kids[place(id, h)]; n == nil {
			return c.floor
		}
	}
	return max(c.floor, n.top[place(id, 0)])
}

// set is c with stream id known to be over up to pos.
func (c clock) set(id trace.ID, pos int32) clock {
	if c.position(id) >= pos {
		return c
	}
	for !c.holds(id) {
		c = c.taller()
	}
	c.root = setNode(c.root, c.height, id, pos)
	return c
}

func setNode(n *node, height uint8, id trace.ID, pos int32) *node {
	i := place(id, height)
	fresh := &node{}
	if n != nil {
		fresh.top = n.top
	}
	fresh.top[i] = max(fresh.top[i], pos)
	if height == 0 {
		return fresh
	}
	fresh.kids = new([fan]*node)
	if n != nil {
		*fresh.kids = *n.kids
	}
	fresh.kids[i] = setNode(fresh.kids[i], height-1, id, pos)
	return fresh
}

// taller is c with one more level above its root.
func (c clock) taller() clock {
	c.height++
	if c.root != nil {
		c.root = &node{top: [fan]int32{c.root.largest()}, kids: &[fan]*node{c.root}}
	}
	return c
}

func (n *node) largest() int32 {
	largest := n.top[0]
	for _, pos := range n.top[1:] {
		largest = max(largest, pos)
	}
	return largest
}

// join is what c and o know together.
func (c clock) join(o clock) clock {
	floor := max(c.floor, o.floor)
	c, o = c.above(floor), o.above(floor)
	for c.height < o.height {
		c = c.taller()
	}
	for o.height < c.height {
		o = o.taller()
	}
	c.root = joinNodes(c.root, o.root)
	return c
}

// above is c with its floor raised, and without a tree that says no more than that.
func (c clock) above(floor int32) clock {
	if floor > c.floor {
		c.floor = floor
		if c.root != nil && c.root.largest() <= floor {
			c.root, c.height = nil, 0
		}
	}
	return c
}

// joinNodes returns a or b itself wherever it says all that both say: that keeps clocks sharing.
func joinNodes(a, b *node) *node {
	switch {
	case a == b || b == nil:
		return a
	case a == nil:
		return b
	}
	var top [fan]int32
	likeA, likeB := true, true
	for i := range fan {
		top[i] = max(a.top[i], b.top[i])
		likeA = likeA && top[i] == a.top[i]
		likeB = likeB && top[i] == b.top[i]
	}
	var kids [fan]*node
	if a.kids != nil {
		for i := range fan {
			kids[i] = joinNodes(a.kids[i], b.kids[i])
			likeA = likeA && kids[i] == a.kids[i]
			likeB = likeB && kids[i] == b.kids[i]
		}
	}
	switch {
	case likeA:
		return a
	case likeB:
		return b
	}
	joined := &node{top: top}
	if a.kids != nil {
		joined.kids = new([fan]*node)
		*joined.kids = kids
	}
	return joined
}
