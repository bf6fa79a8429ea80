package allocator

import (
	"fmt"
	"maps"
	"slices"

	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
)

// Stream is one of the streams that a sequence names: 1 is A, 2 is B, and so on. Each is made when the sequence begins.
type Stream int32

// Legacy is the legacy default stream, which is nobody's to make or destroy. 0 is no stream at all.
const Legacy Stream = -1

// String is the stream's name in a sequence's words.
func (s Stream) String() string {
	switch {
	case s == Legacy:
		return "the legacy default stream"
	case 0 < s && s <= 26:
		return string(rune('A' + s - 1))
	}
	return fmt.Sprintf("stream %d", int(s))
}

// In is the operation with a stream that it names.
func (op Op) In(s Stream) Op {
	op.Stream = s
	return op
}

// Wait has the host wait for a stream.
func Wait(s Stream) Op { return Op{Kind: KindWait, Stream: s} }

// Busy keeps a stream busy for long; see busyTime.
func Busy(s Stream) Op { return Op{Kind: KindBusy, Stream: s} }

// Destroy destroys a stream.
func Destroy(s Stream) Op { return Op{Kind: KindDestroy, Stream: s} }

// Forget has an allocator forget a stream, which may then be destroyed.
func Forget(s Stream) Op { return Op{Kind: KindForget, Stream: s} }

// ByCaller reports whether an operation is not the allocator's.
func (op Op) ByCaller() bool { return op.Kind >= KindWait }

// Idle has the host wait for the device.
var Idle = Op{Kind: KindIdle}

// busyTime is how long a busy stream is, in nanoseconds of the device's clock: so long that no host is still at a few
// calls behind it when that is over. Virtual time waits for nobody's processor.
func busyTime() int64 {
	if session.Current().Device().Info().Kind == device.Sim {
		return 1_000_000
	}
	return 20_000_000
}

// InStreams is an allocator that hands blocks out in the order of streams; Alloc may be given a size as well, before
// the stream.
type InStreams interface {
	Free(p cuda.DevicePtr, s cuda.Stream) error
	Close() error
}

type forgetter interface{ Forget(s cuda.Stream) error }

type blocksInStreams interface {
	Alloc(s cuda.Stream) (cuda.DevicePtr, error)
}

type sizesInStreams interface {
	Alloc(size int64, s cuda.Stream) (cuda.DevicePtr, error)
}

// StreamUser is a User of blocks that are handed out in the order of streams. It may not have the host wait.
type StreamUser interface {
	User
	// AllocatedIn comes when a block was handed out to the work that is in s next.
	AllocatedIn(block int, at cuda.DevicePtr, size int64, s cuda.Stream)
	// FreeingIn comes before a block that was handed out in one stream is given back in another, or the same. When it
	// returns, all use of the block has to come before what is in that stream next.
	FreeingIn(block int, at cuda.DevicePtr, size int64, from, to cuda.Stream)
}

func (w *walk) alloc(op Op) (cuda.DevicePtr, error) {
	if op.Own != nil {
		return op.Own.Do(w.subject.Allocator, op)
	}
	switch a := w.subject.Allocator.(type) {
	case blocksInStreams:
		return a.Alloc(w.streams[op.Stream])
	case sizesInStreams:
		return a.Alloc(op.Size, w.streams[op.Stream])
	}
	return w.subject.Allocator.(Allocator).Alloc(op.Size)
}

func (w *walk) free(op Op, p cuda.DevicePtr) error {
	if a, ok := w.subject.Allocator.(InStreams); ok {
		return a.Free(p, w.streams[op.Stream])
	}
	return w.subject.Allocator.(freer).Free(p)
}

// frees reports whether the allocator takes single blocks back.
func (w *walk) frees() bool {
	_, inStreams := w.subject.Allocator.(InStreams)
	_, ok := w.subject.Allocator.(freer)
	return inStreams || ok
}

// allocated notes a block, and has its user use it.
func (w *walk) allocated(at cuda.DevicePtr, h held) {
	if w.bench == nil {
		return
	}
	if h.stream == 0 {
		w.bench.Session.BlockAlloc(device.Ptr(at), h.size)
		if w.user != nil {
			w.user.Allocated(h.block, at, h.size)
		}
		return
	}
	w.bench.Session.BlockAllocIn(device.Ptr(at), h.size, session.StreamOf(w.streams[h.stream]), w.entries[KindAlloc])
	if user, ok := w.user.(StreamUser); ok {
		user.AllocatedIn(h.block, at, h.size, w.streams[h.stream])
	}
}

// must has a call of the grader's own succeed.
func (w *walk) must(err error) {
	if w.bench != nil {
		w.bench.Must(err)
	}
}

// enter makes the streams that some operations name.
func (w *walk) enter(ops []Op) {
	if w.streams == nil {
		w.streams = map[Stream]cuda.Stream{}
	}
	for _, op := range ops {
		if _, known := w.streams[op.Stream]; known || op.Stream <= 0 {
			continue
		}
		s, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
		w.must(err)
		if w.bench != nil {
			w.bench.Session.Label(op.Stream.String())
		}
		w.streams[op.Stream] = s
	}
}

// keepBusy keeps all streams busy, so that what an allocator asks about their work is not done yet.
func (w *walk) keepBusy() {
	for _, name := range slices.Sorted(maps.Keys(w.streams)) {
		w.must(probe.Delay(w.streams[name], busyTime()))
	}
}

// leave waits for the streams and destroys them.
func (w *walk) leave() {
	if len(w.streams) == 0 {
		return
	}
	w.must(cuda.DeviceSynchronize())
	for _, name := range slices.Sorted(maps.Keys(w.streams)) {
		if !slices.Contains(w.destroyed, name) {
			w.must(cuda.StreamDestroy(w.streams[name]))
		}
	}
	w.streams, w.destroyed = nil, nil
}

// bystander does what the allocator's caller does with a stream.
func (w *walk) bystander(op Op) {
	s := w.streams[op.Stream]
	switch op.Kind {
	case KindIdle:
		w.must(cuda.DeviceSynchronize())
	case KindWait:
		w.must(cuda.StreamSynchronize(s))
	case KindBusy:
		w.must(probe.Delay(s, busyTime()))
	case KindDestroy:
		if op.Stream > 0 && !slices.Contains(w.destroyed, op.Stream) {
			w.must(cuda.StreamDestroy(s))
			w.destroyed = append(w.destroyed, op.Stream)
		}
	}
}

// phraseIn is an operation that names a stream, in words.
func phraseIn(op Op) string {
	in := " in " + op.Stream.String()
	switch bare := op.In(0); op.Kind {
	case KindAlloc:
		if op.Size == 0 {
			return "allocate" + in
		}
		return phrase(bare) + in
	case KindWait:
		return "wait for " + op.Stream.String()
	case KindBusy:
		return "keep " + op.Stream.String() + " busy"
	case KindDestroy:
		return "destroy " + op.Stream.String()
	case KindForget:
		return "forget " + op.Stream.String()
	default:
		return phrase(bare) + in
	}
}
