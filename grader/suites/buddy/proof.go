package buddy

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// What a proof notes of a sequence: at each look how many blocks there were, and how many of their words were wrong.
const (
	noteStamped = "blocks stamped in "
	noteWrong   = "wrong words in "
)

// proofRows is how many blocks may be live at once, more than any random sequence has.
const proofRows = 2048

// The launches of a proof: any number of blocks, in turns.
const (
	proofGrid  = 256
	proofBlock = 256
)

// proof uses the blocks on the device as their user would. Each is filled with words of its own, and ahead of a free
// all live ones are read back: a block that another one overlaps, or that the allocator wrote to, holds other words
// then. One launch serves all the blocks there are.
type proof struct {
	b           *suite.Bench
	table       cuda.DevicePtr
	counter     *allocator.Counter
	name        string // of the sequence under way
	layout      layout
	root        cuda.DevicePtr // 0 where it is not known
	live, fresh []kernels.Block
	tag         uint64
}

func newProof(b *suite.Bench) allocator.Proof[layout] {
	p := &proof{b: b}
	var err error
	p.table, err = cuda.Malloc(int64(len(kernels.BlockTable(make([]kernels.Block, proofRows)))))
	b.Must(err)
	p.counter = allocator.NewCounter(b, cuda.Stream{})
	return p
}

func (p *proof) Begin(w *workload, root cuda.DevicePtr) {
	p.name, p.layout, p.root = w.Name, w.Layout, root
	p.live, p.fresh = nil, nil
}

func (p *proof) Allocated(_ int, at cuda.DevicePtr, size int64) {
	if p.root == 0 || len(p.live) == proofRows {
		return
	}
	p.tag++
	row := kernels.Block{Address: at, Bytes: p.layout.block(size), Tag: p.tag}
	p.live = append(p.live, row)
	p.fresh = append(p.fresh, row)
}

func (p *proof) Freeing(_ int, at cuda.DevicePtr, _ int64) {
	if len(p.fresh) > 0 {
		p.look()
	}
	for i, row := range p.live {
		if row.Address == at {
			p.live = append(p.live[:i], p.live[i+1:]...)
			return
		}
	}
}

// look stamps the blocks that are new, and reads back all that are live. Where the root has been freed it does neither:
// the device would not survive it.
func (p *proof) look() {
	bytes := p.layout.root()
	if !p.b.Session.Holds(device.Ptr(p.root), bytes) {
		return
	}
	p.load(p.fresh)
	p.b.Must(kernels.StampBlocks(proofGrid, proofBlock, p.counter.Stream, p.table, len(p.fresh), p.root, bytes))
	p.load(p.live)
	wrong := p.counter.Count(func(counter cuda.DevicePtr) {
		p.b.Must(kernels.VerifyBlocks(proofGrid, proofBlock, p.counter.Stream, p.table, len(p.live), p.root, bytes, counter))
	})
	p.b.Value(noteStamped+p.name, uint64(len(p.live)))
	p.b.Value(noteWrong+p.name, wrong)
	p.fresh = nil
}

func (p *proof) load(rows []kernels.Block) {
	table := cuda.Pageable(kernels.BlockTable(rows))
	p.b.Must(cuda.MemcpyHtoD(p.table, table, int64(len(table))))
}

func (p *proof) Close() {
	p.b.Must(cuda.Free(p.table))
	p.counter.Close()
}

func judgeBlocks(e *suite.Evidence) suite.Answer {
	a := good.Judge(e, ofBlocks, "Every block was stamped on the device, and had its stamp until it was given back.", nil)
	if len(a.Findings) > 0 || a.Skip != "" {
		return a
	}
	stamped, wrong := uint64(0), uint64(0)
	for _, r := range good.Runs(e) {
		if r.Model.(*model).blinded {
			continue // a free that should have been refused has given one block to two users, and was told of
		}
		for _, n := range r.Notes.Values[noteStamped+r.Name] {
			stamped += n
		}
		for _, n := range r.Notes.Values[noteWrong+r.Name] {
			wrong += n
		}
	}
	switch {
	case stamped == 0:
		a.Skip = "No block could be stamped on the device."
	case wrong > 0:
		a.Findings = []verdict.Finding{{
			Rule: "overwritten", Severity: verdict.Error, Record: -1, Function: "Alloc",
			Message: fmt.Sprintf("The blocks should have kept what their users wrote, but when they were read back from the "+
				"device, %d words of 8 bytes had other values.", wrong),
			Why: "A block is its user's alone from Alloc until Free.",
			Fix: "Write nothing to the root block: what the allocator has to remember of its blocks belongs on the host.",
		}}
	default:
		a.Message = fmt.Sprintf("Blocks were stamped on the device and read back %d times: all had what was written to them.",
			stamped)
	}
	return a
}
