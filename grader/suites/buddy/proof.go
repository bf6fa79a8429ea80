package buddy

import (
	"encoding/binary"

	"cudalab/grader/suite"
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

// proof uses the blocks on the device as their user would. Each is filled with words of its own, and ahead of a free all
// live ones are read back: a block that another one overlaps, or that the allocator wrote to, holds other words then. One
// launch serves all the blocks there are.
type proof struct {
	b            *suite.Bench
	table, wrong cuda.DevicePtr
	name         string // of the sequence under way
	layout       layout
	root         uint64 // 0 where it is not known
	live, fresh  []kernels.Block
	tag          uint64
}

func newProof(b *suite.Bench) *proof {
	p := &proof{b: b}
	var err error
	p.table, err = cuda.Malloc(int64(len(kernels.BlockTable(make([]kernels.Block, proofRows)))))
	b.Must(err)
	p.wrong, err = cuda.Malloc(8)
	b.Must(err)
	return p
}

// begin starts with another allocator, in the same sequence or, when it is shrunk, in a part of it.
func (p *proof) begin(l layout, root uint64) {
	p.layout, p.root = l, root
	p.live, p.fresh = nil, nil
}

func (p *proof) allocated(_ int, at cuda.DevicePtr, size int64) {
	if p.root == 0 || len(p.live) == proofRows {
		return
	}
	p.tag++
	row := kernels.Block{Address: at, Bytes: p.layout.block(size), Tag: p.tag}
	p.live = append(p.live, row)
	p.fresh = append(p.fresh, row)
}

func (p *proof) freeing(_ int, at cuda.DevicePtr, _ int64) {
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

// look stamps the blocks that are new, and reads back all that are live. Where the root has been freed it does neither: the
// device would not survive it.
func (p *proof) look() {
	base, bytes := cuda.DevicePtr(p.root), p.layout.root()
	if !p.b.Session.Holds(device.Ptr(base), bytes) {
		return
	}
	p.load(p.fresh)
	p.b.Must(kernels.StampBlocks(proofGrid, proofBlock, cuda.Stream{}, p.table, len(p.fresh), base, bytes))
	p.load(p.live)
	p.b.Must(cuda.Memset(p.wrong, 0, 8))
	p.b.Must(kernels.VerifyBlocks(proofGrid, proofBlock, cuda.Stream{}, p.table, len(p.live), base, bytes, p.wrong))
	sum := make(cuda.Pageable, 8)
	p.b.Must(cuda.MemcpyDtoH(sum, p.wrong, 8))
	p.b.Value(noteStamped+p.name, uint64(len(p.live)))
	p.b.Value(noteWrong+p.name, binary.LittleEndian.Uint64(sum))
	p.fresh = nil
}

func (p *proof) load(rows []kernels.Block) {
	table := cuda.Pageable(kernels.BlockTable(rows))
	p.b.Must(cuda.MemcpyHtoD(p.table, table, int64(len(table))))
}

func (p *proof) close() {
	p.b.Must(cuda.Free(p.table))
	p.b.Must(cuda.Free(p.wrong))
}
