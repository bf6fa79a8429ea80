package sim

import (
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

// fit is the earliest time, not before from, at which amount is to be had for so long without a break. An amount
// beyond the capacity counts as all of it.
func (t *timeline) fit(from, length, amount int64) int64 {
	room := t.capacity - min(amount, t.capacity)
	for i := max(t.after(from)-1, 0); i < len(t.steps) && t.steps[i].at < from+length; i++ {
		if t.steps[i].taken > room {
			from = t.steps[i+1].at // there is a next one: nothing is taken in the last
		}
	}
	return from
}

// book takes amount from a time found by fit.
func (t *timeline) book(from, length, amount int64) {
	first, last := t.split(from), t.split(from+length)
	for i := first; i < last; i++ {
		t.steps[i].taken += min(amount, t.capacity)
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
