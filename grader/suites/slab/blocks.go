package slab

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// noteMismatches is what the proof of a sequence notes: the block's number and how many of its bytes were not the
// user's.
const noteMismatches = "mismatches in "

// proof shows on the device that nobody else writes to a block: it stamps each with its number. A block outside of any
// allocation is left alone: the device would not survive it, and the trace tells.
type proof struct {
	b       *suite.Bench
	counter *allocator.Counter
	name    string       // of the sequence
	stamped map[int]bool // by block
}

func newProof(b *suite.Bench) allocator.Proof[layout] {
	return &proof{b: b, counter: allocator.NewStreamCounter(b)}
}

func (p *proof) Begin(w *workload, _ cuda.DevicePtr) { p.name, p.stamped = w.Name, map[int]bool{} }

func (p *proof) Allocated(block int, at cuda.DevicePtr, size int64) {
	p.stamped[block] = p.b.Session.Holds(device.Ptr(at), size)
	if p.stamped[block] {
		p.b.Must(kernels.Stamp(4, 256, p.counter.Stream, at, size, uint32(block)))
	}
}

func (p *proof) Freeing(block int, at cuda.DevicePtr, size int64) {
	if !p.stamped[block] || !p.b.Session.Holds(device.Ptr(at), size) {
		return
	}
	wrong := p.counter.Count(func(counter cuda.DevicePtr) {
		p.b.Must(kernels.Verify(4, 256, p.counter.Stream, at, size, uint32(block), counter))
	})
	if wrong > 0 {
		p.b.Value(noteMismatches+p.name, uint64(block))
		p.b.Value(noteMismatches+p.name, wrong)
	}
}

func (p *proof) Close() { p.counter.Close() }

func judgeBlocks(e *suite.Evidence) suite.Answer {
	a := good.Judge(e, ofBlocks, "Every block was stamped on the device, and had its stamp when it was given back.", nil)
	a.Findings = append(a.Findings, outside(e)...)
	if !verdict.HasError(a.Findings) {
		for _, r := range good.Runs(e) {
			a.Findings = append(a.Findings, overwritten(&r)...)
		}
	}
	a.Findings = verdict.Unique(append(a.Findings, e.Of(verdict.OrderRules, good.IDs()...)...))
	return a
}

// outside finds blocks that do not lie inside one live allocation of the allocator's own.
func outside(e *suite.Evidence) []verdict.Finding {
	var found []verdict.Finding
	for _, id := range good.IDs() {
		t := e.Cases[id].Trace
		made := map[trace.ID]*trace.Record{}
		for at := range t.Records {
			r := &t.Records[at]
			if r.Alloc != 0 && r.Op != trace.OpBlockAlloc && r.Size > 0 && made[r.Alloc] == nil {
				made[r.Alloc] = r
			}
			if r.Op != trace.OpBlockAlloc {
				continue
			}
			around := made[trace.ID(r.Value)]
			own := around != nil && len(e.Place(t.SiteOf(around))) > 0
			if own && r.Addr >= around.Addr && r.Addr+uint64(r.Size) <= around.Addr+uint64(around.Size) {
				continue
			}
			f := e.At(verdict.Finding{
				Rule: "outside", Severity: verdict.Error, Record: at,
				Message: fmt.Sprintf("Alloc(%d) should have handed out memory of the allocator's own, but the block lies in none "+
					"of its allocations.", r.Size),
				Why: "Memory outside belongs to somebody else, whose data a kernel would destroy, or to nobody, and then every " +
					"later CUDA call fails.",
				Fix: "Allocate the size of all blocks of all classes together in each New, and count a block's address from what " +
					"cuda.Malloc returned there.",
			}, siteOfAlloc(e))
			if own {
				f.Message = fmt.Sprintf("Alloc(%d) should have handed out memory of the allocator's own, but the block begins %d "+
					"bytes behind the start of an allocation of %d, and reaches beyond it.", r.Size, int64(r.Addr-around.Addr),
					around.Size)
				f = e.At(f, t.SiteOf(around)) // in place of Alloc's line
			}
			found = append(found, f)
		}
	}
	return verdict.Unique(found)
}

// siteOfAlloc is where the student's Alloc begins; empty if it never answered.
func siteOfAlloc(e *suite.Evidence) trace.Site {
	for _, r := range good.Runs(e) {
		if r.Record == nil {
			continue
		}
		for i, a := range r.Record.Answers[:min(len(r.Record.Answers), len(r.Ops))] {
			if r.Ops[i].Kind == allocator.KindAlloc {
				return a.Details().Site
			}
		}
	}
	return nil
}

// overwritten finds blocks that did not have their stamps any more.
func overwritten(r *allocator.Run[layout]) (found []verdict.Finding) {
	for pair := range slices.Chunk(r.Notes.Values[noteMismatches+r.Name], 2) {
		if len(pair) < 2 {
			break
		}
		found = append(found, verdict.Finding{
			Rule: "overwritten", Severity: verdict.Error, Record: -1, Function: "Alloc",
			Message: fmt.Sprintf("Block #%d of the sequence %q with %s should have kept what its user wrote, but when it was "+
				"given back, %d of its bytes had other values.", pair[0], r.Name, r.Layout, pair[1]),
			Why: "Each block belongs to one user from Alloc until Free; whoever else writes to it destroys what is there.",
			Fix: "Make sure that no two blocks overlap, and that the allocator itself writes nothing into a block.",
		})
	}
	return found
}
