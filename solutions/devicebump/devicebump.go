// Package devicebump is the exercise device-bump: memory that the threads of a kernel take by themselves, with one atomic word, and
// what the host has to put in order around that.
package devicebump

import (
	"errors"
	"fmt"
	"math"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// alignment is what blocks are rounded up to a multiple of, in bytes.
const alignment = 16

// Alloc takes size bytes, rounded up to a multiple of 16, from the front of capacity bytes, of which w says how many are taken.
// It answers where they begin, or false, with any offset, if size is 0 or they do not fit; then nothing is taken. size
// is any number, capacity any multiple of 16, also 0.
//
// Any number of threads call it at the same time with the same w, and each behaves as if it had been alone: whatever comes in
// between, the answers are those of some order in which one call followed the other. It keeps nothing between calls, does the same
// whenever w answers the same, and waits for no other thread: once the others do nothing more it is done within 16 operations on w.
// However often it tries, it takes no more than 2 operations, and 2 more for each time that another thread has changed w during the
// call; where size is 0 or more than capacity, no more than 1, and changes nothing.
//
// The threads of a GPU carry it out as well: cudalab translates it for them, with the functions of this package that it
// calls. So it uses integers, booleans, constants, if, for, switch, min and max, functions and closures that are called
// in place, contract.NoRoom, and the operations of w; no slices, no variables of the package, nothing else from other
// packages.
func Alloc(w contract.Word, capacity, size uint64) (offset uint64, ok bool) {
	// Compared before it is rounded: beyond capacity rounding may run over, and come out as 0.
	if size == 0 || size > capacity {
		return 0, false
	}
	rounded := (size + alignment - 1) &^ (alignment - 1)

	taken := w.Load()
	for rounded <= capacity-taken {
		found := w.CompareAndSwap(taken, taken+rounded)
		if found == taken {
			return taken, true
		}
		taken = found // somebody else was first, and this is where they left it
	}
	return 0, false
}

// place gives each lane that fits its place behind so many bytes that are taken, and answers how many are taken then.
func place(taken, capacity uint64, sizes, offsets []uint64) uint64 {
	for i, size := range sizes {
		offsets[i] = contract.NoRoom
		if size == 0 || size > capacity {
			continue
		}
		// A lane that is refused takes nothing, so a smaller one behind it may still fit.
		if rounded := (size + alignment - 1) &^ (alignment - 1); rounded <= capacity-taken {
			offsets[i] = taken
			taken += rounded
		}
	}
	return taken
}

// AllocWarp is what up to 32 threads of a warp do together: as if lane 0, 1, and so on had called Alloc one behind the
// other with nobody between, but with at most one change of w, and with none if nobody fits. Lane i asks for sizes[i]
// bytes, and offsets[i] is where its block begins, or contract.NoRoom. The two have the same length; no lanes take no
// operation. sizes stays as it is.
//
// What is said of Alloc is true of it as well: it takes no more than 2 operations on w, and 2 more for each time that another
// thread has changed w during the call, and once the others do nothing more it is done within 16.
func AllocWarp(w contract.Word, capacity uint64, sizes, offsets []uint64) {
	if len(sizes) == 0 {
		return
	}
	taken := w.Load()
	for {
		next := place(taken, capacity, sizes, offsets)
		if next == taken {
			return // nobody fits
		}
		found := w.CompareAndSwap(taken, next)
		if found == taken {
			return
		}
		taken = found
	}
}

// Pools gives kernels in streams memory to take from.
type Pools struct {
	streams []cuda.Stream
	bytes   int64
	shared  bool
	memory  cuda.DevicePtr // the pools, side by side; 0 once it is freed
	words   cuda.DevicePtr // of each pool, how many of its bytes are taken; 0 once they are freed
	closed  bool           // nothing is handed out any more

	// Of a shared pool.
	places []cuda.Event // of each stream: what is in it when the pool is reset
	reset  cuda.Event   // the last Reset, in stream
	stream int          // where that was
	noted  bool         // reset is recorded behind it
	owes   []bool       // by stream: it does not follow the last Reset yet
}

// New makes a pool of bytes bytes for each stream, or one for all of them if shared. The streams are the caller's, who keeps them
// until Close.
//
// No streams, one that is there twice, bytes below 16 or no multiple of 16, or more bytes than an int64 can count in all pools
// together, are contract.ErrArgument before any CUDA call. It may make the host wait. An error of CUDA's is returned, and nothing
// is left behind; with any error the Pools is nil. Beside its pools it takes no more than 4 KiB of memory for each. It leaves
// the slice streams as it is, and the caller may change it later.
func New(streams []cuda.Stream, bytes int64, shared bool) (*Pools, error) {
	pools, err := checkArguments(streams, bytes, shared)
	if err != nil {
		return nil, err
	}
	p := &Pools{bytes: bytes, shared: shared, streams: append([]cuda.Stream(nil), streams...), owes: make([]bool, len(streams))}
	if err := p.make(pools); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// checkArguments is how many pools there are to be. It answers contract.ErrArgument to what New cannot work with.
func checkArguments(streams []cuda.Stream, bytes int64, shared bool) (pools int64, err error) {
	if len(streams) == 0 || bytes < alignment || bytes%alignment != 0 {
		return 0, fmt.Errorf("%d streams, %d bytes: %w", len(streams), bytes, contract.ErrArgument)
	}
	seen := map[cuda.Stream]bool{}
	for i, s := range streams {
		if seen[s] {
			return 0, fmt.Errorf("streams[%d] was there before: %w", i, contract.ErrArgument)
		}
		seen[s] = true
	}
	pools = int64(len(streams))
	if shared {
		pools = 1
	}
	if bytes > math.MaxInt64/pools {
		return 0, fmt.Errorf("%d pools of %d bytes: %w", pools, bytes, contract.ErrArgument)
	}
	return pools, nil
}

// make gets memory and words for so many pools, and events where streams share one. The words are zero for every stream.
func (p *Pools) make(pools int64) (err error) {
	if p.memory, err = cuda.Malloc(pools * p.bytes); err != nil {
		return err
	}
	if p.words, err = cuda.Malloc(8 * pools); err != nil {
		return err
	}
	if p.shared {
		for range p.streams {
			event, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
			if err != nil {
				return err
			}
			p.places = append(p.places, event)
		}
		if p.reset, err = cuda.EventCreateWithFlags(cuda.EventDisableTiming); err != nil {
			return err
		}
	}
	// Memset is in the legacy default stream, for which the others need not wait: the host does.
	if err := cuda.Memset(p.words, 0, 8*pools); err != nil {
		return err
	}
	return cuda.StreamSynchronize(cuda.Stream{})
}

// pool is the number of the pool of streams[i].
func (p *Pools) pool(i int) int64 {
	if p.shared {
		return 0
	}
	return int64(i)
}

// Memory is where the pool of streams[i] begins; its blocks are at Memory(i)+offset. i has to be in range.
func (p *Pools) Memory(i int) cuda.DevicePtr { return p.memory + cuda.DevicePtr(p.pool(i)*p.bytes) }

// word is the address of the word of the pool of streams[i].
func (p *Pools) word(i int) cuda.DevicePtr { return p.words + cuda.DevicePtr(8*p.pool(i)) }

// block is how many threads a block has, which take their memory together.
const block = 256

// maxThreads is how many threads a launch may have.
const maxThreads = 1 << 30

// Launch has n threads in streams[i] take memory from the stream's pool: thread j takes sizes[j] bytes, stamps them with tag+j and
// writes to offsets[j] where its block begins, or contract.NoRoom. Both are n numbers of 8 bytes on the device. It launches one
// kernel for that: kernels.Bump, BumpWarp or BumpBlock.
//
// An i out of range, or an n below 1 or above 1<<30, is contract.ErrArgument. It allocates nothing and never waits on the host. The
// stream follows the last Reset of its pool, and waits for nothing else. An error of CUDA's is returned, and nothing is launched
// then. After Close it answers contract.ErrClosed.
func (p *Pools) Launch(i int, sizes cuda.DevicePtr, n int, tag uint32, offsets cuda.DevicePtr) error {
	if p.closed {
		return contract.ErrClosed
	}
	if i < 0 || i >= len(p.streams) || n < 1 || n > maxThreads {
		return fmt.Errorf("streams[%d], %d threads: %w", i, n, contract.ErrArgument)
	}
	if err := p.follow(i); err != nil {
		return err
	}
	pool := kernels.BumpPool{Memory: p.Memory(i), Bytes: p.bytes, Word: p.word(i)}
	return kernels.BumpBlock((n+block-1)/block, block, p.streams[i], pool, sizes, n, tag, offsets)
}

// follow has streams[i] wait for the last Reset, unless it follows that already.
func (p *Pools) follow(i int) error {
	if !p.owes[i] {
		return nil
	}
	if err := p.note(); err != nil {
		return err
	}
	if err := cuda.StreamWaitEvent(p.streams[i], p.reset); err != nil {
		return err
	}
	p.owes[i] = false
	return nil
}

// note records the last Reset, unless it is recorded.
func (p *Pools) note() error {
	if p.noted {
		return nil
	}
	if err := cuda.EventRecord(p.reset, p.streams[p.stream]); err != nil {
		return err
	}
	p.noted = true
	return nil
}

// Reset takes all blocks of the pool of streams[i] back: behind all that is in the streams that use this pool now, and before what
// is launched by Launch later, in any of them. It never waits on the host.
//
// A pool that no other stream uses needs no event for that. For a shared one a Reset records every stream once at most, and the reset
// once, or if that fails a Launch does, with events that are used again: there are no more than one for each stream and one more, ever.
//
// An i out of range is contract.ErrArgument. After an error of CUDA's the pool may be reset or not, but whatever Launch
// launches later is in order, and Reset may be called again. After Close it answers contract.ErrClosed.
func (p *Pools) Reset(i int) error {
	if p.closed {
		return contract.ErrClosed
	}
	if i < 0 || i >= len(p.streams) {
		return fmt.Errorf("streams[%d]: %w", i, contract.ErrArgument)
	}
	if !p.shared {
		return cuda.MemsetAsync(p.word(i), 0, 8, p.streams[i])
	}
	return p.resetShared(i)
}

// resetShared resets the pool of all streams in streams[i]: an edge from each of the others, and one back to each.
func (p *Pools) resetShared(i int) error {
	for j, s := range p.streams {
		if j == i {
			continue
		}
		if err := cuda.EventRecord(p.places[j], s); err != nil {
			return err
		}
		if err := cuda.StreamWaitEvent(p.streams[i], p.places[j]); err != nil {
			return err
		}
	}
	if err := cuda.MemsetAsync(p.word(i), 0, 8, p.streams[i]); err != nil {
		return err
	}
	// The way back is Launch's to go, when it comes. So a call that fails from here on can be made again there.
	p.stream, p.noted = i, false
	for j := range p.owes {
		p.owes[j] = j != i
	}
	return p.note()
}

// Close gives memory and events back; the caller has waited for all work in the streams. It answers the errors of CUDA's, and can
// then be called again, for what is left. From then on Launch and Reset may answer contract.ErrClosed; once it has succeeded, all three do.
func (p *Pools) Close() (err error) {
	if p.closed && len(p.places) == 0 && p.memory == 0 && p.words == 0 {
		return contract.ErrClosed
	}
	p.closed = true // Launch and Reset need all of what goes now
	if p.reset != (cuda.Event{}) {
		p.places = append(p.places, p.reset)
		p.reset = cuda.Event{}
	}
	var left []cuda.Event
	for _, event := range p.places {
		if e := cuda.EventDestroy(event); e != nil {
			left, err = append(left, event), errors.Join(err, e)
		}
	}
	p.places = left
	for _, memory := range []*cuda.DevicePtr{&p.memory, &p.words} {
		if *memory == 0 {
			continue
		}
		if e := cuda.Free(*memory); e != nil {
			err = errors.Join(err, e)
			continue
		}
		*memory = 0
	}
	return err
}
