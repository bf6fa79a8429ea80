package similar

import (
	"cmp"
	"slices"
)

// maxPlaces is at how many places of a program one gram is looked for: in a program of one line, ten thousand times
// over, everything is everywhere.
const maxPlaces = 16

// matcher lays two programs side by side. It is used again for the next two.
type matcher struct {
	takenA, takenB []bool
	seeds, found   []run
}

// run is tokens that two programs have in a row.
type run struct{ a, b, length int }

// pair is what two programs have in common.
func (m *matcher) pair(a, b *text) Pair {
	var p Pair
	sharedA, sharedB := 0, 0
	for _, r := range m.tiles(a, b) {
		ownA := a.ownIn(r.a, r.length)
		sharedA, sharedB = sharedA+ownA, sharedB+b.ownIn(r.b, r.length)
		p.Passages = append(p.Passages, Passage{a.span(r.a, r.length), b.span(r.b, r.length), ownA})
	}
	if min(sharedA, sharedB) < minShared || min(a.own, b.own) < minOwn {
		return Pair{}
	}
	p.ShareA, p.ShareB, p.Tokens = float64(sharedA)/float64(a.own), float64(sharedB)/float64(b.own), sharedA
	p.Score = max(p.ShareA, p.ShareB)
	return p
}

// tiles are the runs of tokens that two programs have in common. The longest are taken first, and no token is in two,
// as in the greedy string tiling of JPlag.
func (m *matcher) tiles(a, b *text) []run {
	runs := m.runs(a, b)
	slices.SortFunc(runs, func(p, q run) int {
		return cmp.Or(cmp.Compare(q.length, p.length), cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b))
	})
	m.takenA, m.takenB = cleared(m.takenA, len(a.symbols)), cleared(m.takenB, len(b.symbols))
	var tiles []run
	for _, r := range runs {
		for _, r := range m.untaken(r) {
			if 2*min(a.ownIn(r.a, r.length), b.ownIn(r.b, r.length)) < gramLength {
				continue
			}
			for i := range r.length {
				m.takenA[r.a+i], m.takenB[r.b+i] = true, true
			}
			tiles = append(tiles, r)
		}
	}
	return tiles
}

// runs are the longest runs around each gram that both programs have for their own.
func (m *matcher) runs(a, b *text) []run {
	m.seeds = m.seeds[:0]
	for i, j := 0, 0; i < len(a.grams) && j < len(b.grams); {
		gram := a.grams[i].gram
		switch other := b.grams[j].gram; {
		case gram < other:
			i++
			continue
		case gram > other:
			j++
			continue
		}
		endA, endB := i, j
		for endA < len(a.grams) && a.grams[endA].gram == gram {
			endA++
		}
		for endB < len(b.grams) && b.grams[endB].gram == gram {
			endB++
		}
		for _, inA := range a.grams[i:min(endA, i+maxPlaces)] {
			for _, inB := range b.grams[j:min(endB, j+maxPlaces)] {
				m.seeds = append(m.seeds, run{a: inA.at, b: inB.at})
			}
		}
		i, j = endA, endB
	}
	slices.SortFunc(m.seeds, func(p, q run) int { return cmp.Or(cmp.Compare(p.a-p.b, q.a-q.b), cmp.Compare(p.a, q.a)) })
	runs := m.found[:0]
	for i, r := range m.seeds {
		if i > 0 && len(runs) > 0 {
			if last := runs[len(runs)-1]; last.a-last.b == r.a-r.b && r.a < last.a+last.length {
				continue // on the same diagonal, in the run that was found there
			}
		}
		for r.a > 0 && r.b > 0 && a.symbols[r.a-1] == b.symbols[r.b-1] && a.symbols[r.a-1] != 0 {
			r.a, r.b = r.a-1, r.b-1
		}
		for r.a+r.length < len(a.symbols) && r.b+r.length < len(b.symbols) &&
			a.symbols[r.a+r.length] == b.symbols[r.b+r.length] &&
			a.symbols[r.a+r.length] != 0 {
			r.length++
		}
		if r.length >= gramLength { // else two grams have the same hash
			runs = append(runs, r)
		}
	}
	m.found = runs
	return runs
}

// untaken are the parts of a run of which no token is in another, each long enough to be a passage.
func (m *matcher) untaken(r run) []run {
	var parts []run
	length := 0
	for i := range r.length + 1 {
		if i < r.length && !m.takenA[r.a+i] && !m.takenB[r.b+i] {
			length++
			continue
		}
		if length >= gramLength {
			parts = append(parts, run{r.a + i - length, r.b + i - length, length})
		}
		length = 0
	}
	return parts
}

func (t *text) ownIn(from, length int) int {
	n := 0
	for _, of := range t.from[from : from+length] {
		if of == own {
			n++
		}
	}
	return n
}

func (t *text) span(from, length int) Span {
	return Span{File: int(t.files[from]), First: int(t.lines[from]), Last: int(t.lines[from+length-1])}
}

func cleared(s []bool, n int) []bool {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// groups are the programs that pairs connect.
func groups(programs int, pairs []Pair) []Group {
	first := make([]int, programs) // of the group of each
	for i := range first {
		first[i] = i
	}
	find := func(i int) int {
		for first[i] != i {
			first[i] = first[first[i]]
			i = first[i]
		}
		return i
	}
	for _, p := range pairs {
		a, b := find(p.A), find(p.B)
		first[max(a, b)] = min(a, b)
	}
	members := make([]Group, programs)
	for i := range programs {
		members[find(i)] = append(members[find(i)], i)
	}
	connected := slices.DeleteFunc(members, func(g Group) bool { return len(g) < 2 })
	slices.SortStableFunc(connected, func(a, b Group) int { return cmp.Compare(len(b), len(a)) })
	return connected
}
