package page

import (
	"cmp"
	"slices"
	"sort"
)

// item is something drawn in a row between two times, at least so wide that its name fits.
type item struct {
	row      int
	from, to int64
	width    float64 // at least
	x0, x1   float64 // where scale puts it
}

// scale maps time to the horizontal. Order and overlap are true, lengths only roughly: short items are widened until
// their names fit, and a stretch in which nothing begins or ends is cut when it is many times longer than the others.
type scale struct {
	times  []int64 // in order, with the place of each in x
	x      []float64
	breaks []gap
	width  float64
}

// gap is a stretch of time that was cut.
type gap struct {
	x       float64
	skipped int64 // nanoseconds that are not drawn
}

const (
	linearWidth = 640.0 // of all stretches together, before anything is widened
	longTimes   = 8     // a stretch so many times as long as most others is cut
	margin      = 6.0
	between     = 3.0 // items of one row
)

// newScale places the items.
func newScale(items []item) *scale {
	type edge struct {
		at   int64
		item int
		end  bool
	}
	var edges []edge
	for i, it := range items {
		edges = append(edges, edge{it.from, i, false}, edge{it.to, i, true})
	}
	// At one time what ends comes before what begins, except that everything begins before it ends.
	slices.SortStableFunc(edges, func(a, b edge) int {
		if c := cmp.Compare(a.at, b.at); c != 0 {
			return c
		}
		if a.item == b.item {
			return boolOrder(a.end, b.end)
		}
		instant := func(e edge) bool { return items[e.item].from == items[e.item].to }
		if instant(a) || instant(b) {
			return cmp.Compare(a.item, b.item)
		}
		return boolOrder(b.end, a.end)
	})
	var stretches []int64
	for i := 1; i < len(edges); i++ {
		if d := edges[i].at - edges[i-1].at; d > 0 {
			stretches = append(stretches, d)
		}
	}
	limit, perNano := cut(stretches)
	s := &scale{}
	rowEnd := map[int]float64{}
	x := margin
	for i, e := range edges {
		if i > 0 {
			d := edges[i].at - edges[i-1].at
			if d > limit {
				s.breaks = append(s.breaks, gap{x + float64(limit)*perNano/2, d - limit})
				d = limit
			}
			x += float64(d) * perNano
		}
		it := &items[e.item]
		if e.end {
			x = max(x, it.x0+it.width)
			it.x1 = x
			rowEnd[it.row] = x + between
		} else {
			x = max(x, rowEnd[it.row])
			it.x0 = x
		}
		s.times, s.x = append(s.times, e.at), append(s.x, x)
	}
	s.width = x + margin
	return s
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// cut is the longest stretch that is drawn whole, and how wide a nanosecond is.
func cut(stretches []int64) (limit int64, perNano float64) {
	if len(stretches) == 0 {
		return 1, 0
	}
	sorted := slices.Sorted(slices.Values(stretches))
	limit = longTimes * sorted[len(sorted)*3/4]
	var total int64
	for _, d := range sorted {
		total += min(d, limit)
	}
	return limit, linearWidth / float64(total)
}

// at is the place of a time.
func (s *scale) at(time int64) float64 {
	i := sort.Search(len(s.times), func(i int) bool { return s.times[i] > time })
	switch {
	case i == 0:
		return 0
	case i == len(s.times):
		return s.width
	}
	share := float64(time-s.times[i-1]) / float64(s.times[i]-s.times[i-1])
	return s.x[i-1] + share*(s.x[i]-s.x[i-1])
}

// ticks are times at which something begins or ends, at least so far apart.
func (s *scale) ticks(apart float64) []int {
	var list []int
	last := -apart
	for i := range s.times {
		if s.x[i]-last >= apart && (i == 0 || s.times[i] != s.times[i-1]) {
			list = append(list, i)
			last = s.x[i]
		}
	}
	return list
}
