// Package carry takes what a student has written in an exercise over into a changed skeleton: gap by gap, wherever in
// the new skeleton the gaps are, and what was written beside the gaps where the skeleton has not changed in the same
// place. Where that cannot be done it says why, and nothing is made up.
package carry

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"
	"strings"
)

// Apart is the error of Over where a student's code and the new skeleton have to stand side by side.
type Apart struct {
	Reason string // half a sentence: what stands in the way
}

func (a *Apart) Error() string { return a.Reason }

func apartf(format string, args ...any) error { return &Apart{fmt.Sprintf(format, args...)} }

// Over is the new skeleton with what the student has written: mine, which once was the skeleton base. The gaps are
// those that were taken over, by the names that they have in the new one. An error is an *Apart.
func Over(base, mine, newer []byte) (text []byte, gaps []string, err error) {
	m := &merge{fills: map[string][]string{}}
	for _, f := range []struct {
		into **source
		text []byte
		what string
	}{{&m.base, base, "the old skeleton"}, {&m.mine, mine, "your code"}, {&m.newer, newer, "the new skeleton"}} {
		if *f.into, err = read(f.text); err != nil {
			return nil, nil, apartf("%s does not parse (%v)", f.what, err)
		}
	}
	m.matchGaps()
	if err := m.takeFills(); err != nil {
		return nil, nil, err
	}
	lines, err := m.join()
	if err != nil {
		return nil, nil, err
	}
	made, err := format.Source([]byte(strings.Join(lines, "\n") + "\n"))
	if err == nil {
		made, err = withImports(made, m.base, m.mine, m.newer)
	}
	if err != nil {
		return nil, nil, apartf("with your code in it the new skeleton would not parse (%v)", err)
	}
	if line := lost(m.base, m.mine, made); line != "" {
		return nil, nil, apartf("your line %q would have no place in it", line)
	}
	for id := range m.fills {
		gaps = append(gaps, m.partner[id])
	}
	slices.Sort(gaps)
	return made, gaps, nil
}

// lost is a line that the student has added, or has added more often than it is in a text; "" if there is none. Imports
// are left out: those that nothing uses do not compile.
func lost(base, mine *source, text []byte) string {
	was, has := map[string]int{}, map[string]int{}
	for _, line := range base.code() {
		was[line]++
	}
	for line := range bytes.Lines(text) {
		has[string(bytes.TrimSpace(line))]++
	}
	for _, line := range mine.code() {
		if was[line]--; was[line] >= 0 || line == "" {
			continue
		}
		if has[line]--; has[line] < 0 {
			return line
		}
	}
	return ""
}

// merge is one work of Over.
type merge struct {
	base, mine, newer *source
	renamed           map[string]string   // functions: by the old key, the new one
	partner           map[string]string   // gaps: by the old ID, the new one
	fills             map[string][]string // what the student has written, by the gap's old ID
	unfilled          map[string][]piece  // the student's chunks with their gaps as they were, by key
}

// matchGaps finds for each old gap the new one that is the same: that has the same words, else the one in its place in
// the same function, else that of the same ID.
func (m *merge) matchGaps() {
	m.renamed, m.partner = map[string]string{}, map[string]string{}
	taken := map[string]bool{}
	pair := func(old, now string) { m.partner[old], taken[now] = now, true }
	for _, old := range m.base.gaps {
		var same []string
		for _, now := range m.newer.gaps {
			if words(old) != "" && words(now) == words(old) {
				same = append(same, now.id)
			}
		}
		if len(same) == 1 && !taken[same[0]] {
			pair(old.id, same[0])
		}
	}
	m.matchFunctions()
	for _, c := range m.base.chunks {
		open := func(s *source, key string, done func(string) bool) (ids []string) {
			for _, g := range s.gaps {
				if g.chunk == key && !done(g.id) {
					ids = append(ids, g.id)
				}
			}
			return ids
		}
		old := open(m.base, c.key, func(id string) bool { return m.partner[id] != "" })
		now := open(m.newer, m.nowCalled(c.key), func(id string) bool { return taken[id] })
		if len(old) == len(now) {
			for i := range old {
				pair(old[i], now[i])
			}
		}
	}
	for _, old := range m.base.gaps {
		if m.partner[old.id] == "" && !taken[old.id] && m.newer.gap(old.id) != nil {
			pair(old.id, old.id)
		}
	}
}

// matchFunctions finds which function that is gone is which new one: the one that has its gaps.
func (m *merge) matchFunctions() {
	for _, old := range m.base.gaps {
		now := m.newer.gap(m.partner[old.id])
		if now == nil && m.partner[old.id] == "" {
			now = m.newer.gap(old.id)
		}
		if now != nil && m.newer.chunk(old.chunk) == nil && m.base.chunk(now.chunk) == nil {
			m.renamed[old.chunk] = now.chunk
		}
	}
}

// nowCalled is the key in the new skeleton of an old chunk.
func (m *merge) nowCalled(key string) string {
	if now, ok := m.renamed[key]; ok {
		return now
	}
	return key
}

// takeFills finds what the student has written in each gap: what stands between the lines around it.
func (m *merge) takeFills() error {
	m.unfilled = map[string][]piece{}
	for _, c := range m.base.chunks {
		theirs := m.mine.chunk(c.key)
		if theirs == nil {
			continue
		}
		old, now := m.base.pieces(*c, nil), m.mine.pieces(*theirs, m.base)
		var without []piece
		at := 0
		for _, h := range differences(old, now) {
			without = append(without, now[at:h.b0]...)
			at = h.b1
			gap := onlyGap(old[h.a0:h.a1])
			if gap == "" {
				without = append(without, now[h.b0:h.b1]...)
				continue
			}
			m.fills[gap] = texts(now[h.b0:h.b1])
			without = append(without, old[h.a0:h.a1]...)
		}
		m.unfilled[c.key] = append(without, now[at:]...)
	}
	for _, gap := range m.base.gaps {
		if _, filled := m.fills[gap.id]; filled && m.partner[gap.id] == "" {
			return apartf("TODO(%s), which you have filled, is gone", gap.id)
		}
	}
	return nil
}

// onlyGap is the one gap that pieces are, blank lines left aside; "" where they are something else.
func onlyGap(pieces []piece) (gap string) {
	for _, t := range pieces {
		switch {
		case t.gap != "" && gap == "":
			gap = t.gap
		case t.gap != "" || t.text != "":
			return ""
		}
	}
	return gap
}

// join writes the new file: its declarations in the new skeleton's order, the student's own behind what they stood
// behind.
func (m *merge) join() (lines []string, err error) {
	oldKey := map[string]string{}
	for old, now := range m.renamed {
		oldKey[now] = old
	}
	placed := map[string]bool{} // gaps, by their old IDs
	put := func(pieces []piece) {
		for i, t := range pieces {
			if i > 0 && t == (piece{}) && m.emptied(pieces[i-1]) {
				continue // the blank line behind a guard that the student has deleted
			}
			lines = append(lines, m.expand(t, placed)...)
		}
	}
	if err := m.nothingGone(); err != nil {
		return nil, err
	}
	own := m.ownBehind()
	for _, c := range own[""] {
		put(m.mine.pieces(*c, nil))
	}
	for _, c := range m.newer.chunks {
		key := c.key
		if old, ok := oldKey[key]; ok {
			key = old
		}
		now := m.newer.pieces(*c, nil)
		for i := range now {
			now[i].gap = m.oldID(now[i].gap)
		}
		was, theirs := m.base.chunk(key), m.mine.chunk(key)
		switch {
		case was == nil && theirs != nil:
			if !slices.Equal(m.newer.lines(c), m.mine.lines(theirs)) {
				return nil, apartf("both you and the new skeleton have added %s", c.key)
			}
			put(now)
		case was == nil:
			put(now)
		case theirs == nil: // the student has taken it out, or put it into another file
			if !slices.Equal(m.base.pieces(*was, nil), now) {
				return nil, apartf("%s has changed, and you have taken it out", c.key)
			}
		default:
			merged, ok := threeWay(m.base.pieces(*was, nil), m.unfilled[key], now)
			if !ok {
				return nil, apartf("%s has changed where you have changed it, too", c.key)
			}
			put(merged)
		}
		for _, mine := range own[key] {
			put(m.mine.pieces(*mine, nil))
		}
	}
	for id := range m.fills {
		if !placed[id] {
			return nil, apartf("TODO(%s), which you have filled, has no place any more", id)
		}
	}
	return lines, nil
}

// oldID is the gap that a new one was; a new one's own, marked as such, where it was none.
func (m *merge) oldID(id string) string {
	if id == "" {
		return ""
	}
	for old, now := range m.partner {
		if now == id {
			return old
		}
	}
	return newGap + id
}

const newGap = "new "

// expand is a line of the new file, or what stands in a gap.
func (m *merge) expand(t piece, placed map[string]bool) []string {
	if t.gap == "" {
		return []string{t.text}
	}
	if fill, filled := m.fills[t.gap]; filled && !placed[t.gap] {
		placed[t.gap] = true
		now := make([]string, len(fill))
		for i, line := range fill { // one that was only begun is still called for
			now[i] = strings.ReplaceAll(line, fmt.Sprintf("TODO(%q)", t.gap), fmt.Sprintf("TODO(%q)", m.partner[t.gap]))
		}
		return now
	}
	if id, ok := strings.CutPrefix(t.gap, newGap); ok {
		return m.newer.gap(id).lines
	}
	return m.newer.gap(m.partner[t.gap]).lines
}

// emptied reports whether the student has deleted a gap and put nothing there.
func (m *merge) emptied(t piece) bool {
	fill, filled := m.fills[t.gap]
	return filled && len(fill) == 0
}

// nothingGone refuses where the student has changed what the new skeleton no longer has.
func (m *merge) nothingGone() error {
	for _, c := range m.base.chunks {
		if m.newer.chunk(m.nowCalled(c.key)) != nil || m.mine.chunk(c.key) == nil {
			continue
		}
		if !slices.Equal(m.base.pieces(*c, nil), m.unfilled[c.key]) {
			return apartf("%s is gone, and you have changed it", c.key)
		}
	}
	return nil
}

// ownBehind are the student's own declarations, by the key of the skeleton's that they stand behind.
func (m *merge) ownBehind() map[string][]*chunk {
	own, behind := map[string][]*chunk{}, ""
	for _, c := range m.mine.chunks {
		switch {
		case m.newer.chunk(m.nowCalled(c.key)) != nil:
			behind = c.key
		case m.base.chunk(c.key) == nil:
			own[behind] = append(own[behind], c)
		}
	}
	return own
}
