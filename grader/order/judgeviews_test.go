package order

import (
	"maps"
	"slices"

	"cudalab/native/trace"
)

// byteOf names a byte of memory.
type byteOf struct {
	memory *memory
	at     int64
}

// byteThrough is what counts of the accesses to a byte that went through a mapping or block.
func (j *judge) byteThrough(v *view, m *memory, at int64) *byteHistory {
	if j.through[v] == nil {
		j.through[v] = map[byteOf]*byteHistory{}
	}
	x := byteOf{m, at}
	if j.through[v][x] == nil {
		j.through[v][x] = &byteHistory{}
	}
	return j.through[v][x]
}

// end judges the end of mappings or a block by each queue's last use through them that may come after it.
func (j *judge) end(i int, views []*view) {
	if j.calls[i].op == trace.OpBlockFree && j.calls[i].passes {
		for _, v := range views {
			j.endIn(i, v)
		}
		return
	}
	for _, x := range j.pending(i, trace.Write, views) {
		v := verdict{rule: FreeBeforeUse, severity: Error, at: i, with: x}
		if j.calls[x].staged {
			v.rule = StagedCopy
		}
		j.found[v] = x
	}
	for _, v := range views {
		if j.calls[i].op == trace.OpBlockFree {
			j.forget(v)
		}
	}
}

// forget takes in that a block is an allocator's again: what its caller did with it is over, or was told, and what was
// written is nothing that the next caller may read.
func (j *judge) forget(v *view) {
	for x, through := range j.through[v] {
		b := &j.bytes[x.memory][x.at]
		b.last = slices.DeleteFunc(b.last, func(y pastUse) bool { return slices.Contains(through.last, y) })
		if b.wrote == v {
			b.written, b.wrote = false, nil
		}
	}
}

// block is the block that a use goes through, if it goes through one.
func (u *use) block() *view {
	for _, v := range u.views {
		if v.memory.op == trace.OpBlockAlloc {
			return v
		}
	}
	return nil
}

// limit judges a change of what may be done through mappings by each queue's last use that needs more. That is told
// once.
func (j *judge) limit(i int, limits []limit) {
	var reads, none []*view
	for _, l := range limits {
		switch l.access {
		case readOnly:
			reads = append(reads, l.view)
		case 0:
			none = append(none, l.view)
		}
	}
	for _, x := range append(j.pending(i, trace.Read, reads), j.pending(i, trace.Write, none)...) {
		j.found[verdict{rule: RevokeBeforeUse, severity: Error, at: i, with: x}] = x
	}
	for _, l := range limits {
		for _, b := range j.through[l.view] {
			b.last = slices.DeleteFunc(b.last, func(x pastUse) bool { return needs(x.kind)&^l.access != 0 })
		}
	}
}

// pending is each queue's last use through some views that conflicts with a kind of access and may come after call i.
func (j *judge) pending(i int, kind trace.AccessKind, views []*view) []int {
	var latest []int
	for _, v := range views {
		for b := range maps.Values(j.through[v]) {
			latest = j.latest(latest, i, b, kind)
		}
	}
	return latest
}

// latest is a list of each queue's last use with those of a byte that conflict with a kind of access and may come after
// call i.
func (j *judge) latest(list []int, i int, b *byteHistory, kind trace.AccessKind) []int {
	j.races(i, b, kind, func(x int) {
		if k := slices.IndexFunc(list, func(y int) bool { return j.sameQueue(x, y) }); k >= 0 {
			list[k] = max(list[k], x)
		} else {
			list = append(list, x)
		}
	})
	return list
}

// formerly is what counts of the accesses to a byte by way of blocks that were taken back in a stream.
func (j *judge) formerly(x byteOf) *byteHistory {
	if j.former[x] == nil {
		j.former[x] = &byteHistory{}
	}
	return j.former[x]
}

// endIn judges that a block is taken back behind what is in a stream.
func (j *judge) endIn(i int, v *view) {
	whole := v.memory
	if !v.inStream {
		whole = j.calls[v.made].parts[0]
	}
	unborn, mended := j.unborn(i, whole)
	unborn = v.inStream && unborn && mended < 0
	for _, x := range j.pending(i, trace.Write, []*view{v}) {
		if whole.birth >= 0 && j.sameQueue(x, whole.birth) {
			if x <= mended {
				continue
			}
			unborn = false
		}
		w := verdict{rule: FreeBeforeUse, severity: Error, at: i, with: x}
		if j.calls[x].staged {
			w.rule = StagedCopy
		}
		j.found[w] = x
	}
	if unborn {
		j.found[verdict{rule: FreeBeforeUse, severity: Error, at: i, with: v.made}] = v.made
	}
	for x, b := range j.through[v] {
		for _, use := range b.last {
			j.remember(use.call, j.formerly(x), use.kind)
		}
	}
	j.forget(v)
}

// reuse judges that a block is handed out where others were that were taken back in a stream, of memory that may not be
// there yet.
func (j *judge) reuse(i int, v *view) {
	around := j.calls[i].parts[0]
	if unborn, mended := j.unborn(i, around); v.inStream && unborn && mended < 0 {
		w := words{t: &j.trace}
		j.found[verdict{UseBeforeAlloc, Error, i, around.birth, w.edge(j.calls[around.birth].record, j.calls[i].record)}] = around.birth
		j.excused[around] = append(j.excused[around], mending{i, around.birth})
	}
	var latest []int
	for _, x := range j.calls[i].holds {
		latest = j.latest(latest, i, j.formerly(x), trace.Write)
	}
	for _, x := range latest {
		j.found[verdict{rule: EarlyReuse, severity: Error, at: i, with: x}] = x
	}
}
