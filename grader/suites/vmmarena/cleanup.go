package vmmarena

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// What the life of an arena notes beside its error: the outcome of a run
const (
	noteChanged = "changed by an error"  // in which an Alloc failed and Stats came out otherwise
	noteStuck   = "failed a second time" // in which an Alloc failed where nothing was made to fail
)

var cleanup = allocator.Cleanup[Make]{
	Name: "Close gives everything back, also when a CUDA call has failed", After: lastGap, Life: lifecycle, Also: scarcity.IDs(),
	Pass: "Close gave everything back, and a CUDA call that failed was reported or made good, and left nothing behind.",
	Judge: func(notes *suite.CaseNotes) suite.FaultJudge {
		return suite.FaultJudge{
			Function: "New, Alloc or Close",
			Recovers: func(run suite.FaultRun) bool { return recovered(notes, run) },
			Retried:  "Close",
			Wrong: func(outcome int) string {
				if from, to := notes.Window(outcome); !allUsable(notes, from, to) {
					return "The device should be able to use every block, but there is one without memory that may be read and written."
				}
				return ""
			},
		}
	},
	Further: func(e *suite.Evidence, notes *suite.CaseNotes, found []suite.Finding) []suite.Finding {
		changed := changedByError(e, notes)
		if len(changed) > 0 {
			// Whatever else it returns from then on comes of that.
			found = slices.DeleteFunc(found, func(f suite.Finding) bool { return f.Rule == suite.ErrorReplaced })
		}
		if !suite.HasError(found) {
			found = append(found, changed...)
		}
		return found
	},
}

// lifecycle makes an arena that grows, is reset and closed with blocks handed out. Its blocks end in the same granules
// whatever is drawn, and so does twice what they need: it takes as many calls.
func lifecycle(b *suite.Bench, f Make) func(*rand.Rand) (words string, live func() error) {
	g := allocator.Granularity(b)
	return func(r *rand.Rand) (words string, live func() error) {
		l := layout{reserve: 16*g + r.Int64N(64*g), granularity: g}
		sizes := []int64{1 + r.Int64N(g/8), g + r.Int64N(g/8), 3*g + r.Int64N(g/8), 1 + r.Int64N(g)}
		return l.String() + ", three times Alloc, Reset, Alloc, and Close", func() error { return runLifecycle(b, f, l, sizes) }
	}
}

// runLifecycle allocates the last of some sizes behind Reset. It answers the errors of all calls that failed; a call that failed is made again, since nothing is made to fail twice.
func runLifecycle(b *suite.Bench, f Make, l layout, sizes []int64) error {
	a, err := f(l.device, l.reserve)
	if err != nil {
		return err
	}
	var blocks []device.Ptr
	alloc := func(size int64) {
		before := a.Stats()
		p, wrong := a.Alloc(size)
		if wrong != nil {
			if a.Stats() != before {
				b.Value(noteChanged, uint64(b.Calls()-1))
			}
			err = errors.Join(err, wrong)
			if p, wrong = a.Alloc(size); wrong != nil {
				b.Value(noteStuck, uint64(b.Calls()-1))
				return
			}
		}
		b.Session.BlockAlloc(device.Ptr(p), size)
		blocks = append(blocks, device.Ptr(p))
	}
	takeBack := func() {
		for _, p := range blocks {
			b.Session.BlockFree(p)
		}
		blocks = nil
	}
	last := len(sizes) - 1
	for _, size := range sizes[:last] {
		alloc(size)
	}
	takeBack()
	err = errors.Join(err, a.Reset())
	alloc(sizes[last])
	takeBack()
	return errors.Join(err, allocator.CloseTwice(a))
}

// recovered reports whether an arena has come by another way to what the call that failed was to give it, or can do without: a
// growth may be tried once more with less, and nobody has to know how much memory is free. What New has to have, and what is
// to be given back, has to be asked for again.
func recovered(notes *suite.CaseNotes, run suite.FaultRun) bool {
	records := notes.Trace.Records
	failed := &records[run.Failed]
	switch run.Op {
	case trace.OpMemGetAllocationGranularity, trace.OpMemAddressReserve, trace.OpMemAddressFree, trace.OpMemUnmap, trace.OpMemRelease:
		if !slices.ContainsFunc(records[run.Failed+1:run.To], func(r trace.Record) bool {
			return r.Op == run.Op && r.Phase != trace.Enter && r.Code == 0 && (r.Alloc == failed.Alloc && r.Addr == failed.Addr || r.Op == trace.OpMemAddressReserve)
		}) {
			return false
		}
	}
	return allUsable(notes, run.From, run.To)
}

// allUsable reports whether the device may use every block that was handed out between two records.
func allUsable(notes *suite.CaseNotes, from, to int) bool {
	var l ledger
	for at := from; at < to; at++ {
		r := &notes.Trace.Records[at]
		l.see(at, r)
		if r.Op != trace.OpBlockAlloc {
			continue
		}
		if p, whole := l.unusable(r.Addr, uint64(r.Size)); p != nil || !whole {
			return false
		}
	}
	return true
}

// changedByError finds a run in which an Alloc failed and the arena was not as before; of several, the first.
func changedByError(e *suite.Evidence, notes *suite.CaseNotes) []suite.Finding {
	for _, run := range notes.FaultRuns() {
		f := suite.Finding{Rule: "changed-by-error", Severity: suite.Error, Record: run.Failed,
			Why: "A growth that fails leaves the arena as it was, so that it can be tried again."}
		switch {
		case noted(notes, noteChanged, run.Index):
			f.Message = fmt.Sprintf("%s. Alloc should have returned that error and left Stats as they were, but they are others now.", run.What)
			f.Fix = "Change what the arena knows of itself only when all calls of a growth have succeeded."
		case noted(notes, noteStuck, run.Index):
			f.Message = fmt.Sprintf("%s. The same Alloc, tried once more, should have succeeded, but failed as well.", run.What)
			f.Fix = "Give back all that the growth has made before returning its error: unmap what was mapped, release what was created."
		default:
			continue
		}
		return []suite.Finding{e.At(f, notes.Trace.SiteOf(&notes.Trace.Records[run.Failed]))}
	}
	return nil
}

// noted reports whether a run was noted under a name, by its outcome.
func noted(notes *suite.CaseNotes, name string, outcome int) bool {
	return slices.Contains(notes.Values[name], uint64(outcome))
}
