package allocator

import (
	"fmt"
	"maps"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// Tenants are a lesson's kernels by which the users of blocks in the order of streams show whether each block is its
// user's alone: a tenant moves in, looks whether somebody else comes in, and looks once more when it leaves. Both count
// the words that were not the tenant's.
type Tenants[L fmt.Stringer] struct {
	MoveIn func(grid, block int, s cuda.Stream, at cuda.DevicePtr, bytes int64, tenant uint32, turns int,
		strangers cuda.DevicePtr) error
	MoveOut func(grid, block int, s cuda.Stream, at cuda.DevicePtr, bytes int64, tenant uint32,
		strangers cuda.DevicePtr) error
	// Leaving: the stream that a block was handed out in may be gone when it comes back, so the event behind its tenant's
	// work is recorded at once.
	Leaving bool
}

// Of the grid of a tenant's kernels, and how often one that lives in its block looks at it.
const (
	tenantBlocks, tenantThreads = 1, 128
	tenantTurns                 = 4
)

// NoteStrangers is what the proof of a sequence notes, under a name that ends with the sequence's: how many words of
// blocks were not their tenant's.
const NoteStrangers = "strangers in "

// Proof uses every block on the device as long as it is out. Nothing of that has the host wait.
func (t Tenants[L]) Proof(b *suite.Bench) Proof[L] {
	p := &tenancy[L]{Tenants: t, b: b, strangers: b.NewResults(1), tenants: map[int]occupant{}}
	if !t.Leaving {
		p.spare = []cuda.Event{p.event()} // the one that it goes by, ahead of the student's
	}
	return p
}

type tenancy[L fmt.Stringer] struct {
	Tenants[L]
	b         *suite.Bench
	name      string // of the sequence
	strangers *suite.Results
	tenants   map[int]occupant // by block
	spare     []cuda.Event
}

// occupant is the user of a block that is out.
type occupant struct {
	behind cuda.Event // its last work, where it may be Leaving
	in     bool       // it has moved in: the block lies in memory that there is
}

func (p *tenancy[L]) Begin(w *Workload[L], _ cuda.DevicePtr) {
	p.settle()
	p.name = w.Name
	p.strangers.Clear()
}

// settle notes what was found in the sequence that is over.
func (p *tenancy[L]) settle() {
	if p.name == "" {
		return
	}
	p.b.Must(cuda.DeviceSynchronize())
	p.strangers.NoteAny(NoteStrangers + p.name)
	// In one order: the traces of one seed are the same.
	for _, block := range slices.Sorted(maps.Keys(p.tenants)) {
		if t := p.tenants[block]; t.in && p.Leaving {
			p.spare = append(p.spare, t.behind)
		}
	}
	clear(p.tenants)
}

// event is one that nobody needs.
func (p *tenancy[L]) event() cuda.Event {
	if last := len(p.spare) - 1; last >= 0 {
		e := p.spare[last]
		p.spare = p.spare[:last]
		return e
	}
	e, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	p.b.Must(err)
	return e
}

func (p *tenancy[L]) AllocatedIn(block int, at cuda.DevicePtr, size int64, s cuda.Stream) {
	t := occupant{in: p.b.Session.Holds(device.Ptr(at), size)}
	if t.in {
		if p.Leaving {
			t.behind = p.event()
		}
		p.b.Must(p.MoveIn(tenantBlocks, tenantThreads, s, at, size, uint32(block), tenantTurns, p.strangers.At(0)))
		if p.Leaving {
			p.b.Must(cuda.EventRecord(t.behind, s))
		}
	}
	p.tenants[block] = t
}

func (p *tenancy[L]) FreeingIn(block int, at cuda.DevicePtr, size int64, from, to cuda.Stream) {
	t := p.tenants[block]
	held := t.in && p.b.Session.Holds(device.Ptr(at), size)
	if p.Leaving && !held {
		return // there is no work of the tenant's to wait for
	}
	if from != to {
		behind := t.behind
		if !p.Leaving {
			behind = p.event()
			p.b.Must(cuda.EventRecord(behind, from))
			p.spare = append(p.spare, behind)
		}
		p.b.Must(cuda.StreamWaitEvent(to, behind))
	}
	if held {
		p.b.Must(p.MoveOut(tenantBlocks, tenantThreads, to, at, size, uint32(block), p.strangers.At(0)))
	}
	if p.Leaving {
		delete(p.tenants, block)
		p.spare = append(p.spare, t.behind)
	}
}

// Allocated comes for no block here: each is handed out in a stream.
func (p *tenancy[L]) Allocated(int, cuda.DevicePtr, int64) {}

// Freeing comes before Close, of a block that is still out.
func (p *tenancy[L]) Freeing(int, cuda.DevicePtr, int64) { p.b.Must(cuda.DeviceSynchronize()) }

func (p *tenancy[L]) Close() {
	p.settle()
	for _, e := range p.spare {
		p.b.Must(cuda.EventDestroy(e))
	}
	p.strangers.Free()
}

// StreamRace holds pools against each other, and against cuda.MallocAsync: several streams each take a block, work in
// it for a while and give it back, round after round. The pools are made and closed off the clock.
type StreamRace[Code any, L fmt.Stringer] struct {
	Tenants[L]
	After           string // the last gap that has to be filled, as in Trial
	Streams, Rounds int
	Rest            int                           // behind so many rounds the host waits for the device; 0: never
	Work            int64                         // in a block, in nanoseconds
	Size            func(round, stream int) int64 // of a block
	New             func(Code) (InStreams, error)
	Baseline        Code // left out where cuda.MallocAsync is the baseline: there is one stream
	suite.SpeedWords
	Crowded string // what to do where a block was not its user's alone
}

// noteCrowded is what is noted of each sample: how many words of blocks were not their tenant's when it was over.
const noteCrowded = "strangers when timed"

// mallocAsync is the contender that has every block from cuda.MallocAsync.
const mallocAsync = "cuda.MallocAsync"

// CrowdedStreams is what to do where the users of two streams met in a block.
const CrowdedStreams = "Do the same whatever was done before: have the next owner's stream wait where it has to."

// AtOnce are the words about streams that take blocks at once. passed is SpeedWords.Passed from behind their number on.
func AtOnce(streams, rounds int, p suite.Pacing, passed, fix string) suite.SpeedWords {
	p.Beside = mallocAsync
	return suite.SpeedWords{
		Pacing: p,
		Passed: fmt.Sprintf("%d streams ", streams) + passed,
		Work:   fmt.Sprintf("%d rounds on %d streams", rounds, streams), Takes: "take",
		Why: "A stream that waits for another runs behind it and not beside it, however many multiprocessors are idle " +
			"meanwhile.",
		Fix: fix,
	}
}

// Part asks whether rounds with the student's pool take about as long as with the solution's.
func (r *StreamRace[Code, L]) Part(name string) suite.Part[Code] {
	crowded := suite.Flaw{Note: noteCrowded, Function: "Alloc",
		Message: func(words uint64) string {
			return fmt.Sprintf("While time was measured every block should have been its user's alone, but users found %d "+
				"words in theirs that somebody else had written, or Close failed.", words)
		},
		Why: "A block that is handed out before its last user is through is not a faster one.",
		Fix: r.Crowded,
	}
	return suite.SpeedPart(name, r.After, "New, Alloc or Free", r.Drive, r.SpeedWords, crowded)
}

// Drive carries the race out.
func (r *StreamRace[Code, L]) Drive(b *suite.Bench, sides suite.Sides[Code]) {
	s := b.NewStage()
	streams := s.Streams(r.Streams, "streams[%d]")
	timing := b.TimingFor(suite.Timing{Rounds: 1}, suite.Timing{Warm: 2, Rounds: 25})
	async, beside := suite.Baseline, []string(nil)
	if r.Beside != "" {
		async, beside = r.Beside, []string{r.Beside}
	}
	suite.Contest(b, timing, "", sides, r.Baseline, func(name string, code Code) suite.Contender {
		yours := name == verdict.Yours
		var pool InStreams
		var strangers *suite.Results
		return suite.Contender{
			Prepare: func() (err error) {
				strangers = b.NewResults(1)
				strangers.Clear()
				if name == async {
					pool = fromPool{}
					return nil
				}
				pool, err = r.New(code)
				return err
			},
			Run: func() error { return r.run(pool, streams, strangers.At(0)) },
			Check: func() {
				if yours {
					strangers.Note(noteCrowded)
				}
				if err := pool.Close(); err != nil && yours {
					b.Value(noteCrowded, 1)
				}
				strangers.Free()
			},
		}
	}, beside...)
	s.Close()
}

// run has every stream take a block, work in it and give it back, round after round.
func (r *StreamRace[Code, L]) run(pool InStreams, streams []cuda.Stream, strangers cuda.DevicePtr) error {
	for round := range r.Rounds {
		for i, s := range streams {
			size, tenant := r.Size(round, i), uint32(1+round*r.Streams+i)
			at, err := take(pool, size, s)
			if err != nil {
				return err
			}
			if err := r.MoveIn(tenantBlocks, tenantThreads, s, at, r.used(size), tenant, 1, strangers); err != nil {
				return err
			}
			if r.Work > 0 {
				if err := probe.Delay(s, r.Work); err != nil {
					return err
				}
			}
			if err := r.MoveOut(tenantBlocks, tenantThreads, s, at, r.used(size), tenant, strangers); err != nil {
				return err
			}
			if err := pool.Free(at, s); err != nil {
				return err
			}
		}
		if r.Rest > 0 && (round+1)%r.Rest == 0 {
			if err := cuda.DeviceSynchronize(); err != nil {
				return err
			}
		}
	}
	return nil
}

// used is how many bytes of a block its tenant touches: of large ones so few that it is the calls that take time.
func (r *StreamRace[Code, L]) used(size int64) int64 {
	if r.Work == 0 {
		return min(size, 16<<10)
	}
	return size
}

// take has a pool hand out a block.
func take(pool InStreams, size int64, s cuda.Stream) (cuda.DevicePtr, error) {
	if p, ok := pool.(sizesInStreams); ok {
		return p.Alloc(size, s)
	}
	return pool.(blocksInStreams).Alloc(s)
}

// fromPool has every block from the device's current pool, which keeps no memory beyond the next synchronisation.
type fromPool struct{}

func (fromPool) Alloc(size int64, s cuda.Stream) (cuda.DevicePtr, error) {
	return cuda.MallocAsync(size, s)
}
func (fromPool) Free(p cuda.DevicePtr, s cuda.Stream) error { return cuda.FreeAsync(p, s) }
func (fromPool) Close() error                               { return nil }
