package sim

import (
	"math"
	"slices"
	"sort"
)

// timeline books a resource of fixed capacity over time. Its zero value with a capacity is a resource that is free.
type timeline struct {
	capacity int64
	steps    []step // in order of time; before the first, nothing is taken
}

// step says that from at until the next step, taken of the capacity is taken.
type step struct {
	at    int64
	taken int64
}

// free is how much is to be had at a time, and until when no more and no less.
func (t *timeline) free(at int64) (amount, until int64) {
	amount, until = t.capacity, math.MaxInt64
	i := t.after(at)
	if i > 0 {
		amount -= t.steps[i-1].taken
	}
	if i < len(t.steps) {
		until = t.steps[i].at
	}
	return amount, until
}

// book takes an amount that is free from one time to another.
func (t *timeline) book(from, to, amount int64) {
	first, last := t.split(from), t.split(to)
	for i := first; i < last; i++ {
		t.steps[i].taken += amount
	}
	t.join(last)
	t.join(first)
}

// forget drops what lies before now.
func (t *timeline) forget(now int64) {
	if i := t.after(now) - 1; i > 0 {
		t.steps = t.steps[i:]
	}
}

// after is the index of the first step later than at.
func (t *timeline) after(at int64) int {
	return sort.Search(len(t.steps), func(i int) bool { return t.steps[i].at > at })
}

// split makes a step at a time and answers its index.
func (t *timeline) split(at int64) int {
	i := t.after(at)
	if i > 0 && t.steps[i-1].at == at {
		return i - 1
	}
	var taken int64
	if i > 0 {
		taken = t.steps[i-1].taken
	}
	t.steps = slices.Insert(t.steps, i, step{at, taken})
	return i
}

// join removes step i where it changes nothing, so that work back to back stays one step.
func (t *timeline) join(i int) {
	if i > 0 && t.steps[i-1].taken == t.steps[i].taken {
		t.steps = slices.Delete(t.steps, i, i+1)
	}
}
