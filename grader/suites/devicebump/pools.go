package devicebump

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/oracle"
	"cudalab/native/trace"
)

// call is one life of a Pools as the trace shows it.
type call struct{ *suite.Made[workload] }

// stepOf is the step that a record belongs to; -1 where that is New, or comes behind the steps.
func (c call) stepOf(record int) int {
	if at := c.marked(record); at >= 0 && at < len(c.W.steps) {
		return at
	}
	return -1
}

// marked is the step that a record is in, also one behind Close; -1: none.
func (c call) marked(record int) int {
	steps := verdict.Once(c.Notes, "steps", func() []int {
		steps, at := make([]int, len(c.Notes.Trace.Records)), -1
		for i := range c.Notes.Trace.Records {
			if r := &c.Notes.Trace.Records[i]; r.Op == trace.OpMark {
				switch number, ok := strings.CutPrefix(r.Label, markStep); {
				case ok:
					at, _ = strconv.Atoi(number)
				case r.Label == markNew || r.Label == markEnd:
					at = -1
				}
			}
			steps[i] = at
		}
		return steps
	})
	return steps[record]
}

// method is the call of the student's that a step is: "Launch(0, …)".
func (c call) method(at int) string {
	if s := c.W.steps[at]; s.sizes == nil {
		return fmt.Sprintf("Reset(%d)", s.stream)
	}
	return fmt.Sprintf("Launch(%d)", c.W.steps[at].stream)
}

// stream is the trace's stream of a step.
func (c call) stream(i int) trace.ID {
	if i == 0 && c.W.legacy {
		return 0
	}
	return c.Stream(i)
}

// name is what the student calls a stream.
func (c call) name(id trace.ID) string {
	if id == 0 && c.W.legacy {
		return "streams[0]"
	}
	return c.StreamName(id, func(i int) string { return fmt.Sprintf("streams[%d]", i) })
}

// takes are the kernels that a Launch may be.
var takes = []string{"bump", "bumpWarp", "bumpBlock"}

// launched are by step the records of its launches.
func (c call) launched() map[int][]int {
	all := map[int][]int{}
	c.Records(func(at int, r *trace.Record) bool {
		if step := c.stepOf(at); r.Op == trace.OpLaunch && r.Code == 0 && step >= 0 {
			all[step] = append(all[step], at)
		}
		return true
	})
	return all
}

// placed finds launches that are too many or too few, of another kernel, or in another stream.
func (c call) placed() (found []verdict.Finding) {
	launched := c.launched()
	for at, s := range c.W.steps {
		records := launched[at]
		if s.sizes == nil || s.bad {
			continue
		}
		if len(records) != 1 {
			line := -1
			if len(records) > 0 {
				line = records[1]
			}
			f := c.Finding(line, suite.Rule{ID: "launches",
				Why: "Each thread takes its block once: a second launch takes all of them a second time, and nobody has the " +
					"first ones.",
				Fix: "Launch the kernel once for all n threads, with a grid of (n + block - 1) / block blocks."},
				"%s should launch one kernel, but launched %d.", c.method(at), len(records))
			f.Function = "Launch"
			return []verdict.Finding{f}
		}
		r := c.Record(records[0])
		if !slices.Contains(takes, r.Kernel) {
			found = append(found, c.Finding(records[0], suite.Rule{ID: "wrong-kernel",
				Why: "The room that a request takes which is refused is lost, and the next request that fits is refused as well.",
				Fix: "Launch kernels.Bump, kernels.BumpWarp or kernels.BumpBlock."},
				"%s should launch a kernel that loses no room, but launched %s.", c.method(at), suite.CallName(r)))
		}
		if want := c.stream(s.stream); r.Stream != want {
			found = append(found, c.Finding(records[0], suite.Rule{ID: "wrong-stream",
				Why: "The caller's work stands in that stream and takes the launch for done when it comes behind it.",
				Fix: "Pass the Pools' own streams[i] to the launch."},
				"%s should launch in %s, but launched in %s.", c.method(at), c.name(want), c.name(r.Stream)))
		}
	}
	return found
}

// The numbers of the launch's arguments that are addresses.
const (
	wordArgument    = 2
	sizesArgument   = 3
	offsetsArgument = 6
)

// wordsMixed is the rule of pools of their own that count in one word, and of a shared one that is counted in several.
const wordsMixed = "words-mixed"

// words finds launches that count in a word which is not their pool's.
func (c call) words() []verdict.Finding {
	type word struct {
		alloc  trace.ID
		offset int64
	}
	type user struct {
		word
		step int
	}
	var users []user // the first launch of each pool in each word
	launched := c.launched()
	for at, s := range c.W.steps {
		for _, record := range launched[at] {
			for _, a := range c.Record(record).Accesses {
				if a.Arg != wordArgument || a.Kind != trace.Atomic {
					continue
				}
				u := user{word{a.Alloc, a.Offset}, at}
				for _, other := range users {
					shared := c.W.pool(s.stream) == c.W.pool(c.W.steps[other.step].stream)
					if shared == (u.word == other.word) {
						continue
					}
					rule := suite.Rule{ID: wordsMixed,
						Why: "The word says how many bytes of its pool are taken: pools that count in one word take each other's room, " +
							"and a reset of one is a reset of all.",
						Fix: "Have 8 bytes for each pool's word, side by side, and pass streams[i] the one at words+8*i, in Launch as " +
							"in Reset."}
					should := "count in a word of its own pool"
					but := "counts in that of"
					if shared {
						rule.Why = "The word says how many bytes of its pool are taken: threads that count in different words get the " +
							"same bytes."
						rule.Fix = "Have one word where the streams share a pool, and pass it to the kernel in every stream."
						should, but = "count in the word of the pool that the streams share", "counts in another one than"
					}
					return []verdict.Finding{c.Finding(record, rule, "%s, call %d, should %s, but %s %s, call %d.", c.method(at), at+1,
						should, but, c.method(other.step), other.step+1)}
				}
				users = append(users, u)
			}
		}
	}
	return nil
}

// results finds blocks that no order of the threads gives, and blocks that somebody else has written to.
func (c call) results() []verdict.Finding {
	if c.W.far {
		return c.uncomputed()
	}
	offsets, wrong, launched := c.Sums(), c.Noted(noteWrong), c.launched()
	for _, span := range c.W.spans() {
		if rule, at, message := c.W.wrongSpan(span, offsets); message != "" {
			return []verdict.Finding{c.Finding(lineOf(launched, at), rule, "%s", message)}
		}
	}
	for at := range c.W.steps {
		if at < len(wrong) && wrong[at] > 0 {
			return []verdict.Finding{c.Finding(lineOf(launched, at), suite.Rule{ID: "overwritten",
				Why: "A block belongs to its thread from the launch to the next Reset: who comes too early, or counts in " +
					"the same bytes, writes over it.",
				Fix: "Give every pool bytes and a word of its own, pass both to the kernel, and see to it that a Reset comes " +
					"behind all that is in the streams that use the pool."},
				"the blocks of %s, call %d, should hold what its threads have written, but %s of them did not.", c.method(at), at+1,
				verdict.Count(int(min(wrong[at], 1<<40)), "word", "words"))}
		}
	}
	return nil
}

// uncomputed finds far launches with other numbers than they should have.
func (c call) uncomputed() []verdict.Finding {
	memory, launched := c.Noted(noteMemory), c.launched()
	first := 0
	for at, s := range c.W.steps {
		for _, record := range launched[at] {
			r, from, bytes := c.Record(record), int64(8*first), int64(8*s.many)
			for _, a := range r.Accesses {
				if (a.Arg == sizesArgument || a.Arg == offsetsArgument) && (a.Offset != from || a.Size != bytes) {
					return []verdict.Finding{c.wrongLaunch(record, at, verdict.Count(s.many, "thread", "threads")+
						" with sizes and offsets of their own",
						fmt.Sprintf("%s at offset %d of theirs", suite.Bytes(uint64(a.Size)), a.Offset-from))}
				}
			}
			if r.Given == nil || len(r.Given.Args) <= offsetsArgument || s.stream >= len(memory) {
				continue
			}
			for _, n := range []struct {
				what string
				at   int
				want uint64
			}{{"memory at address", 0, memory[s.stream]}, {"Bytes", 1, uint64(c.W.bytes)}, {"n", 4, uint64(s.many)},
				{"tag", 5, uint64(c.W.tag(at))}} {
				if is := r.Given.Args[n.at]; is != n.want {
					return []verdict.Finding{c.wrongLaunch(record, at, fmt.Sprint(n.what, " ", n.want), fmt.Sprint(is))}
				}
			}
		}
		first += s.count()
	}
	return c.unreset(launched)
}

// unreset finds a Reset behind which a launch takes from its pool without anything having been written to the word.
func (c call) unreset(launched map[int][]int) []verdict.Finding {
	last := map[int]int{}  // by pool, the record of the last launch
	reset := map[int]int{} // by pool, the first Reset since
	for at, s := range c.W.steps {
		pool := c.W.pool(s.stream)
		if s.sizes == nil {
			if _, waits := reset[pool]; !waits {
				reset[pool] = at
			}
			continue
		}
		for _, record := range launched[at] {
			before, ok := last[pool]
			last[pool] = record
			of, waits := reset[pool]
			delete(reset, pool)
			if !ok || !waits || c.writesWord(before+1, record) {
				continue
			}
			f := c.Finding(-1, suite.Rule{ID: "blocks-apart",
				Why: "The kernel takes blocks where the word says that the last one has ended: until that is 0 again, nothing " +
					"has been taken back.",
				Fix: "Have each pool's word be zero before its first launch, and set it to zero in every Reset and nowhere else."},
				"%s, call %d, should set the word of its pool to 0 before the next launch takes from it, but nothing is written "+
					"there.", c.method(of), of+1)
			f.Function = "Reset"
			return []verdict.Finding{f}
		}
	}
	return nil
}

// writesWord reports whether a record from one on writes to the word that the launch at another takes from.
func (c call) writesWord(from, launch int) bool {
	for _, word := range c.Record(launch).Accesses {
		if word.Arg != wordArgument || word.Kind != trace.Atomic {
			continue
		}
		for i := from; i < launch; i++ {
			for _, a := range c.Record(i).Accesses {
				if a.Kind == trace.Write && a.Alloc == word.Alloc && a.Offset <= word.Offset && word.Offset < a.Offset+a.Size {
					return true
				}
			}
		}
		return false
	}
	return true // which takes from no word, as is told
}

// wrongLaunch is the finding about a launch that is given another thing than it should.
func (c call) wrongLaunch(record, at int, should, is string) verdict.Finding {
	return c.Finding(record, suite.WrongLaunch("Pass the kernel bytes, sizes, n, tag and offsets as they were given, and "+
		"a grid of (n + block - 1) / block blocks."),
		"%s, call %d, should launch its kernel with %s, but launches it with %s.", c.method(at), at+1, should, is)
}

// lineOf is the record of a step's launch; -1 without one.
func lineOf(launched map[int][]int, at int) int {
	if records := launched[at]; len(records) > 0 {
		return records[0]
	}
	return -1
}

// block is what a thread got.
type block struct{ offset, size uint64 }

// wrongSpan says what is wrong with the blocks that were taken of one pool between two of its resets, in whatever order
// that went.
func (w workload) wrongSpan(s span, offsets []uint64) (rule suite.Rule, at int, message string) {
	var blocks []block
	taken := uint64(0)
	for _, at := range s.launches {
		for j, size := range w.steps[at].sizes {
			i := w.first(at) + j
			if i >= len(offsets) || offsets[i] == suite.Garbage {
				return suite.Rule{ID: "offset-missing",
						Why: "Each thread takes one request, so threads that are not launched take nothing, and what stands at their " +
							"offsets is garbage.",
						Fix: "Launch n threads, by a grid of (n + block - 1) / block blocks, and pass offsets on."}, at,
					fmt.Sprintf("offsets[%d] of call %d, a Launch of %s, should be set, but nothing was written there.", j, at+1,
						verdict.Count(len(w.steps[at].sizes), "thread", "threads"))
			}
			if offsets[i] != contract.NoRoom {
				blocks = append(blocks, block{offsets[i], size})
				taken += oracle.BumpRounded(size)
			}
		}
	}
	last := s.launches[len(s.launches)-1]
	slices.SortFunc(blocks, func(a, b block) int {
		switch {
		case a.offset < b.offset:
			return -1
		case a.offset > b.offset:
			return 1
		}
		return 0
	})
	end := uint64(0)
	for _, b := range blocks {
		if b.offset != end {
			return suite.Rule{ID: "blocks-apart",
					Why: "The kernel takes blocks where the word says that the last one has ended, so a word that is not zero at " +
						"first, that is reset twice or for another pool, shows here.",
					Fix: "Have each pool's word be zero before its first launch, and set it to zero in Reset and nowhere else."}, last,
				fmt.Sprintf("the blocks of a pool should lie one behind the other from offset 0 on, since its last Reset, but "+
					"behind %d the next one begins at %d.", end, b.offset)
		}
		end += oracle.BumpRounded(b.size)
	}
	if end > uint64(w.bytes) {
		return suite.Rule{ID: "beyond-end", Why: "Bytes behind a pool are the next pool's, or nobody's.",
				Fix: "Pass bytes as New was given it to the kernel."}, last,
			fmt.Sprintf("the blocks of a pool of %d bytes should end there, but they end at %d.", w.bytes, end)
	}
	for _, at := range s.launches {
		for j, size := range w.steps[at].sizes {
			if offsets[w.first(at)+j] != contract.NoRoom || !oracle.BumpFits(taken, uint64(w.bytes), size) {
				continue
			}
			rule := suite.Rule{ID: "room-lost", Why: "A thread that is refused does without, and the bytes stay unused until " +
				"the next Reset.",
				Fix: "Give each pool all of its bytes, and have Reset set the word back to zero."}
			message := fmt.Sprintf("thread %d of call %d should have got its %d bytes, since %d of %d bytes were taken in the "+
				"end, but was refused", j, at+1, size, taken, w.bytes)
			if cut := uint64(uint32(w.bytes)); cut < uint64(w.bytes) && w.fullAt(cut, taken, s, offsets) {
				rule.Why = fmt.Sprintf("A conversion to 32 bits, such as int32(bytes), keeps the lower half of a number alone: of "+
					"%d that is %d.", w.bytes, cut)
				rule.Fix = "Pass the kernel the pool's bytes as New was given them, as an int64: kernels.BumpPool{Bytes: bytes}."
				message += fmt.Sprintf(", as if the pool had %d bytes", cut)
			}
			return rule, at, message + "."
		}
	}
	return suite.Rule{}, 0, ""
}

// fullAt reports whether those that were refused would not have fitted into so many bytes, and all that is taken lies
// in them.
func (w workload) fullAt(bytes, taken uint64, s span, offsets []uint64) bool {
	if taken > bytes {
		return false
	}
	for _, at := range s.launches {
		for j, size := range w.steps[at].sizes {
			if offsets[w.first(at)+j] == contract.NoRoom && oracle.BumpFits(taken, bytes, size) {
				return false
			}
		}
	}
	return true
}

// memory finds pools that are not there, or not apart, and memory that is too much.
func (c call) memory() (found []verdict.Finding) {
	type piece struct {
		at   int
		from uint64
		size int64
	}
	var pieces []piece
	total := int64(0)
	c.Records(func(at int, r *trace.Record) bool {
		switch r.Op {
		case trace.OpMalloc, trace.OpMallocAsync, trace.OpMallocFromPoolAsync:
			if r.Code == 0 {
				pieces = append(pieces, piece{at, r.Addr, r.Size})
				total += r.Size
			}
		}
		return true
	})
	if most := int64(c.W.pools()) * (c.W.bytes + spareMemory); total > most && len(pieces) > 0 {
		largest := slices.MaxFunc(pieces, func(a, b piece) int { return cmp.Compare(a.size, b.size) })
		found = append(found, c.Finding(largest.at, suite.Rule{ID: "too-much-memory",
			Why: "The caller has said how much memory the pools are to have, and needs the rest for something else.",
			Fix: "Allocate bytes for each pool, or once if they share one, and 8 for its word."},
			"the Pools should take %s at most, %s for each pool and 4 KiB beside it, but took %s.", suite.Bytes(uint64(most)),
			suite.Bytes(uint64(c.W.bytes)), suite.Bytes(uint64(total))))
	}
	missing := suite.Rule{ID: "pool-missing",
		Why: "The caller reads the blocks at Memory(i)+offset.",
		Fix: "Answer where the memory begins that is passed to the kernel for streams[i], with room for all of its bytes."}
	if moved := c.Noted(noteMoved); len(moved) > 1 {
		f := c.Finding(-1, missing, "Memory(%d) should be the same from New to Close, but was asked for once more, and was "+
			"%d bytes away from what it had been.", moved[0], int64(moved[1]))
		f.Function = "Memory"
		return append(found, f)
	}
	memory, launched := c.Noted(noteMemory), c.launched()
	for i, from := range memory[:min(len(memory), c.W.streams)] {
		in := slices.IndexFunc(pieces, func(p piece) bool {
			return from >= p.from && from-p.from <= uint64(p.size) && uint64(p.size)-(from-p.from) >= uint64(c.W.bytes)
		})
		if in < 0 {
			f := c.Finding(-1, missing,
				"Memory(%d) should be the start of %s of memory that New has allocated, but is not.", i,
				suite.Bytes(uint64(c.W.bytes)))
			f.Function = "Memory"
			return append(found, f)
		}
		for j, other := range memory[:i] {
			apart := from-other >= uint64(c.W.bytes) && other-from >= uint64(c.W.bytes)
			same := c.W.pool(i) == c.W.pool(j)
			if same && from == other || !same && apart {
				continue
			}
			f := c.Finding(-1, suite.Rule{ID: "pools-mixed",
				Why: "With a pool of its own no stream waits for another; with a shared one each can have what the others leave.",
				Fix: "One pool for all streams if shared, else one for each, side by side."},
				"Memory(%d) and Memory(%d) should be %s, but are %d bytes apart.", j, i,
				map[bool]string{true: "the same", false: "of pools of their own"}[same], int64(from-other))
			f.Function = "Memory"
			return append(found, f)
		}
		for at, s := range c.W.steps { // the pool itself may come from a stream
			for _, r := range launched[at] {
				if c.W.pool(s.stream) == c.W.pool(i) && c.Record(pieces[in].at).Op != trace.OpMalloc &&
					!c.Before(pieces[in].at, r) {
					return append(found, c.Finding(r, suite.Rule{ID: "use-before-alloc",
						Why: "Memory of cuda.MallocAsync is there for what comes behind that call in its stream; another stream may " +
							"come first.",
						Fix: "Have every stream wait in New for an event behind the allocation, or the host for its stream."},
						"%s should come behind the allocation of its pool, but nothing makes %s wait for that.", c.method(at),
						c.name(c.Record(r).Stream)))
				}
			}
		}
	}
	return found
}

// spareMemory is how much memory there may be beside a pool, in bytes.
const spareMemory = 4 << 10

// launchTooEarly is the rule of a launch that does not wait for the Reset before it.
const launchTooEarly = "launch-too-early"

// usedOn finds launches that take memory whose last users may still be at it: those that looked at the blocks behind
// the launch that took them. The launches themselves the order checker sees, by the word.
func (c call) usedOn() []verdict.Finding {
	launched := c.launched()
	spans := c.W.spans()
	looks := c.looks()
	for i, s := range spans {
		for _, next := range spans[i+1:] {
			if next.pool != s.pool {
				continue
			}
			for _, look := range looks[i] {
				for _, at := range next.launches {
					for _, r := range launched[at] {
						if c.Before(look, r) {
							continue
						}
						reset := c.resetOf(s)
						line := r
						if reset >= 0 {
							line = reset
						}
						if reset >= 0 && c.Before(look, reset) {
							return []verdict.Finding{c.Finding(r, suite.Rule{ID: launchTooEarly,
								Why: "Reset returns at once: its work is in one stream, and another stream that does not wait for it may " +
									"launch before the word is zero.",
								Fix: "Record an event in Reset behind the cuda.MemsetAsync, and have Launch make its stream wait for that " +
									"with cuda.StreamWaitEvent, unless it has done so since that Reset."},
								"%s, call %d, should come behind the Reset in %s, call %d, but nothing makes %s wait for that.",
								c.method(at), at+1, c.name(c.Record(reset).Stream), c.stepOf(reset)+1, c.name(c.Record(r).Stream))}
						}
						why, event := "Reset returns at once, and streams run at the same time: only an event that its stream waits for "+
							"holds its work back.", ""
						switch at := c.eventBefore(look, line); {
						case at < 0:
						case c.stepOf(at) == c.stepOf(line):
							event = fmt.Sprintf(": %s does not wait for the event that is recorded there", c.name(c.Record(line).Stream))
						default:
							why = "An event stands for what was in the stream when it was recorded: work that the caller put there later, " +
								"such as reading the blocks, is not in it."
							event = fmt.Sprintf(": the last event there is recorded in %s, call %d", c.method(c.stepOf(at)), c.stepOf(at)+1)
						}
						return []verdict.Finding{c.Finding(line, suite.Rule{ID: "reset-too-early", Why: why,
							Fix: "Record the events in Reset, one in each stream, and have streams[i] wait for them before the word " +
								"is set to zero."},
							"Reset should come behind all that is in the streams that use the pool, but the caller's kernel that reads "+
								"blocks in %s may still run when %s takes the same bytes%s.",
							c.name(c.Record(look).Stream), c.method(at), event)}
					}
				}
			}
			break
		}
	}
	return nil
}

// eventBefore is the last event that a step has recorded in the stream of a look, before another record; -1 without
// one.
func (c call) eventBefore(look, record int) (last int) {
	last = -1
	for _, at := range c.Find(trace.OpEventRecord) {
		if at < record && c.stepOf(at) >= 0 && c.Record(at).Stream == c.Record(look).Stream {
			last = at
		}
	}
	return last
}

// looks are by span the caller's launches that look at its blocks.
func (c call) looks() map[int][]int {
	all, span := map[int][]int{}, -1
	for i := c.From; i < c.To; i++ {
		r := c.Record(i)
		switch number, ok := strings.CutPrefix(r.Label, markLook); {
		case r.Op == trace.OpMark && ok:
			span, _ = strconv.Atoi(number)
		case r.Op == trace.OpMark && strings.HasPrefix(r.Label, markStep):
			span = -1
		case r.Op == trace.OpLaunch && r.Code == 0 && span >= 0:
			all[span] = append(all[span], i)
		}
	}
	return all
}

// resetOf is the last record of the student's in the Reset behind a span; -1 without one.
func (c call) resetOf(s span) int {
	step, last := c.W.resetBehind(s), -1
	c.Records(func(at int, r *trace.Record) bool {
		if c.stepOf(at) == step && r.Op != trace.OpStreamWaitEvent && r.Op != trace.OpEventRecord {
			last = at
		}
		return true
	})
	return last
}
