package order

import (
	"fmt"
	"slices"

	"cudalab/native/trace"
)

// report collects findings, each fault once.
type report struct {
	words *words
	needs map[origin]*shortage // by where memory was allocated that is too small
	list  []*repeated
	byKey map[key]*repeated
	moves map[int]map[trace.ID]bool // by record: the streams that it would be in order in, for one call each
}

// repeated is a finding with how often it was seen.
type repeated struct {
	Finding
	made int // the record that made the memory that it is about; -1: none
	last int // record of the last call that it was seen at
	more int // how often after the first
	move move
}

// key is what makes two findings the same fault: the same rule broken between the same places of the source, in memory
// from the same place, by the same argument.
type key struct {
	rule           string
	at, with, made origin
	arg            uint8
}

// origin is a place of the source, or where that is unknown the call itself.
type origin struct {
	site   uint32
	op     trace.Op
	kernel string
}

func (p *report) origin(i int) origin {
	if i < 0 {
		return origin{}
	}
	r := p.words.record(i)
	if r.Site != 0 {
		return origin{site: r.Site}
	}
	return origin{op: r.Op, kernel: r.Kernel}
}

// removeOne is what to do about two calls of which one is enough. One line that makes both cannot be left out: it has
// to know what it has done: once says how.
func (p *report) removeOne(first, second int, once string) string {
	t := p.words.t
	sites := [2]trace.Site{t.SiteOf(p.words.record(first)), t.SiteOf(p.words.record(second))}
	if len(sites[0]) > 0 && len(sites[1]) > 0 && sites[0][0] == sites[1][0] {
		return "this one line makes both calls, in a loop or in two calls of its function: " + once
	}
	return "remove one of the two calls"
}

// relatedKept limits a finding's related calls.
const relatedKept = 8

// add counts a finding that the call at record at is at fault for, together with the one at record with (-1: none), in
// memory that record made created (-1: none). Only the first of a kind is put into words; that is returned, else nil.
func (p *report) add(rule string, at, with, made int, arg uint8, write func() Finding) *repeated {
	if made >= 0 && p.words.record(made).Op == trace.OpMemCreate {
		made = -1 // the bytes that one call uses may lie in many of these, mapped side by side
	}
	k := key{rule, p.origin(at), p.origin(with), p.origin(made), arg}
	if seen := p.byKey[k]; seen != nil {
		if seen.last != at {
			seen.last = at
			seen.more++
		} else if seen.At == at && with >= 0 {
			seen.relate(with, "the same with "+p.words.callOn(with))
		}
		return nil
	}
	f := write()
	f.Rule, f.At, f.from = rule, at, -1
	if f.Severity == 0 {
		f.Severity = Error
	}
	entry := &repeated{Finding: f, made: made, last: at}
	if p.byKey == nil {
		p.byKey = map[key]*repeated{}
	}
	p.byKey[k] = entry
	p.list = append(p.list, entry)
	return entry
}

// behind notes that a wait for the call of a record mends a finding.
func (f *repeated) behind(from int) *repeated {
	if f != nil {
		f.from = from
	}
	return f
}

// orMove notes that so does another stream for one of the two calls.
func (p *report) orMove(f *repeated, m move) {
	if m.fix == "" {
		return
	}
	if p.moves == nil {
		p.moves = map[int]map[trace.ID]bool{}
	}
	if p.moves[m.call] == nil {
		p.moves[m.call] = map[trace.ID]bool{}
	}
	p.moves[m.call][m.to] = true
	if f != nil {
		f.move = m
	}
}

func (f *repeated) relate(at int, note string) {
	known := slices.ContainsFunc(f.Related, func(r Related) bool { return r.At == at })
	if !known && len(f.Related) < relatedKept {
		f.Related = append(f.Related, Related{at, note})
	}
}

// isRace reports whether a finding is of two uses of the same bytes in no order, of which the other is its first
// related call.
func (f *repeated) isRace() bool { return f.Rule == DataRace || f.Rule == HostRace }

func (p *report) races() (n int) {
	for _, f := range p.list {
		if f.isRace() {
			n++
		}
	}
	return n
}

// join leaves of several races that one edge would mend the one that asks for that edge, and has it name the others. An
// edge from one call to another orders all that is before the first with all that is behind the second.
func (p *report) join(before func(i, j int) bool) {
	upTo := func(i, j int) bool { return i == j || before(i, j) }
	mends := func(i, j int) bool {
		f, g := p.list[i], p.list[j]
		if !f.isRace() || !g.isRace() || g.more > f.more || i == j {
			return false
		}
		x, y := f.Related[0].At, g.Related[0].At
		if f.At == g.At && x == y {
			return i < j // of the same two calls, in other memory
		}
		return upTo(y, x) && upTo(f.At, g.At)
	}
	var left []*repeated
	mended := map[*repeated][]*repeated{}
	for j, g := range p.list {
		by := -1
		for i := range p.list {
			// The one that mends both of two others is not mended by either.
			if mends(i, j) && (by < 0 || mends(i, by)) {
				by = i
			}
		}
		if by < 0 {
			left = append(left, g)
		} else {
			mended[p.list[by]] = append(mended[p.list[by]], g)
		}
	}
	for _, f := range left {
		others := mended[f]
		switch len(others) {
		case 0:
			continue
		case 1:
			g := others[0]
			f.Message += fmt.Sprintf(" The same wait mends %s as well, which should come after %s.", p.words.callOn(g.At),
				p.words.callOn(g.Related[0].At))
		default:
			f.Message += fmt.Sprintf(" The same wait mends %s other places as well.", number(int64(len(others))))
		}
		for _, g := range others {
			f.relate(g.At, "needs the same wait")
		}
	}
	p.list = left
}

// waits is how many errors a wait mends.
func (p *report) waits() (n int) {
	for _, f := range p.list {
		if f.from >= 0 && f.Severity == Error {
			n++
		}
	}
	return n
}

// follow notes in each error that a wait mends which other one's wait does that as well. It stays, since it may break
// another rule; of races alone join leaves it out.
func (p *report) follow(before func(i, j int) bool) {
	upTo := func(i, j int) bool { return i == j || before(i, j) }
	mends := func(i, j int) bool {
		f, g := p.list[i], p.list[j]
		if i == j || min(f.from, g.from) < 0 || f.Severity != Error || g.Severity != Error ||
			!upTo(g.from, f.from) || !upTo(f.At, g.At) {
			return false
		}
		return i < j || f.from != g.from || f.At != g.At // of the same two calls the first is told
	}
	for j, g := range p.list {
		by := -1
		for i := range p.list {
			if mends(i, j) && (by < 0 || mends(i, by)) {
				by = i
			}
		}
		if by >= 0 {
			g.Follows = &p.list[by].Finding
		}
	}
}

// sorted is the findings in the order of the calls at fault.
func (p *report) sorted() []Finding {
	slices.SortStableFunc(p.list, func(a, b *repeated) int { return a.At - b.At })
	var all []Finding
	for _, f := range p.list {
		if len(p.moves[f.move.call]) == 1 && f.move.fix != "" { // in one stream it would be out of order with another
			f.Fix = f.move.fix
		}
		switch f.more {
		case 0:
		case 1:
			f.Message += " The same happens once more."
		default:
			f.Message += fmt.Sprintf(" The same happens %s more times.", number(int64(f.more)))
		}
		if n := p.needs[p.origin(f.made)]; f.Rule == OutOfBounds && n != nil {
			f.Cause = n.cause(p.words)
		}
		all = append(all, f.Finding)
	}
	return all
}

// from is the related call that made an allocation.
func (p *report) from(a *allocation) []Related {
	if a.made < 0 {
		return nil
	}
	if a.block != nil {
		return []Related{{a.made, "handed out here"}}
	}
	return []Related{{a.made, "allocated here"}}
}
