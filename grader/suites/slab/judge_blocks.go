package slab

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/native/trace"
)

func judgeBlocks(e *suite.Evidence) suite.Answer {
	a := judged(e, ofBlocks, false, "Every block was stamped on the device, and had its stamp when it was given back.")
	a.Findings = append(a.Findings, outside(e)...)
	if !suite.HasError(a.Findings) {
		a.Findings = append(a.Findings, overwritten(e)...)
	}
	a.Findings = suite.Unique(append(a.Findings, e.Of(suite.OrderRules, caseExamples, caseRandom)...))
	return a
}

// outside finds blocks that do not lie inside one live allocation of the allocator's own.
func outside(e *suite.Evidence) []suite.Finding {
	var found []suite.Finding
	for _, id := range []string{caseExamples, caseRandom} {
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
			f := e.At(suite.Finding{
				Rule: "outside", Severity: suite.Error, Record: at,
				Message: fmt.Sprintf("Alloc(%d) should have handed out memory of the allocator's own, but the block lies in none of its "+
					"allocations.", r.Size),
				Why: "Memory outside belongs to somebody else, whose data a kernel would destroy, or to nobody, and then every later CUDA call fails.",
				Fix: "Allocate the size of all blocks of all classes together, and count a block's address from what cuda.Malloc returned.",
			}, siteOfAlloc(e))
			if own {
				f.Message = fmt.Sprintf("Alloc(%d) should have handed out memory of the allocator's own, but the block begins %d bytes behind the "+
					"start of an allocation of %d, and reaches beyond it.", r.Size, int64(r.Addr-around.Addr), around.Size)
				f = e.At(f, t.SiteOf(around)) // in place of Alloc's line
			}
			found = append(found, f)
		}
	}
	return suite.Unique(found)
}

// siteOfAlloc is where the student's Alloc begins; empty if it never answered.
func siteOfAlloc(e *suite.Evidence) trace.Site {
	for _, r := range runs(e) {
		for _, rec := range sequence.Read(r.notes, r.name) {
			for i, a := range rec.Answers {
				if rec.Ops[i].Kind == sequence.Alloc {
					return a.Site
				}
			}
		}
	}
	return nil
}

// overwritten finds blocks that did not have their stamps any more.
func overwritten(e *suite.Evidence) []suite.Finding {
	var found []suite.Finding
	for _, r := range runs(e) {
		wrong := r.notes.Values[noteMismatches+r.name]
		for pair := range slices.Chunk(wrong, 2) {
			if len(pair) < 2 {
				break
			}
			found = append(found, suite.Finding{
				Rule: "overwritten", Severity: suite.Error, Record: -1, Function: "Alloc",
				Message: fmt.Sprintf("Block #%d of the sequence %q with %s should have kept what its user wrote, but when it was given back, %d of "+
					"its bytes had other values.", pair[0], r.name, r.label(), pair[1]),
				Why: "Each block belongs to one user from Alloc until Free; whoever else writes to it destroys what is there.",
				Fix: "Make sure that no two blocks overlap, and that the allocator itself writes nothing into a block.",
			})
		}
	}
	return suite.Unique(found)
}

func judgeHostOnly(e *suite.Evidence) suite.Answer {
	a := suite.Answer{
		Message:  "Between New and Close the host did it all by itself.",
		Findings: sequence.CallsBetween(e, labels(e), "all memory", "a list", caseExamples, caseRandom),
	}
	for _, r := range runs(e) {
		if len(a.Findings) == 0 && len(sequence.Read(r.notes, r.name)) == 0 {
			a.Skip = "No allocator could be made, so this could not be seen."
		}
	}
	return a
}
