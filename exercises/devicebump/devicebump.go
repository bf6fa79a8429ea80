// Package devicebump is the exercise device-bump: memory that the threads of a kernel take by themselves, with one atomic word, and
// what the host has to put in order around that.
package devicebump

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
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
	// TODO(1a): Refuse a size of 0 or above capacity without an operation on w. Round the size up.
	if err := contract.TODO("1a"); err != nil {
		panic(err)
	}

	// TODO(1b): Find out how many bytes are taken, and whether the block fits behind them. If it does, take it, unless somebody
	// else has taken something meanwhile: then try again with what is taken now.
	panic(contract.TODO("1b"))
}

// place gives each lane that fits its place behind so many bytes that are taken, and answers how many are taken then.
func place(taken, capacity uint64, sizes, offsets []uint64) uint64 {
	// TODO(2a): Go through the lanes: who fits gets the place behind those before, and who does not gets contract.NoRoom.
	panic(contract.TODO("2a"))
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
	if place(taken, capacity, sizes, offsets) == taken {
		return // nobody fits
	}
	// TODO(2b): Take what the lanes take together with one change of w. If somebody else was first, place the lanes anew.
	panic(contract.TODO("2b"))
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
	// TODO(3a): Answer contract.ErrArgument to no streams, to one that is there twice, to bytes below 16 or no multiple of 16, and to
	// more than math.MaxInt64 bytes in all pools together. Else answer how many pools there are to be.
	return 0, contract.TODO("3a")
}

// make gets memory and words for so many pools, and events where streams share one. The words are zero for every stream.
func (p *Pools) make(pools int64) (err error) {
	// TODO(3b): Get memory for the pools and for their words. See to it that the words are zero before anything in any stream can look
	// at them. If the pool is shared, create the events that Reset needs.
	return contract.TODO("3b")
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
	// TODO(3c): Refuse the arguments that are wrong. Have streams[i] follow the last Reset, and launch the kernel there for n threads.
	return contract.TODO("3c")
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
		// TODO(3d): Set the word of the pool to zero, behind what is in streams[i].
		return contract.TODO("3d")
	}
	return p.resetShared(i)
}

// resetShared resets the pool of all streams in streams[i]: an edge from each of the others, and one back to each.
func (p *Pools) resetShared(i int) error {
	// TODO(3e): Have streams[i] wait for what is in the others now, and set the word to zero there. Then see to it that each of the
	// others waits for that before its next launch: with p.stream, p.noted and p.owes, which follow and note go by, or at once.
	return contract.TODO("3e")
}

// Close gives memory and events back; the caller has waited for all work in the streams. It answers the errors of CUDA's, and can
// then be called again, for what is left. From then on Launch and Reset may answer contract.ErrClosed; once it has succeeded, all three do.
func (p *Pools) Close() (err error) {
	// TODO(3f): Destroy the events and free the memory. Keep what could not be given back for the next Close, and for
	// nobody else: a Launch needs all of it.
	return contract.TODO("3f")
}
