package growable

// contents is what is known of a vector's elements.
type contents []run

// run is elements from index at on that have the numbers from first on; see kernels.WriteElements.
type run struct{ at, n, first int64 }

// slice is what is known of n elements from one index on, as they are at another.
func (c contents) slice(from, n, at int64) (found contents) {
	for _, r := range c {
		low, high := max(r.at, from), min(r.at+r.n, from+n)
		if low < high {
			found = append(found, run{at + low - from, high - low, r.first + low - r.at})
		}
	}
	return found
}

// cut is what is known of the first n elements.
func (c contents) cut(n int64) contents { return c.slice(0, n, 0) }
