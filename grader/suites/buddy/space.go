package buddy

import "slices"

// space is the root block as the live blocks leave it: a binary tree with the root at 1, the halves of node n at 2n and
// 2n+1, and the minimal blocks as its leaves. It knows of each node how many free blocks there are in it once every two
// free halves are one, and the order of the largest; -1 where there is none.
type space struct {
	top     int
	used    []int32 // by leaf: how many live blocks have it
	nodes   []node
	changed []run // nodes of one order whose parents do not know it yet
}

// run is the nodes from one up to another.
type run struct{ from, to int }

type node struct{ count, largest int32 }

func newSpace(top int) *space {
	s := &space{top: top, used: make([]int32, 1<<top), nodes: make([]node, 2<<top)}
	for order := range top + 1 {
		first := 1 << (top - order)
		for n := first; n < 2*first; n++ {
			s.nodes[n] = node{1, int32(order)}
		}
	}
	return s
}

// use has the leaves from one up to another in one block's use more, or less with change -1. Of leaves that there are
// not nothing is known.
func (s *space) use(from, to int, change int32) {
	if from < 0 || to > len(s.used) || from >= to {
		return
	}
	for leaf := from; leaf < to; leaf++ {
		s.used[leaf] += change
		s.nodes[leaf+1<<s.top] = node{1, 0}
		if s.used[leaf] > 0 {
			s.nodes[leaf+1<<s.top] = node{0, -1}
		}
	}
	s.changed = appendRun(s.changed, run{from + 1<<s.top, to + 1<<s.top})
}

// appendRun makes one run of two that touch: most blocks are handed out next to the one before.
func appendRun(runs []run, r run) []run {
	if n := len(runs); n > 0 && r.from <= runs[n-1].to && runs[n-1].from <= r.to {
		runs[n-1] = run{min(runs[n-1].from, r.from), max(runs[n-1].to, r.to)}
		return runs
	}
	return append(runs, r)
}

// at is node n. The nodes above what has changed are brought up to date only here: few are asked for.
func (s *space) at(n int) node {
	if len(s.changed) == 0 {
		return s.nodes[n]
	}
	for order := int32(1); order <= int32(s.top); order++ {
		parents := s.changed[:0]
		for _, r := range s.changed {
			parents = appendRun(parents, run{r.from / 2, (r.to + 1) / 2})
		}
		s.changed = parents
		for _, r := range parents {
			for n := r.from; n < r.to; n++ {
				low, high := s.nodes[2*n], s.nodes[2*n+1]
				s.nodes[n] = node{low.count + high.count, max(low.largest, high.largest)}
				if low.largest == order-1 && high.largest == order-1 {
					s.nodes[n] = node{1, order}
				}
			}
		}
	}
	s.changed = s.changed[:0]
	return s.nodes[n]
}

// taken reports whether any live block has any of the leaves from one up to another.
func (s *space) taken(from, to int) bool {
	return slices.ContainsFunc(s.used[from:to], func(blocks int32) bool { return blocks > 0 })
}

// freeBlocks is how many free blocks there are.
func (s *space) freeBlocks() int { return int(s.at(1).count) }

// largestFree is the order of the largest free block; -1 if there is none.
func (s *space) largestFree() int { return int(s.at(1).largest) }
