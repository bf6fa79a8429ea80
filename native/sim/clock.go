package sim

// clock is a vector clock: for each stream's slot, the number of the last operation that is ordered before its holder.
// It is never changed once another holder can see it.
type clock []uint64

// covers reports whether o is ordered before the clock's holder.
func (c clock) covers(o *op) bool { return o.slot < len(c) && c[o.slot] >= o.seq }

// behind is the clock of one who is ordered behind o, and so behind all that o is.
func (c clock) behind(o *op) clock {
	c = c.join(o.clock)
	if c.covers(o) {
		return c
	}
	next := make(clock, max(len(c), o.slot+1))
	copy(next, c)
	next[o.slot] = o.seq
	return next
}

// join is the clock of one who knows both; c itself where other adds nothing.
func (c clock) join(other clock) clock {
	for i, seq := range other {
		if i >= len(c) || c[i] < seq {
			next := make(clock, max(len(c), len(other)))
			copy(next, c)
			for j := i; j < len(other); j++ {
				next[j] = max(next[j], other[j])
			}
			return next
		}
	}
	return c
}
