package order

import (
	"math"
	"slices"
	"sort"

	"cudalab/native/interval"
	"cudalab/native/trace"
)

// span is bytes with the last access to them.
type (
	spans = interval.Map[int64, stamp]
	span  = interval.Span[int64, stamp]
)

// history is the accesses to one allocation that later ones can still conflict with: of each byte the last write, and
// since then each stream's last read and last atomic access. An earlier one is ordered before the one kept, or a
// race with it was reported; either way nothing is lost by forgetting it.
type history struct {
	writes  spans
	reads   sharers
	atomics sharers
	version int      // counts the writes and atomic accesses
	latest  []extent // where the last of these were: that of version v at v modulo latestKept
	unread  []extent // of unchecked, kept for its memory
}

// extent is the bytes from lo up to, not including, hi.
type extent struct{ lo, hi int64 }

const latestKept = 64

func (h *history) reset() {
	h.writes.Reset()
	h.reads.reset()
	h.atomics.reset()
	h.version, h.latest = 0, h.latest[:0]
}

// sharer is one stream's accesses of one kind.
type sharer struct {
	stream trace.ID
	spans  spans
	// The bytes that this stream last checked a read of, and the history's version then: reading them again cannot find
	// anything new but what was written since.
	checked extent
	version int
}

// unchecked is where a read of the bytes between lo and hi has to be checked: everywhere, or where the few writes and
// atomic accesses were that were made since this stream read there.
func (h *history) unchecked(stream trace.ID, lo, hi int64) []extent {
	s := h.reads.byStream(stream)
	h.unread = h.unread[:0]
	if !h.recalls(s, lo, hi) {
		h.unread = append(h.unread, extent{lo, hi})
		return h.unread
	}
	for v := s.version; v < h.version; v++ {
		x := h.latest[v%latestKept]
		if x.lo, x.hi = max(x.lo, lo), min(x.hi, hi); x.lo < x.hi {
			h.unread = append(h.unread, x)
		}
	}
	return h.unread
}

// recalls reports whether the bytes between lo and hi are among those checked, and all writes since are still known.
func (h *history) recalls(s *sharer, lo, hi int64) bool {
	return s.version >= 0 && h.version-s.version <= latestKept && s.checked.lo <= lo && hi <= s.checked.hi
}

// remember notes that a read of the bytes between lo and hi was checked. It does not give up a larger range for it.
func (h *history) remember(stream trace.ID, lo, hi int64) {
	s := h.reads.byStream(stream)
	if !h.recalls(s, lo, hi) || s.checked == (extent{lo, hi}) {
		s.checked, s.version = extent{lo, hi}, h.version
	}
}

// changed counts a write or atomic access.
func (h *history) changed(lo, hi int64) {
	if len(h.latest) < latestKept {
		h.latest = append(h.latest, extent{lo, hi})
	} else {
		h.latest[h.version%latestKept] = extent{lo, hi}
	}
	h.version++
}

// sharers are in order of their streams. What lies behind the end of the slice is kept for its memory.
type sharers []sharer

func (l *sharers) reset() {
	for i := range *l {
		(*l)[i].spans.Reset()
	}
	*l = (*l)[:0]
}

func (l *sharers) byStream(stream trace.ID) *sharer {
	list := *l
	i := sort.Search(len(list), func(i int) bool { return list[i].stream >= stream })
	if i < len(list) && list[i].stream == stream {
		return &list[i]
	}
	if n := len(list); n < cap(list) {
		list = list[:n+1]
		fresh := sharer{stream: stream, spans: list[n].spans, version: -1}
		copy(list[i+1:], list[i:n])
		list[i] = fresh
	} else {
		list = slices.Insert(list, i, sharer{stream: stream, version: -1})
	}
	*l = list
	return &list[i]
}

// cut takes the bytes between lo and hi out of every stream's accesses.
func (l *sharers) cut(lo, hi int64) {
	list := *l
	kept := 0
	for i := range list {
		list[i].spans.Cut(lo, hi)
		if !list[i].spans.Empty() {
			if kept < i {
				list[kept], list[i] = list[i], list[kept]
			}
			kept++
		}
	}
	*l = list[:kept]
}

// conflict is an earlier access that nothing orders before the one being checked.
type conflict struct {
	by     stamp
	kind   trace.AccessKind
	lo, hi int64
}

// against calls found for each access by now unordered before q that conflicts with an access of the given kind to the
// bytes between lo and hi, and gap for those that nothing has written.
func (h *history) against(q *queue, kind trace.AccessKind, lo, hi int64, found func(conflict), gap func(lo, hi int64)) {
	at := lo
	for w := range h.writes.Within(lo, hi) {
		if at < w.Lo {
			gap(at, w.Lo)
		}
		at = w.Hi
		if !q.behind(w.Value) {
			h.unless(q, conflict{w.Value, trace.Write, w.Lo, w.Hi}, found)
		}
	}
	if at < hi {
		gap(at, hi)
	}
	if kind != trace.Atomic {
		h.shared(q, h.atomics, trace.Atomic, lo, hi, found)
	}
	if kind != trace.Read {
		h.shared(q, h.reads, trace.Read, lo, hi, found)
	}
}

func (h *history) shared(q *queue, list sharers, kind trace.AccessKind, lo, hi int64, found func(conflict)) {
	for i := range list {
		s := &list[i]
		if s.stream == q.id || s.stream == hostID {
			continue
		}
		for x := range s.spans.Within(lo, hi) {
			if !q.behind(x.Value) {
				h.unless(q, conflict{x.Value, kind, x.Lo, x.Hi}, found)
			}
		}
	}
}

// unless calls found for those bytes of x that did not already race with an access that q is ordered behind: mending
// that race orders q behind x as well, so reporting both would be one fault twice.
func (h *history) unless(q *queue, x conflict, found func(conflict)) {
	left := []conflict{x}
	without := func(list sharers) {
		for i := range list {
			if !q.behind(stamp{list[i].stream, x.by.pos + 1}) {
				continue // of what that stream did after x, q is behind nothing
			}
			for y := range list[i].spans.Within(x.lo, x.hi) {
				if y.Value.pos > x.by.pos && q.behind(y.Value) {
					left = subtract(left, y.Lo, y.Hi)
				}
			}
		}
	}
	if x.kind != trace.Read {
		without(h.reads)
	}
	if x.kind != trace.Atomic {
		without(h.atomics)
	}
	for _, y := range left {
		found(y)
	}
}

func subtract(list []conflict, lo, hi int64) []conflict {
	var left []conflict
	for _, x := range list {
		if before := x; before.lo < lo {
			before.hi = min(before.hi, lo)
			left = append(left, before)
		}
		if behind := x; hi < behind.hi {
			behind.lo = max(behind.lo, hi)
			left = append(left, behind)
		}
	}
	return left
}

// add takes in an access by q at its last position.
func (h *history) add(q *queue, by stamp, kind trace.AccessKind, lo, hi int64) {
	switch kind {
	case trace.Read:
		h.reads.byStream(q.id).spans.Set(lo, hi, by)
	case trace.Atomic:
		h.atomics.byStream(q.id).spans.Set(lo, hi, by)
		h.changed(lo, hi)
	default:
		h.writes.Set(lo, hi, by)
		h.reads.cut(lo, hi)
		h.atomics.cut(lo, hi)
		h.changed(lo, hi)
	}
}

// forget drops the accesses to the bytes between lo and hi that conflict with one of the given kind.
func (h *history) forget(kind trace.AccessKind, lo, hi int64) {
	h.writes.Cut(lo, hi)
	h.atomics.cut(lo, hi)
	if kind == trace.Write {
		h.reads.cut(lo, hi)
	}
}

// holds reports whether an access is among those kept.
func (h *history) holds(x conflict) bool {
	in := func(s *spans) bool {
		for y := range s.Within(0, math.MaxInt64) {
			if y.Value == x.by {
				return true
			}
		}
		return false
	}
	list := h.reads
	switch x.kind {
	case trace.Write:
		return in(&h.writes)
	case trace.Atomic:
		list = h.atomics
	}
	i := slices.IndexFunc(list, func(s sharer) bool { return s.stream == x.by.stream })
	return i >= 0 && in(&list[i].spans)
}

// retract drops of the accesses to the bytes between lo and hi those that o has too, shift bytes before.
func (h *history) retract(o *history, lo, hi, shift int64) {
	cut := func(list, others *spans) {
		var same []span
		for x := range others.Within(lo-shift, hi-shift) {
			for y := range list.Within(x.Lo+shift, x.Hi+shift) {
				if x.Value == y.Value {
					same = append(same, y)
				}
			}
		}
		for _, x := range same {
			list.Cut(x.Lo, x.Hi)
		}
	}
	cut(&h.writes, &o.writes)
	for i := range o.reads {
		cut(&h.reads.byStream(o.reads[i].stream).spans, &o.reads[i].spans)
	}
	for i := range o.atomics {
		cut(&h.atomics.byStream(o.atomics[i].stream).spans, &o.atomics[i].spans)
	}
	h.changed(lo, hi)
}

// usage is some bytes of memory with what was done to them.
type usage struct {
	memory  *allocation
	history *history
	lo, hi  int64
}

// usages are all bytes of some allocations.
func usages(memory ...*allocation) (list []usage) {
	for _, a := range memory {
		list = append(list, usage{a, a.history, 0, a.size})
	}
	return list
}

// formerly is what former owners of a's blocks have done to its bytes.
func (a *allocation) formerly() []usage {
	if a.former == nil {
		return nil
	}
	return []usage{{a, a.former, 0, a.size}}
}

// pending calls found for the last access of each stream that conflicts with one of the given kind and that q is not
// ordered behind, in order of the streams.
func pending(q *queue, kind trace.AccessKind, found func(conflict, *allocation), of ...usage) {
	type use struct {
		conflict
		memory *allocation
	}
	latest := map[trace.ID]use{}
	for _, s := range of {
		s.history.against(q, kind, s.lo, s.hi, func(x conflict) {
			if x.by.pos > latest[x.by.stream].by.pos {
				latest[x.by.stream] = use{x, s.memory}
			}
		}, func(int64, int64) {})
	}
	streams := make([]trace.ID, 0, len(latest))
	for id := range latest {
		streams = append(streams, id)
	}
	slices.Sort(streams)
	for _, id := range streams {
		found(latest[id].conflict, latest[id].memory)
	}
}
