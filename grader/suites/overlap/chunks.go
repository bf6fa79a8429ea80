package overlap

import (
	"cmp"
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// call is one call of Run or Efficiency as the trace shows it.
type call struct{ *suite.Made[workload] }

func streamName(i int) string { return fmt.Sprintf("streams[%d]", i) }

func (c call) inAlloc() trace.ID { return first(c.Lent(trace.OpMallocHost)) }

// outAlloc is the buffer that was lent behind in, unless that is in itself; those of a second call follow.
func (c call) outAlloc() trace.ID {
	all := c.Lent(trace.OpMallocHost)
	if !c.W.alias {
		all = all[min(1, len(all)):]
	}
	return first(all)
}

// shared reports whether a record of the call names a buffer into which several streams copy chunks.
func (c call) shared(record int) bool {
	if record < c.From || record >= c.To {
		return false
	}
	streams := map[trace.ID]trace.ID{} // by buffer, the first
	var shared []trace.ID
	for _, at := range c.Find(trace.OpMemcpyHtoDAsync) {
		r := c.Record(at)
		for _, a := range r.Accesses {
			if first, known := streams[a.Alloc]; known && first != r.Stream {
				shared = append(shared, a.Alloc)
			} else if a.Kind == trace.Write {
				streams[a.Alloc] = r.Stream
			}
		}
	}
	return slices.ContainsFunc(c.Record(record).Accesses, func(a trace.Access) bool {
		return slices.Contains(shared,
			a.Alloc)
	})
}

// collide reports whether a record of the call copies words back to where another stream copies some as well.
func (c call) collide(record int) bool {
	if record < c.From || record >= c.To || c.Record(record).Op != trace.OpMemcpyDtoHAsync {
		return false
	}
	return slices.ContainsFunc(c.Find(trace.OpMemcpyDtoHAsync), func(at int) bool {
		x, y := c.Record(record), c.Record(at)
		return x.Stream != y.Stream && slices.ContainsFunc(x.Accesses, func(a trace.Access) bool {
			return a.Kind == trace.Write && slices.ContainsFunc(y.Accesses, func(b trace.Access) bool {
				return b.Kind == trace.Write && a.Alloc == b.Alloc && a.Offset < b.Offset+b.Size && b.Offset < a.Offset+a.Size
			})
		})
	})
}

// first is the first of some IDs; 0 where there are none.
func first(all []trace.ID) (id trace.ID) {
	for _, id := range all {
		return id
	}
	return 0
}

// copies are by chunk the copies of an operation that touched the chunk's place in some pinned memory.
func (c call) copies(op trace.Op, alloc trace.ID) [][]int {
	chunks := make([][]int, c.W.chunks())
	for _, at := range c.Find(op) {
		for _, a := range c.Record(at).Accesses {
			if a.Alloc != alloc || a.Size < 1 {
				continue
			}
			size := int64(4 * c.W.size())
			for i := max(a.Offset/size, 0); i <= (a.Offset+a.Size-1)/size && i < int64(len(chunks)); i++ {
				chunks[i] = append(chunks[i], at)
			}
		}
	}
	return chunks
}

// there is by chunk the first copy to the device, and back the last one from it; -1 where there is none.
func (c call) there() []int {
	return pick(c.copies(trace.OpMemcpyHtoDAsync, c.inAlloc()), func(all []int) int { return all[0] })
}

func (c call) back() []int {
	return pick(c.copies(trace.OpMemcpyDtoHAsync, c.outAlloc()), func(all []int) int { return all[len(all)-1] })
}

func pick(chunks [][]int, of func([]int) int) []int {
	picked := make([]int, len(chunks))
	for i, all := range chunks {
		picked[i] = -1
		if len(all) > 0 {
			picked[i] = of(all)
		}
	}
	return picked
}

const overlapLost = "overlap-lost"

// overlap finds copies of more than a chunk, and more than half of the chunks in one row.
func overlap(m *suite.Made[workload]) []verdict.Finding {
	c := call{m}
	if !m.Outcome.OK() || !m.W.different() {
		return nil
	}
	if found := c.tooLarge(); found != nil {
		return found
	}
	there, back := c.there(), c.back()
	if slices.Contains(there, -1) || slices.Contains(back, -1) {
		return nil // results tells it
	}
	row := c.longestRow(there, back)
	if len(row) <= m.W.inRow() {
		return nil
	}
	last, before := row[len(row)-1], row[len(row)-2]
	at := c.Wait(back[before], there[last])
	if at < 0 {
		at = there[last]
	}
	return []verdict.Finding{c.Finding(at, suite.Rule{ID: overlapLost,
		Why: "What is in one stream, or in one buffer, is done one after the other; a copy and a kernel overlap only where " +
			"nothing orders them.",
		Fix: "Take another stream and another buffer for the next chunk, and wait for no chunk but the one that had the " +
			"buffer before.",
	}, "of %d chunks on %d streams at most %d should come one after the other, but %d do; here chunk %d waits for "+
		"chunk %d.",
		m.W.chunks(), m.W.streams, m.W.inRow(), len(row), last, before)}
}

// tooLarge finds the first copy of more than a chunk.
func (c call) tooLarge() []verdict.Finding {
	for _, op := range []trace.Op{trace.OpMemcpyHtoDAsync, trace.OpMemcpyDtoHAsync} {
		for _, at := range c.Find(op) {
			if r := c.Record(at); r.Size > int64(4*c.W.size()) {
				return []verdict.Finding{c.Finding(at, suite.Rule{ID: overlapLost,
					Why: "A kernel waits for the whole copy ahead of it: the smaller the pieces, the sooner the " +
						"next machine can begin.",
					Fix: "Copy chunk words at a time.",
				}, "%s should copy a chunk at a time, %s, but copies %s.", suite.CallName(r),
					suite.Bytes(uint64(4*c.W.size())), suite.Bytes(uint64(r.Size)))}
			}
		}
	}
	return nil
}

// longestRow is the longest row of chunks each of which begins only behind the end of the one before.
func (c call) longestRow(there, back []int) (row []int) {
	order := make([]int, len(there))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(there[i], there[j]) })
	ahead := make([]int, len(there))       // of a chunk the one before it in the longest row that ends with it; -1: none
	lengths := make([][]int, len(there)+1) // the chunks with which longest rows of a length end
	longest, last := 0, -1
	for _, i := range order {
		before, length := c.behind(there[i], back, lengths[:longest+1])
		ahead[i] = before
		if lengths[length] = append(lengths[length], i); length > longest {
			longest, last = length, i
		}
	}
	for ; last >= 0; last = ahead[last] {
		row = append(row, last)
	}
	slices.Reverse(row)
	return row
}

// behind is the chunk with the longest row, by what those of each length end with, that work has to wait for, and the
// length of the row that they make; -1 and 1 where it waits for none.
func (c call) behind(work int, back []int, lengths [][]int) (chunk, length int) {
	for n, chunks := range slices.Backward(lengths) {
		for _, j := range chunks {
			if back[j] < work && c.held(back[j], work) {
				return j, n + 1
			}
		}
	}
	return -1, 1
}

// held reports whether one piece of work has to wait for another, other than by a host that waits, which another check
// tells.
func (c call) held(first, then int) bool {
	if !c.Before(first, then) {
		return false
	}
	wait := c.Wait(first, then)
	return wait < 0 || c.Record(wait).Op == trace.OpStreamWaitEvent
}

// memory finds the first allocation with which a call holds too much.
func memory(m *suite.Made[workload]) (found []verdict.Finding) {
	most := 8 * int64(m.W.size()) * int64(m.W.streams)
	held, sizes := int64(0), map[trace.ID]int64{}
	m.Records(func(at int, r *trace.Record) bool {
		if r.Code != 0 {
			return true
		}
		switch {
		case suite.AllocatesOnDevice(r.Op):
			held += r.Size
			sizes[r.Alloc] = r.Size
		case r.Op == trace.OpFreeAsync, r.Op == trace.OpFree, r.Op == trace.OpMemRelease:
			held -= sizes[r.Alloc]
			delete(sizes, r.Alloc)
		default:
			return true
		}
		if held > most {
			found = append(found, m.Finding(at, suite.Rule{ID: "too-much-memory",
				Why: "A device's memory is small beside what is to go through it; that is why there are chunks.",
				Fix: "Use a chunk's buffer again for the next chunk in its stream.",
			}, "Run holds %s here, but two buffers for each stream are %s.", suite.Bytes(uint64(held)),
				suite.Bytes(uint64(most))))
			return false
		}
		return true
	})
	return found
}

// place is where something begins in the trace's terms.
type place struct {
	alloc  trace.ID
	offset int64
}

// leftOut finds the first chunk that did not go from in through the kernel to out, where chunks go one by one.
func leftOut(m *suite.Made[workload]) []verdict.Finding {
	if !m.W.different() {
		return nil
	}
	// Where words of in are, or what the kernel made of them, by their offset.
	came, mixed, done := map[place]int64{}, map[place]int64{}, make([]bool, m.W.chunks())
	m.Records(func(_ int, r *trace.Record) bool {
		follow(r, m.W, came, mixed, done)
		return true
	})
	i := slices.Index(done, false)
	if i < 0 {
		return nil
	}
	return []verdict.Finding{m.Finding(-1, suite.Rule{ID: "step-left-out",
		Why: "The copies and the kernel are what is to overlap; words that come from elsewhere overlap with nothing.",
		Fix: "Copy each chunk from in to the device, launch kernels.Mix on it, and copy what that made to " +
			"the chunk's place in out.",
	}, "chunk %d of out should be what kernels.Mix made of chunk %d of in, but came there in another way.", i, i)}
}

// follow keeps up with where the words are.
func follow(r *trace.Record, w workload, came, mixed map[place]int64, done []bool) {
	if r.Code != 0 || len(r.Accesses) < 2 {
		return
	}
	first, second := r.Accesses[0], r.Accesses[1]
	at := func(a trace.Access) place { return place{a.Alloc, a.Offset} }
	switch {
	case r.Op == trace.OpMemcpyHtoDAsync:
		came[at(first)] = second.Offset
		delete(mixed, at(first))
	case r.Op == trace.OpLaunch && r.Kernel == kernel:
		if offset, ok := came[at(first)]; ok && first.Kind == trace.Read {
			mixed[at(second)] = offset
		}
	case r.Op == trace.OpMemcpyDtoHAsync:
		from, to := first, second
		if first.Kind == trace.Write {
			from, to = second, first
		}
		if offset, ok := mixed[at(from)]; ok && offset == to.Offset && offset%int64(4*w.size()) == 0 {
			if i := int(offset / int64(4*w.size())); i < len(done) {
				done[i] = true
			}
		}
	}
}
