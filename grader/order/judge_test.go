package order

import (
	"fmt"
	"maps"
	"slices"

	"cudalab/native/trace"
)

// verdict is a finding in a program, which names the calls by their numbers; -1 where there is no second one.
type verdict struct {
	rule     string
	severity Severity
	at, with int
	fix      string // where the rule and the calls leave it open
}

func (v verdict) String() string {
	return fmt.Sprintf("%v %s %d, %d %s", v.severity, v.rule, v.at, v.with, v.fix)
}

// judge is a reference for Check. What is in order it is told; what is at fault it decides byte by byte.
type judge struct {
	*built
	relation
	relate  func(machine) relation
	bytes   map[*memory][]byteHistory
	through map[*view]map[byteOf]*byteHistory
	parted  map[*memory]bool // some of it was handed out: what of it was written is the allocator's matter
	excused map[*memory][]mending
	former  map[byteOf]*byteHistory // what was done to blocks that were taken back in a stream
	found   map[verdict]int         // with the call that the one at fault should come after; -1: none
}

// past is what counts of the accesses to a byte: the last write, and since then each queue's last read and last update.
type byteHistory struct {
	written bool
	wrote   *view // the block through which that was, if it was through one
	last    []pastUse
}

type pastUse struct {
	call int
	kind trace.AccessKind
}

// mending is of a use before the allocation, by having it come after a call in the allocation's stream.
type mending struct{ use, after int }

func (b *built) judge(in relation, relate func(machine) relation) map[verdict]int {
	j := &judge{b, in, relate, map[*memory][]byteHistory{}, map[*view]map[byteOf]*byteHistory{}, map[*memory]bool{},
		map[*memory][]mending{}, map[byteOf]*byteHistory{}, map[verdict]int{}}
	for _, m := range b.memory {
		j.bytes[m] = make([]byteHistory, b.bytes)
		for at := range j.bytes[m] {
			j.bytes[m][at].written = m.birth < 0
		}
	}
	for i, c := range b.calls {
		for _, u := range c.uses {
			switch {
			case u.broken != "":
				j.found[verdict{rule: u.broken, severity: Error, at: i, with: u.by}] = -1
			case !b.machine[i].idle:
				j.use(i, u)
			}
		}
		if c.frees != nil {
			j.free(i, c.frees)
		}
		if c.hands != nil {
			j.reuse(i, c.hands)
		}
		for _, m := range c.parts {
			j.parted[m] = true
		}
		j.end(i, c.ends)
		if c.again != nil {
			j.found[verdict{rule: DoubleFree, severity: Error, at: i, with: c.again.ended}] = -1
		}
		j.limit(i, c.limits)
		if c.op == trace.OpMemcpyDtoD || c.op == trace.OpMemcpyDtoDAsync {
			j.copy(i, c.uses)
		}
		j.wait(i)
	}
	for _, e := range b.events {
		for _, i := range e.early {
			switch {
			case e.recorded < 0:
				j.found[verdict{rule: WaitUnrecorded, severity: Error, at: i, with: -1}] = -1
			case !e.rewaited: // around a ring of events the first lap waits for what only the next ones record
				j.found[verdict{rule: WaitUnrecorded, severity: Remark, at: i, with: -1}] = -1
			}
		}
	}
	j.join()
	return j.found
}

// join leaves out the races that another's edge would mend: what is at fault there comes after, and what it should come
// after comes before.
func (j *judge) join() {
	race := func(v verdict) bool { return v.rule == DataRace || v.rule == HostRace }
	mends := func(v, w verdict) bool {
		return v != w && race(v) && race(w) && j.ordered(w.with, v.with) && j.ordered(v.at, w.at)
	}
	for w := range maps.Clone(j.found) {
		for v := range j.found {
			if mends(v, w) {
				delete(j.found, w)
				break
			}
		}
	}
}

func conflicting(a, b trace.AccessKind) bool { return a != b || a == trace.Write }

func (j *judge) sameQueue(x, y int) bool {
	a, b := &j.calls[x], &j.calls[y]
	return a.onHost == b.onHost && a.stream == b.stream
}

// races calls found for those past uses of a byte that call i conflicts with and is not ordered after. Where one of
// these raced with a use that call i is ordered after, mending that is enough.
func (j *judge) races(i int, b *byteHistory, kind trace.AccessKind, found func(int)) {
	for _, x := range b.last {
		enough := func(y pastUse) bool {
			return y.call > x.call && conflicting(x.kind, y.kind) && j.ordered(y.call, i)
		}
		if conflicting(x.kind, kind) && !j.ordered(x.call, i) && !slices.ContainsFunc(b.last, enough) {
			found(x.call)
		}
	}
}

// remember takes in that call i uses a byte.
func (j *judge) remember(i int, b *byteHistory, kind trace.AccessKind) {
	b.written = b.written || kind == trace.Write
	b.last = slices.DeleteFunc(b.last, func(x pastUse) bool {
		return kind == trace.Write || x.kind == kind && j.sameQueue(x.call, i)
	})
	b.last = append(b.last, pastUse{i, kind})
}

// copy judges a copy within the device by its uses.
func (j *judge) copy(i int, uses []use) {
	for _, a := range uses {
		for _, b := range uses {
			both := !j.machine[i].idle && a.broken == "" && b.broken == "" && a.kind == trace.Read && b.kind == trace.Write
			if both && a.memory == b.memory && a.lo < b.hi && b.lo < a.hi {
				j.found[verdict{rule: OverlappingCopy, severity: Error, at: i, with: -1}] = -1
			}
		}
	}
}

// unborn reports whether call i may come before the allocation of m, and up to which call in the allocation's stream it
// comes after that once the uses before the allocation are mended; -1 if that does not help.
func (j *judge) unborn(i int, m *memory) (unborn bool, mended int) {
	mended = -1
	for _, x := range j.excused[m] {
		if x.use == i || j.ordered(x.use, i) {
			mended = max(mended, x.after)
		}
	}
	return m.birth >= 0 && !j.ordered(m.birth, i), mended
}

// needed is the memory that has to exist for a use: a block that was handed out in a stream, or else what lies around
// it.
func needed(u use) *memory {
	if v := u.block(); v != nil && v.inStream {
		return v.memory
	}
	return u.memory
}

func (j *judge) use(i int, u use) {
	whole := needed(u)
	unborn, mended := j.unborn(i, whole)
	after := whole.birth
	unwritten := false
	for at := u.lo; at < u.hi; at++ {
		b := &j.bytes[u.memory][at]
		block := u.block()
		race := func(x int) {
			switch {
			case !unborn || !j.sameQueue(x, whole.birth):
			case mended < 0: // coming after the allocation, it can as well come after what is already done with it there
				after = max(after, x)
				return
			case x <= mended:
				return
			}
			v := verdict{rule: DataRace, severity: Error, at: i, with: x}
			switch {
			case j.calls[i].onHost:
				v.rule = HostRace
			case j.calls[x].staged:
				v.rule = StagedCopy
			}
			j.found[v] = x
		}
		j.races(i, b, u.kind, race)
		if block == nil {
			j.races(i, j.formerly(byteOf{u.memory, at}), u.kind, race)
		}
		shared := j.parted[u.memory]
		if block != nil {
			shared = block.overlapped >= 0 && block.overlapped < i
		}
		if !b.written && !unborn && u.kind != trace.Write && !shared {
			unwritten, b.written = true, true
		}
		j.remember(i, b, u.kind)
		if u.kind == trace.Write {
			b.wrote = block
		}
		for _, v := range u.views {
			j.remember(i, j.byteThrough(v, u.memory, at), u.kind)
		}
	}
	if unwritten {
		j.found[verdict{rule: UninitializedRead, severity: Error, at: i, with: -1}] = -1
	}
	if unborn && mended < 0 {
		w := words{t: &j.trace}
		fix := w.edge(j.calls[after].record, j.calls[i].record)
		j.found[verdict{UseBeforeAlloc, Error, i, whole.birth, fix}] = after
		j.excused[whole] = append(j.excused[whole], mending{i, after})
	}
}

// free judges a free by each queue's last use that may come after it. Only FreeAsync has to come after the allocation;
// the host's frees take it that the uses are over, and ask for no more.
func (j *judge) free(i int, m *memory) {
	if m.death != i {
		j.found[verdict{rule: DoubleFree, severity: Error, at: i, with: m.death}] = -1
		return
	}
	unborn, mended := j.unborn(i, m)
	unborn = unborn && mended < 0 && j.calls[i].op == trace.OpFreeAsync
	var latest []int
	for at := range j.bytes[m] {
		latest = j.latest(latest, i, &j.bytes[m][at], trace.Write)
		latest = j.latest(latest, i, j.formerly(byteOf{m, int64(at)}), trace.Write)
	}
	for _, x := range latest {
		if m.birth >= 0 && j.sameQueue(x, m.birth) {
			if x <= mended {
				continue
			}
			unborn = false // what comes after that use comes after the allocation
		}
		v := verdict{rule: FreeBeforeUse, severity: Error, at: i, with: x}
		switch {
		case j.calls[i].op == trace.OpFree && m.op == trace.OpMalloc:
			v.rule, v.severity = freeWhilePending, Remark
		case j.calls[x].staged:
			v.rule = StagedCopy
		}
		j.found[v] = x
	}
	if unborn {
		j.found[verdict{rule: FreeBeforeUse, severity: Error, at: i, with: m.birth}] = m.birth
	}
}

// wait judges a wait: it is needless if what it waits for is over by then in a program without it. That a stream need
// not wait for itself is not worth a word, as code that serves any number of streams does so.
func (j *judge) wait(i int) {
	c := &j.calls[i]
	if c.waits < 0 || c.op == trace.OpEventQuery || c.op == trace.OpStreamQuery || !c.onHost && j.sameQueue(c.waits, i) {
		return
	}
	without := slices.Clone(j.machine[:i+1])
	without[i] = machineCall{queued: !c.onHost, turn: without[i].turn}
	if j.relate(without).ordered(c.waits, i) {
		j.found[verdict{rule: NeedlessWait, severity: Remark, at: i, with: -1}] = -1
	}
}
