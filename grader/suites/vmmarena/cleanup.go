package vmmarena

import (
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

var cleanup = allocator.Cleanup[layout]{
	Name: "Close gives everything back, also when a CUDA call has failed", After: lastGap, Draw: lifecycle,
	Also: scarcity.IDs(),
	Far:  farLives,
	Pass: "Close gave everything back, and a CUDA call that failed was reported or made good, and left nothing " +
		"behind.",
	Function: "New, Alloc or Close",
	Recovers: recovered,
	Unusable: func(notes *verdict.CaseNotes, from, to int) *verdict.Finding {
		record, f := unusableBlock(notes, from, to)
		if f != nil {
			f.Record, f.Message = record, "the arena "+f.Message
		}
		return f
	},
}

// lifecycle draws an arena that grows, is reset, and closed with blocks handed out. Its blocks end in the same granules
// whatever is drawn, and so does twice what they need: it takes as many calls. The first Reset changes nothing, but
// shows how the arena is before it grows.
func lifecycle(from sequence.Source) workload {
	g := from.Granularity
	return workload{
		Layout: layout{reserve: 16*g + from.Int64N(64*g), granularity: g},
		Ops: []allocator.Op{reset, alloc(1 + from.Int64N(g/8)), alloc(g + from.Int64N(g/8)), alloc(3*g + from.Int64N(g/8)),
			reset, alloc(1 + from.Int64N(g)), shut},
	}
}

// recovered reports whether an arena has come by another way to what the call that failed was to give it, or has tried
// to, or can do without: a growth may be tried once more with less, and nobody has to know how much memory is free.
// What New has to have, and what is to be given back, has to be asked for again.
func recovered(notes *verdict.CaseNotes, run suite.FaultRun) bool {
	records := notes.Trace.Records
	failed := &records[run.Failed]
	switch run.Op {
	case trace.OpMemGetAllocationGranularity:
		return false
	case trace.OpMemAddressReserve, trace.OpMemAddressFree, trace.OpMemUnmap, trace.OpMemRelease:
		if !slices.ContainsFunc(records[run.Failed+1:run.To], func(r trace.Record) bool {
			return r.Op == run.Op && r.Phase != trace.Enter && r.Code == 0 && (r.Alloc == failed.Alloc &&
				r.Addr == failed.Addr || r.Op == trace.OpMemAddressReserve)
		}) {
			return false
		}
	}
	_, f := unusableBlock(notes, run.From, run.To)
	return f == nil || grewAgain(records[run.Failed:run.To])
}

// grewAgain reports whether a growth in which a call failed, the first of the records, was undone and begun anew.
func grewAgain(records []trace.Record) bool {
	undone := records[0].Op == trace.OpMemCreate
	for i := range records[1:] {
		switch r := &records[1+i]; r.Op {
		case trace.OpMemRelease, trace.OpMemUnmap:
			undone = true
		case trace.OpMemCreate:
			return undone
		case trace.OpMemMap, trace.OpMemSetAccess, trace.OpBlockAlloc:
			return false
		}
	}
	return false
}

// unusableBlock finds the first block that was handed out between two records and that the device may not use, and the
// record that is at fault, or -1; nil where there is none.
func unusableBlock(notes *verdict.CaseNotes, from, to int) (record int, f *verdict.Finding) {
	var l mapping.Ledger
	for at := from; at < to; at++ {
		r := &notes.Trace.Records[at]
		l.See(at, r)
		if r.Op != trace.OpBlockAlloc {
			continue
		}
		p, whole := l.Unusable(r.Addr, uint64(r.Size))
		if record, f = notUsable(p, !whole); f != nil {
			return record, f
		}
	}
	return -1, nil
}
