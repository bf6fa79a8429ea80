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

// forget takes in that a block is an allocator's again: what its caller did with it is over, or was told, and what was written is
// nothing that the next caller may read.
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

// limit judges a change of what may be done through mappings by each queue's last use that needs more. That is told once.
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
			j.races(i, b, kind, func(x int) {
				if k := slices.IndexFunc(latest, func(y int) bool { return j.sameQueue(x, y) }); k >= 0 {
					latest[k] = max(latest[k], x)
				} else {
					latest = append(latest, x)
				}
			})
		}
	}
	return latest
}
