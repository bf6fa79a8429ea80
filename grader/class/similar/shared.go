package similar

import (
	"cmp"
	"context"
	"slices"
)

// Shared is text that many programs have, as one of them has it.
type Shared struct {
	In       []int // the programs, by their place in Result.Programs
	Of       int   // the one that Passages are of
	Tokens   int   // of them
	Passages []sharedPassage
}

// sharedPassage is a passage that many programs have.
type sharedPassage struct {
	Span
	Tokens int
	In     int // programs that have the greater part of it
}

// maxShared bounds how many programs all others are laid beside.
const maxShared = 100

// shared finds what is commonplace and who has it, and marks it: each time, the program that has most of it to which
// nobody has been assigned yet is laid beside all others.
func (c *comparison) shared(ctx context.Context) []Shared {
	many := &crowd{texts: c.texts}
	unmarked := make([][]origin, len(c.texts))
	for i, t := range c.texts {
		unmarked[i] = slices.Clone(t.from)
	}
	markCommon(c.texts, c.common)
	for i, t := range c.texts {
		left := make([]bool, len(t.from))
		for j, from := range t.from {
			left[j] = from == common
		}
		many.left = append(many.left, left)
		many.in = append(many.in, make([]bool, len(left)))
		t.from = unmarked[i]
	}
	var found []Shared
	for range maxShared {
		of, most := many.next()
		if most < minShared || ctx.Err() != nil {
			break
		}
		if s := many.around(of, most); len(s.In) > 1 {
			found = append(found, s)
		}
		clear(many.left[of])
	}
	for i, t := range c.texts {
		for j, in := range many.in[i] {
			if in && t.from[j] == own {
				t.from[j] = common
			}
		}
	}
	markCommon(c.texts, max(phraseLeast, len(c.texts)/commonPart))
	slices.SortStableFunc(found, func(a, b Shared) int { return cmp.Compare(len(b.In), len(a.In)) })
	return found
}

// crowd is one search for what many have.
type crowd struct {
	texts []*text
	left  [][]bool // by program and token: commonplace, and in no Shared yet
	in    [][]bool // in a Shared
	m     matcher
}

// next is the program with the most commonplace tokens that are left, in runs that can be found.
func (c *crowd) next() (of, most int) {
	for i, left := range c.left {
		n := 0
		for _, r := range stretches(len(left), func(j int) bool { return left[j] }) {
			if r.length >= gramLength {
				n += r.length
			}
		}
		if n > most {
			of, most = i, n
		}
	}
	return of, most
}

// around is who has half or more of a program's commonplace tokens, of which it has so many. Whoever has less has it
// with others, in a text of its own.
func (c *crowd) around(of, most int) Shared {
	a := c.texts[of]
	s := Shared{In: []int{of}, Of: of}
	has := [][]bool{slices.Clone(c.left[of])} // by program in s.In and token of a
	for i, b := range c.texts {
		if i == of {
			continue
		}
		tiles, shared, match := c.m.tiles(a, b), 0, make([]bool, len(a.symbols))
		for _, r := range tiles {
			for j := range r.length {
				if c.left[of][r.a+j] {
					match[r.a+j] = true
					shared++
				}
			}
		}
		if shared < max(minShared, most/2) {
			continue
		}
		for _, r := range tiles {
			clear(c.left[i][r.b : r.b+r.length])
			for j := range r.length {
				c.in[i][r.b+j], c.in[of][r.a+j] = true, true
			}
		}
		s.In, has = append(s.In, i), append(has, match)
	}
	slices.Sort(s.In)
	s.Passages = a.passages(has)
	for _, p := range s.Passages {
		s.Tokens += p.Tokens
	}
	return s
}

// passages are the parts of a program that half or more have, by who has which of its tokens. What lies between two,
// and is shorter than any passage, does not part them.
func (t *text) passages(has [][]bool) (found []sharedPassage) {
	many := make([]bool, len(t.symbols))
	for j, sym := range t.symbols {
		many[j] = sym != 0 && 2*count(has, func(who []bool) bool { return who[j] }) >= len(has)
	}
	runs := stretches(len(many), func(j int) bool { return many[j] })
	for i := 0; i < len(runs); i++ {
		r := runs[i]
		for ; i+1 < len(runs); i++ {
			next := runs[i+1]
			if next.a-r.a-r.length >= gramLength || t.files[next.a] != t.files[r.a] {
				break
			}
			r.length = next.a + next.length - r.a
		}
		tokensOf := func(who []bool) int {
			n := 0
			for j := r.a; j < r.a+r.length; j++ {
				if many[j] && who[j] {
					n++
				}
			}
			return n
		}
		p := sharedPassage{Span: t.span(r.a, r.length), Tokens: tokensOf(many)}
		if p.Tokens < gramLength {
			continue
		}
		p.In = count(has, func(who []bool) bool { return 2*tokensOf(who) > p.Tokens })
		found = append(found, p)
	}
	return found
}

// count is how many are so.
func count[T any](all []T, is func(T) bool) int {
	n := 0
	for _, each := range all {
		if is(each) {
			n++
		}
	}
	return n
}

// stretches are the longest runs of what is so, in order.
func stretches(n int, is func(i int) bool) (found []run) {
	for i := 0; i < n; i++ {
		from := i
		for i < n && is(i) {
			i++
		}
		if i > from {
			found = append(found, run{a: from, length: i - from})
		}
	}
	return found
}
