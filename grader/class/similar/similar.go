// Package similar finds programs that have more in common than the exercise explains. It fingerprints their Go tokens
// by winnowing (Schleimer, Wilkerson and Aiken, "Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD 2003)
// and then lays the passages of each likely pair side by side. Names, literals, comments and layout count for nothing,
// and neither does what everybody was given: the skeleton, the chapter's and the hints' code. What is the solution's,
// and what many share, is told by itself.
package similar

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
)

// File is one Go file as it was handed in.
type File struct {
	Name string
	Text string
}

// Program is what one student handed in for one exercise.
type Program struct {
	ID    string
	Files []File
}

// Options are what Compare can be told. The zero Options are the measured ones.
type Options struct {
	Threshold float64 // the Score from which on a pair is listed, above 0 and at most 1; 0: DefaultThreshold
}

// DefaultThreshold is what testdata/measured.txt was measured at.
const DefaultThreshold = 0.3

// minOwn is how many tokens of a program must be its author's own. With fewer, about ten lines, there is nothing that
// likeness could show: those that answer the same question are alike.
const minOwn = 50

// minShared is how many tokens a pair must share, in each of its programs.
const minShared = 40

// Result is one exercise's comparison.
type Result struct {
	Threshold float64
	Programs  []Subject // as they were given
	Pairs     []Pair    // from the threshold on, the most alike first
	Groups    []Group   // of programs that pairs connect, the largest first
	Unread    int       // pairs that may be alike and were not looked at, because there are too many
	// What more than Common programs have makes no pairs: it is in Shared, once, with all who have it.
	Common int
	Shared []Shared // that of the most programs first
}

// Subject is a program as it was compared.
type Subject struct {
	Program
	Tokens   int  // all, imports left out
	Own      int  // without what everybody was given and what is the solution's
	Solution int  // that the solution has as well, and nothing that everybody was given
	Cut      bool // longer than any exercise needs; only its beginning was compared
	own      map[place]bool
}

// place is a line of one of a program's files.
type place struct{ file, line int32 }

// OwnLine reports whether some of a line is the author's own.
func (s Subject) OwnLine(file, line int) bool { return s.own[place{int32(file), int32(line)}] }

// TooLittle reports whether too little of the program is its author's own to say anything about it.
func (s Subject) TooLittle() bool { return s.Own < minOwn }

// AsSolution reports whether so much of the program is the solution's text that two who share as much would be a pair.
func (s Subject) AsSolution() bool {
	return s.Solution >= minShared && float64(s.Solution) >= DefaultThreshold*float64(s.Own+s.Solution)
}

// Pair is two programs that are alike.
type Pair struct {
	A, B     int     // in Result.Programs, A before B
	Score    float64 // the larger of the two shares
	ShareA   float64 // of A's own tokens, how many B has as well
	ShareB   float64
	Tokens   int // of A's own that B has as well
	Passages []Passage
}

// Passage is a run of tokens that both programs have, names and literals aside.
type Passage struct {
	A, B   Span
	Tokens int // of the author's own in A
}

// Span is where a passage is: whole lines of one file.
type Span struct {
	File        int // in Program.Files
	First, Last int // lines, from 1 on
}

// Group is programs that pairs connect, by their place in Result.Programs.
type Group []int

// Compare compares every program with every other. What it answers depends on nothing but what it is given.
func Compare(ctx context.Context, programs []Program, base *Base, o Options) (*Result, error) {
	c := &comparison{threshold: cmp.Or(o.Threshold, DefaultThreshold), common: max(commonLeast, len(programs)/commonPart)}
	for _, p := range programs {
		c.texts = append(c.texts, tokenise(p, nil))
	}
	base.markIn(c.texts)
	r := &Result{Threshold: c.threshold, Common: c.common}
	for i, t := range c.texts {
		t.findGrams()
		r.Programs = append(r.Programs, Subject{Program: programs[i], Tokens: len(t.symbols) - len(programs[i].Files),
			Own: t.count(own), Solution: t.count(solution), Cut: t.cut, own: t.ownLines()})
	}
	r.Shared = c.shared(ctx)
	for _, t := range c.texts {
		t.own = t.count(own)
		t.findGrams()
	}
	candidates := c.candidates()
	r.Unread = max(0, len(candidates)-maxCandidates)
	pairs, err := c.match(ctx, candidates[:len(candidates)-r.Unread])
	if err != nil {
		return nil, err
	}
	r.Pairs, r.Groups = pairs, groups(len(programs), pairs)
	return r, nil
}

// comparison is one Compare under way.
type comparison struct {
	threshold float64
	common    int
	texts     []*text
}

// match lays the candidates side by side and answers those that are pairs.
func (c *comparison) match(ctx context.Context, candidates [][2]int) ([]Pair, error) {
	found := make([]*Pair, len(candidates))
	work := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			var m matcher
			for i := range work {
				a, b := candidates[i][0], candidates[i][1]
				if p := m.pair(c.texts[a], c.texts[b]); p.Score >= c.threshold {
					p.A, p.B = a, b
					found[i] = &p
				}
			}
		})
	}
	for i := range candidates {
		if ctx.Err() != nil {
			break
		}
		work <- i
	}
	close(work)
	workers.Wait()
	var pairs []Pair
	for _, p := range found {
		if p != nil {
			pairs = append(pairs, *p)
		}
	}
	slices.SortFunc(pairs, func(p, q Pair) int {
		return cmp.Or(cmp.Compare(q.Score, p.Score), cmp.Compare(q.Tokens, p.Tokens), cmp.Compare(p.A, q.A),
			cmp.Compare(p.B, q.B))
	})
	return pairs, ctx.Err()
}
