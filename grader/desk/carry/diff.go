package carry

import (
	"slices"
	"strings"
)

// piece is what is compared: a line, or a whole gap.
type piece struct {
	text string
	gap  string
}

// pieces are a chunk's. Of a student's file, a gap is one where it is as it was handed out; a base of nil is the file
// itself.
func (s *source) pieces(c chunk, base *source) (all []piece) {
	for i := c.from; i < c.to; i++ {
		at := slices.IndexFunc(s.gaps, func(g gap) bool { return g.from == i })
		if at >= 0 && (base == nil || base.gap(s.gaps[at].id) != nil &&
			slices.Equal(base.gap(s.gaps[at].id).lines, s.gaps[at].lines)) {
			all = append(all, piece{gap: s.gaps[at].id})
			i = s.gaps[at].to - 1
			continue
		}
		all = append(all, piece{text: s.all[i]})
	}
	return all
}

// texts are the lines of pieces that are no gaps.
func texts(pieces []piece) (lines []string) {
	for _, t := range pieces {
		lines = append(lines, t.text)
	}
	return lines
}

// hunk is where two sequences differ: a[a0:a1] became b[b0:b1].
type hunk struct{ a0, a1, b0, b1 int }

// differences are the hunks between two sequences, by their longest common subsequence.
func differences(a, b []piece) (hunks []hunk) {
	at := matches(a, b)
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		if i < len(a) && at[i] == j {
			i, j = i+1, j+1
			continue
		}
		h := hunk{a0: i, b0: j, b1: len(b)}
		for i < len(a) && at[i] < 0 {
			i++
		}
		if h.a1 = i; i < len(a) {
			h.b1 = at[i]
		}
		j = h.b1
		hunks = append(hunks, h)
	}
	return hunks
}

// matches has for each element of a the one of b that it is; -1 for none. What both begin and end with is matched
// first: the brace that ends a function is not one of those in a gap.
func matches(a, b []piece) []int {
	at := make([]int, len(a))
	for i := range at {
		at[i] = -1
	}
	first := 0
	for first < min(len(a), len(b)) && a[first] == b[first] {
		at[first] = first
		first++
	}
	na, nb := len(a), len(b)
	for na > first && nb > first && a[na-1] == b[nb-1] {
		na, nb = na-1, nb-1
		at[na] = nb
	}
	longest := make([][]int, na-first+1)
	for i := range longest {
		longest[i] = make([]int, nb-first+1)
	}
	for i := na - 1; i >= first; i-- {
		for j := nb - 1; j >= first; j-- {
			l := max(longest[i-first+1][j-first], longest[i-first][j-first+1])
			if a[i] == b[j] {
				l = max(l, longest[i-first+1][j-first+1]+1)
			}
			longest[i-first][j-first] = l
		}
	}
	for i, j := first, first; i < na && j < nb; {
		switch l := longest[i-first][j-first]; {
		case a[i] == b[j] && l == longest[i-first+1][j-first+1]+1:
			at[i] = j
			i, j = i+1, j+1
		case l == longest[i-first+1][j-first]:
			i++
		default:
			j++
		}
	}
	return at
}

// threeWay is a base with the changes that the student, one, and the course, other, have made to it. It is not ok where
// both have changed the same place; what both have put into the same place is kept, the course's first.
func threeWay(base, one, other []piece) (merged []piece, ok bool) {
	in1, in2 := matches(base, one), matches(base, other)
	i, i1, i2 := 0, 0, 0
	for i < len(base) || i1 < len(one) || i2 < len(other) {
		if i < len(base) && in1[i] == i1 && in2[i] == i2 {
			merged = append(merged, base[i])
			i, i1, i2 = i+1, i1+1, i2+1
			continue
		}
		next, next1, next2 := i, len(one), len(other)
		for next < len(base) && (in1[next] < 0 || in2[next] < 0) {
			next++
		}
		if next < len(base) {
			next1, next2 = in1[next], in2[next]
		}
		was, now1, now2 := base[i:next], one[i1:next1], other[i2:next2]
		switch {
		case slices.Equal(was, now1), slices.Equal(now1, now2):
			merged = append(merged, now2...)
		case slices.Equal(code(was), code(now2)): // comments alone are new there
			merged = append(merged, now1...)
		default:
			both, ok := beside(was, now1, now2)
			if !ok {
				return nil, false
			}
			merged = append(merged, both...)
		}
		i, i1, i2 = next, next1, next2
	}
	return merged, true
}

// beside is what two have made of a place where one of them has only put something before or behind what was there.
func beside(was, now1, now2 []piece) (both []piece, ok bool) {
	begins := func(all []piece) bool { return len(all) >= len(was) && slices.Equal(all[:len(was)], was) }
	ends := func(all []piece) bool { return len(all) >= len(was) && slices.Equal(all[len(all)-len(was):], was) }
	switch {
	case len(was) == 0, begins(now1):
		return slices.Concat(now2, now1[len(was):]), true
	case ends(now1):
		return slices.Concat(now1[:len(now1)-len(was)], now2), true
	case begins(now2):
		return slices.Concat(now1, now2[len(was):]), true
	case ends(now2):
		return slices.Concat(now2[:len(now2)-len(was)], now1), true
	}
	return nil, false
}

// code are the pieces that are no comments or blank lines.
func code(all []piece) (some []piece) {
	for _, p := range all {
		if text := strings.TrimSpace(p.text); p.gap != "" || text != "" && !strings.HasPrefix(text, "//") {
			some = append(some, p)
		}
	}
	return some
}
