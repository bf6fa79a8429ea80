package buddy

import "slices"

// space is the root block as the live blocks leave it: a binary tree with the root at 1, the halves of node n at 2n and
// 2n+1, and the minimal blocks as its leaves. It knows of each node how many free blocks there are in it once every two
// free halves are one, and the order of the largest; -1 where there is none.
type space struct {
	top     int
	used    []int // by leaf: how many live blocks have it
	count   []int
	largest []int
}

func newSpace(top int) *space {
	s := &space{top: top, used: make([]int, 1<<top), count: make([]int, 2<<top), largest: make([]int, 2<<top)}
	for order := range top + 1 {
		first := 1 << (top - order)
		for n := first; n < 2*first; n++ {
			s.count[n], s.largest[n] = 1, order
		}
	}
	return s
}

// use has the leaves from one up to another in one block's use more, or less with change -1. Of leaves that there are not
// nothing is known.
func (s *space) use(from, to, change int) {
	if from < 0 || to > len(s.used) || from >= to {
		return
	}
	for leaf := from; leaf < to; leaf++ {
		s.used[leaf] += change
		n := leaf + 1<<s.top
		if s.count[n], s.largest[n] = 1, 0; s.used[leaf] > 0 {
			s.count[n], s.largest[n] = 0, -1
		}
	}
	from, to = from+1<<s.top, to-1+1<<s.top
	for order := 1; order <= s.top; order++ {
		from, to = from/2, to/2
		for n := from; n <= to; n++ {
			low, high := 2*n, 2*n+1
			s.count[n], s.largest[n] = s.count[low]+s.count[high], max(s.largest[low], s.largest[high])
			if s.largest[low] == order-1 && s.largest[high] == order-1 {
				s.count[n], s.largest[n] = 1, order
			}
		}
	}
}

// taken reports whether any live block has any of the leaves from one up to another.
func (s *space) taken(from, to int) bool {
	return slices.ContainsFunc(s.used[from:to], func(blocks int) bool { return blocks > 0 })
}

// freeBlocks is how many free blocks there are.
func (s *space) freeBlocks() int { return s.count[1] }

// largestFree is the order of the largest free block; -1 if there is none.
func (s *space) largestFree() int { return s.largest[1] }
