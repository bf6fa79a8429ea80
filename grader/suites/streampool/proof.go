package streampool

import (
	"encoding/binary"
	"maps"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// proof uses every block on the device as long as it is out: a tenant moves in, looks whether somebody else comes in, and looks once more when
// it leaves. Nothing of that has the host wait.
type proof struct {
	b         *suite.Bench
	name      string // of the sequence
	strangers cuda.DevicePtr
	moved     map[int]cuda.Event // by block that lies in memory that there is: behind its user's last work
	spare     []cuda.Event
}

// noteStrangers is what the proof of a sequence notes: how many words of blocks were not their user's.
const noteStrangers = "strangers in "

// turns is how often a user looks at its block.
const turns = 4

func newProof(b *suite.Bench) allocator.Proof[layout] {
	p := &proof{b: b, moved: map[int]cuda.Event{}}
	var err error
	p.strangers, err = cuda.Malloc(8)
	b.Must(err)
	return p
}

func (p *proof) Begin(w *workload, _ cuda.DevicePtr) {
	p.settle()
	p.name = w.Name
	p.b.Must(cuda.Memset(p.strangers, 0, 8))
	p.b.Must(cuda.DeviceSynchronize())
}

// settle notes what was found in the sequence that is over.
func (p *proof) settle() {
	if p.name == "" {
		return
	}
	p.b.Must(cuda.DeviceSynchronize())
	if found := read(p.b, p.strangers); found > 0 {
		p.b.Value(noteStrangers+p.name, found)
	}
	// In one order: the traces of one seed are the same.
	for _, block := range slices.Sorted(maps.Keys(p.moved)) {
		p.spare = append(p.spare, p.moved[block])
	}
	clear(p.moved)
}

// event is one that nobody needs.
func (p *proof) event() cuda.Event {
	if last := len(p.spare) - 1; last >= 0 {
		e := p.spare[last]
		p.spare = p.spare[:last]
		return e
	}
	e, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	p.b.Must(err)
	return e
}

func (p *proof) AllocatedIn(block int, at cuda.DevicePtr, size int64, s cuda.Stream) {
	if p.b.Session.Holds(device.Ptr(at), size) {
		p.moved[block] = p.event()
		p.b.Must(kernels.Lease(1, 128, s, at, size, uint32(block), turns, p.strangers))
		p.b.Must(cuda.EventRecord(p.moved[block], s))
	}
}

// FreeingIn goes by the event, since the stream that the block was handed out in may be gone.
func (p *proof) FreeingIn(block int, at cuda.DevicePtr, size int64, from, to cuda.Stream) {
	behind, moved := p.moved[block]
	if !moved || !p.b.Session.Holds(device.Ptr(at), size) {
		return
	}
	if from != to {
		p.b.Must(cuda.StreamWaitEvent(to, behind))
	}
	p.b.Must(kernels.Inspect(1, 128, to, at, size, uint32(block), p.strangers))
	delete(p.moved, block)
	p.spare = append(p.spare, behind)
}

// Allocated comes for no block here: each is handed out in a stream.
func (p *proof) Allocated(int, cuda.DevicePtr, int64) {}

// Freeing comes before Close, of a block that is still out.
func (p *proof) Freeing(int, cuda.DevicePtr, int64) { p.b.Must(cuda.DeviceSynchronize()) }

func (p *proof) Close() {
	p.settle()
	for _, e := range p.spare {
		p.b.Must(cuda.EventDestroy(e))
	}
	p.b.Must(cuda.Free(p.strangers))
}

// read is the number at an address of the device.
func read(b *suite.Bench, at cuda.DevicePtr) uint64 {
	sum := make(cuda.Pageable, 8)
	b.Must(cuda.MemcpyDtoH(sum, at, 8))
	return binary.LittleEndian.Uint64(sum)
}
