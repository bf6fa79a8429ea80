package tracker

import (
	"fmt"
	"math"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
)

// compare holds the next report that was noted against the books; nothing is a report that was not asked for. Where
// nothing was to change, and the report before was right, a number that is wrong is one that the operation has changed.
func (m *model) compare(op allocator.Op, err sequence.Err) {
	said, shared, ok := decode(&m.log.reports, &m.names)
	if !ok {
		return
	}
	right := m.right
	m.right = true
	for _, f := range []*sequence.Fault{m.account(&said), m.torn(&said), m.groups(&said, shared)} {
		if f == nil {
			continue
		}
		m.right = false
		full := op.Kind == allocator.KindAlloc && err == sequence.ErrFull && !m.roomed
		switch counts := f.Fix == failuresFix; {
		case !right || f.Function != "":
		case unchanging(op, err):
			f.Rule = "changed-by-error"
			with := ""
			if counts {
				with = " with another error than contract.ErrFull"
			} else {
				f.Fix = refusedFix
			}
			f.Message = "was refused" + with + ", as it should be, and should have changed nothing. It " + f.Message
			f.Why = refusedWhy
		case full && !counts:
			f.Message = "was refused with contract.ErrFull, as it should be, and should have changed nothing but Failures. It " +
				f.Message
			f.Why, f.Fix = refusedWhy, refusedFix
		}
		m.faults = append(m.faults, *f)
	}
}

const (
	refusedWhy = "A caller that is told of an error goes on as if the call had not been made."
	refusedFix = "Book a block when inner has handed it out, and take it off the books when inner has taken it " +
		"back: not before."
)

// failuresFix is what mends Failures.
const failuresFix = "Count each Alloc that comes back with contract.ErrFull once, in OnFull's function too; no other " +
	"error counts, and no Alloc that found room in its second try."

const accountWhy = "Who looks for lost memory believes these numbers, so they have to be exact after every call."

// account judges the totals.
func (m *model) account(r *contract.MemoryReport) *sequence.Fault {
	for _, n := range []struct {
		name        string
		said, right int64
		fix         string
	}{
		{"Live", r.Live, m.total.Live, "Add a block's size, as it was asked for, when it is handed out, and subtract the " +
			"same when it comes back."},
		{"Count", int64(r.Count), int64(m.total.Count), "Count up when a block is handed out, and down when it comes back."},
		{"Peak", r.Peak, m.total.Peak, "Compare Peak with Live whenever a block has been booked: a Free never raises Live, " +
			"and never lowers Peak."},
		{"PeakCount", int64(r.PeakCount), int64(m.most),
			"It is the highest Count since Wrap, whatever Live was at that moment."},
		{"Allocs", int64(r.Allocs), int64(m.total.Allocs),
			"Count the Allocs that returned nil, those in OnFull's function too. No Free counts them down."},
		{"Failures", int64(r.Failures), int64(m.failures), failuresFix},
	} {
		if n.said == n.right {
			continue
		}
		f := &sequence.Fault{Part: ofAccount, Rule: "wrong-account", Why: accountWhy, Fix: n.fix,
			Look:    verdict.Look{Field: n.name},
			Message: fmt.Sprintf("should have left a report whose %s is %d, but it is %d", n.name, n.right, n.said)}
		undone := map[string]int64{"Live": m.gained.Live, "Count": int64(m.gained.Count)}[n.name]
		switch bits, by := m.narrow(n.right - n.said); {
		case undone != 0 && n.said == n.right-undone:
			f.Message += ", as if OnFull's function had done nothing"
			f.Why = "While the function runs it may call Alloc and Free, and what they book counts like any other."
			f.Fix = fmt.Sprintf("What was read of %s before the function ran is old behind it: read it again there, and write "+
				"back nothing from before.", n.name)
		case bits > 0:
			f.RunsOver = true
			f.Message += ", which is off by " + by
			f.Why = fmt.Sprintf("A conversion to %d bits, such as int%d(size), leaves out all that is above them.", bits, bits)
			f.Fix = "Keep sizes in int64 and numbers in int, and convert them to nothing smaller."
		}
		return f
	}
	return nil
}

// narrow is the width, in bits, of numbers that are too small for what was counted, where an answer is off by just what
// they leave out, and how much that is in words; 0 where it is not. Only in the large sequences does that tell
// anything.
func (m *model) narrow(off int64) (bits int, by string) {
	for _, bits := range []int{32, 16} {
		switch {
		case m.layout.memory == 0 || off == 0 || off%(1<<bits) != 0:
		case off == 1<<bits || -off == 1<<bits:
			return bits, fmt.Sprintf("1<<%d", bits)
		default:
			return bits, fmt.Sprintf("a multiple of 1<<%d", bits)
		}
	}
	return 0, ""
}

// torn judges what is said of the free memory. What only follows from a Live that is wrong is told with that.
func (m *model) torn(r *contract.MemoryReport) *sequence.Fault {
	gaps := m.gaps(m.start, m.layout.bytes)
	free, most := m.layout.bytes-m.total.Live, largest(gaps)
	f := &sequence.Fault{Part: ofGaps, Rule: "wrong-gaps", Function: "Report",
		Why: "One request has to fit into one gap: by the sum of all gaps alone nobody can tell why it does not."}
	switch {
	case r.Free != free && r.Free != m.layout.bytes-r.Live:
		f.Look.Field = "Free"
		f.Message = fmt.Sprintf("should have left a report whose Free is %d, all bytes less what is live, but it is %d", free,
			r.Free)
		f.Fix = "Subtract what is live, as it was asked for, from the bytes that Wrap was given: not from limit."
	case r.LargestFree != most:
		f.Look.Field = "LargestFree"
		f.Message = fmt.Sprintf("should have left a report whose LargestFree is %d, %s, but it is %d", most,
			where(gaps, most, m.start, m.layout.bytes), r.LargestFree)
		f.Fix = "Go through the live blocks by address. There is a gap before the first, one between each two, and one " +
			"behind the last, and the longest of them counts. A block ends where its size as asked for ends."
	default:
		right := 0.0
		if r.Free > 0 {
			right = 1 - float64(r.LargestFree)/float64(r.Free)
		}
		if math.Abs(r.Fragmentation-right) <= 1e-9 {
			return nil
		}
		f.Look.Field = "Fragmentation"
		f.Message = fmt.Sprintf("should have left a report whose Fragmentation is %.4g, with %d bytes free and the longest "+
			"gap of %d, but it is %.4g",
			right, r.Free, r.LargestFree, r.Fragmentation)
		f.Fix = "It is 1 - LargestFree/Free, divided as float64, and 0 where nothing is free: 0/0 is no number."
	}
	return f
}

// where says where the longest gap lies.
func where(gaps []gap, most int64, start uint64, bytes int64) string {
	for _, g := range gaps {
		switch {
		case g.bytes != most:
		case most == bytes:
			return "all of the memory"
		case g.at == start:
			return "before the first block"
		case g.at+uint64(g.bytes) == start+uint64(bytes):
			return "behind the last block"
		default:
			return "between two blocks"
		}
	}
	return "since nothing is free"
}

// groups judges what a report says of sizes, tags and blocks.
func (m *model) groups(r *contract.MemoryReport, shared int64) *sequence.Fault {
	f := &sequence.Fault{Part: ofGroups, Rule: "wrong-groups",
		Why: "Where all the memory has gone shows when it is told apart: by the size of the blocks, by who has them, and " +
			"one by one."}
	switch {
	case shared != sharedNot:
		f.Rule, f.Function = "report-shared", "Report"
		f.Message = "should have left the report before as it was, but it has changed"
		if shared == sharedBack {
			f.Message = "should have left a Report whose slices are its caller's own, but what was written to one stood in " +
				"the next"
		}
		f.Why = "A slice is a view of memory: who keeps one report to compare it with a later one finds no difference, and " +
			"who sorts one changes the tracker."
		f.Fix = "Make new slices in every call of Report."
	case differ(f, "BySize", m.bySize(), r.BySize, func(u contract.SizeUse) string {
		return fmt.Sprintf("UpTo %d, with %s live in %s after %s", u.UpTo, bytes(u.Live), blocks(u.Count), allocs(u.Allocs))
	}, func(a, b contract.SizeUse) bool { return a.UpTo == b.UpTo }):
		f.Fix = "A block belongs to the smallest power of two that is not below its size: 256 bytes to 256, 257 to 512. " +
			"Classes stand by rising UpTo, and stay when their last block is gone."
	case !m.sameTags(r.ByTag) && differ(f, "ByTag", m.byTag(), r.ByTag, func(u contract.TagUse) string {
		return fmt.Sprintf("%s, with %s live in %s after %s, and a Peak of %d", tagNamed(u.Tag), bytes(u.Live),
			blocks(u.Count), allocs(u.Allocs), u.Peak)
	}, func(a, b contract.TagUse) bool { return a.Tag == b.Tag }):
		f.Fix = "Sort by falling Live, and where that is alike by rising Tag: a map's order is another every time. A tag " +
			"stays when its last block is gone, and its Peak is the most that was ever live under it."
	case !m.sameBlocks(r.Blocks) && differ(f, "Blocks", m.byAge(), r.Blocks, func(b contract.LiveBlock) string {
		return fmt.Sprintf("block number %d, of %s under %s at memory + %d", b.Number, bytes(b.Size), tagNamed(b.Tag),
			int64(uint64(b.Ptr)-m.start))
	}, func(a, b contract.LiveBlock) bool { return a.Number == b.Number }):
		f.Fix = "List the live blocks by rising Number. It counts the successful Allocs from 1, and no number is given twice."
		m.misnumbered(f, r.Blocks)
	default:
		return nil
	}
	return f
}

// misnumbered words it where a block has its number but for what some bits cannot hold.
func (m *model) misnumbered(f *sequence.Fault, said []contract.LiveBlock) {
	for _, b := range said {
		right, live := m.live[uint64(b.Ptr)]
		bits, by := m.narrow(int64(right.Number) - int64(b.Number))
		if !live || bits == 0 {
			continue
		}
		f.RunsOver = true
		f.Message = fmt.Sprintf("should have left a report in which the block of %s under %s has Number %d, but it has "+
			"%d, which is off by %s",
			bytes(right.Size), tagNamed(right.Tag), right.Number, b.Number, by)
		f.Why = fmt.Sprintf("%d bits count up to 1<<%d-1 and then begin at 0 again, so that two blocks have one number.",
			bits, bits)
		f.Fix = "Keep Number in an int, and what it is counted with as well, such as Allocs: convert them to nothing smaller."
		return
	}
}

// tagNamed is a tag in words; of a long one how long it is.
func tagNamed(tag string) string {
	const long = 40
	if len(tag) > long {
		return fmt.Sprintf("the tag of %d bytes", len(tag))
	}
	return fmt.Sprintf("tag %q", tag)
}

func bytes(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
func blocks(n int) string { return verdict.Count(n, "block", "blocks") }
func allocs(n int) string { return verdict.Count(n, "Alloc", "Allocs") }

// differ finds the first difference between two lists, and words it. key tells whether two elements stand for the same.
func differ[T comparable](f *sequence.Fault, name string, right, said []T, words func(T) string,
	key func(a, b T) bool) bool {
	for i := range max(len(right), len(said)) {
		switch {
		case i < len(right) && i < len(said) && right[i] == said[i]:
			continue
		case i >= len(said):
			f.Message = fmt.Sprintf("should have left a report with %s, but %s ends before", list(name, i, words(right[i])),
				name)
			f.Function = "Report"
		case i >= len(right):
			f.Message = fmt.Sprintf("should have left a report with %d in %s, but there is one more: %s", len(right), name,
				words(said[i]))
			f.Function = "Report"
		default:
			f.Message = fmt.Sprintf("should have left a report with %s, but it is for %s", list(name, i, words(right[i])),
				words(said[i]))
			if !key(right[i], said[i]) {
				f.Function = "Report"
			}
		}
		return true
	}
	return false
}

// list is one element of a list in words.
func list(name string, i int, words string) string {
	return fmt.Sprintf("%s[%d] for %s", name, i, words)
}

// census holds what the device has counted in the memory against the books: each byte of a block has the number of its
// tag.
func (m *model) census() *sequence.Fault {
	if m.log.next().kind != eventCensus {
		return nil
	}
	counted := map[int64]int64{}
	for m.log.next().kind == eventCensus {
		e := m.log.skip()
		counted[e.a] = e.b
	}
	right := map[int64]int64{0: m.layout.bytes - m.total.Live}
	for tag, u := range m.tags {
		right[tagNumber(tag)] = u.Live
	}
	for v := range int64(256) {
		if counted[v] == right[v] {
			continue
		}
		whose := "that nobody has"
		if v > 0 {
			whose = "under " + tagNamed(m.names.of(v))
		}
		return &sequence.Fault{Part: ofAccount, Rule: "overwritten", Function: "Alloc",
			Message: fmt.Sprintf("should have left %s %s, each with its owner's mark, but the device counts %d of them",
				bytes(right[v]), whose, counted[v]),
			Why: "A block is its user's alone from Alloc until Free, and what nobody has is inner's.",
			Fix: "Write nothing to the memory: all that the tracker knows belongs on the host."}
	}
	return nil
}
