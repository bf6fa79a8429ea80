package bugclinic

import (
	"slices"

	"cudalab/grader/suite"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// block is how many threads a block of the caller's own launches has.
const block = 256

// shortDelay is how long the work takes that a has besides, in nanoseconds.
const shortDelay = 100_000

// scene is what surrounds a call: the caller, whose streams, memory and later work they are.
var scene = &suite.Scene[Code, workload]{
	KeepPool: true,
	Set: func(s *suite.Stage, w workload) func(Code, workload) error {
		d := &desk{Stage: s, w: w}
		for i, name := range w.of.streams {
			if !w.of.made(i) {
				d.streams = append(d.streams, d.stream(name))
			}
		}
		call := w.of.set(d, w)
		s.Bench.Must(cuda.DeviceSynchronize())
		w.late.Busy(s, d.streams)
		if d.earlier != nil {
			d.earlier()
		}
		return call
	},
}

var around = suite.Around[workload]{Behind: func(s *suite.Stage, w workload) { w.late.WaitLast(s) }}

// desk is what a call has in front of it.
type desk struct {
	*suite.Stage
	w       workload
	streams []cuda.Stream
	earlier func() // the caller's work ahead of the call
}

// stream makes one of the caller's. Where the function has to destroy it, nobody else may.
func (d *desk) stream(name string) cuda.Stream {
	if d.w.of.name != "Replace" {
		return d.Stream(name)
	}
	made, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
	d.Bench.Must(err)
	d.Bench.Session.Label(name)
	d.Finally(func() { _ = cuda.StreamDestroy(made) }) // refused where all is well, since it is gone
	return made
}

// memory is some of the caller's, in bytes.
func (d *desk) memory(size int) cuda.DevicePtr {
	p, err := cuda.Malloc(int64(size))
	d.Bench.Must(err)
	d.Finally(func() { d.Bench.Must(cuda.Free(p)) })
	return p
}

// filled is memory that holds the words of an item.
func (d *desk) filled(item uint32, work int) cuda.DevicePtr {
	p := d.memory(4 * d.w.n)
	d.Bench.Must(kernels.FillItem(grid(d.w.n), block, cuda.Stream{}, p, d.w.n, item, work))
	return p
}

func grid(n int) int { return (n + block - 1) / block }

// compare has the caller look, in a stream, at how many places some memory does not hold the words that it should. A
// pointer or a stream that CUDA refuses is noted.
func (d *desk) compare(s cuda.Stream, p, want, count cuda.DevicePtr) {
	if kernels.Differ(grid(d.w.n), block, s, p, want, d.w.n, count) != nil {
		d.Note(noteRefused, nil)
	}
}

// noteRefused is noted where the caller's next call, with what it was given, was refused.
const noteRefused = "refused"

func setUpload(d *desk, w workload) func(Code, workload) error {
	room := max(w.total(), 1) // CUDA has no memory of no bytes
	staging, err := cuda.MallocHost(int64(room))
	d.Bench.Must(err)
	d.Finally(func() { d.Bench.Must(cuda.FreeHost(staging)) })
	dst := d.memory(room)
	d.Bench.Must(cuda.Memset(dst, suite.Poison, int64(room)))
	parts := w.parts()
	d.Later(func() {
		got := make(cuda.Pageable, room)
		d.Bench.Must(cuda.StreamSynchronize(d.streams[0]))
		d.Bench.Must(cuda.MemcpyDtoH(got, dst, int64(len(got))))
		d.Note(noteParts, hashes(got, append(slices.Clone(w.sizes), room-w.total())))
	})
	return func(code Code, w workload) error {
		defer func() {
			for _, part := range parts {
				clear(part)
			}
		}()
		return code.Upload(d.streams[0], dst, staging, suite.GivenOf(d.Stage, "parts", parts, oneSlice))
	}
}

// oneSlice reports whether two slices are of the same bytes, in the same memory.
func oneSlice(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// noteParts is the note of what Upload has left at dst, a number for each part and one for what is behind them.
const noteParts = "parts"

// hashes are numbers that stand for parts of some sizes, one behind the other.
func hashes(bytes []byte, sizes []int) (all []uint64) {
	for _, size := range sizes {
		all = append(all, hashed(bytes[:size]))
		bytes = bytes[size:]
	}
	return all
}

func setWeights(d *desk, w workload) func(Code, workload) error {
	dst := d.memory(w.total())
	out := d.Results(1).At(0)
	return func(code Code, w workload) error {
		bytes := cuda.Pageable(w.parts()[0])
		defer clear(bytes)
		return code.Weights(d.streams[0], dst, bytes, out)
	}
}

func setPingPong(d *desk, w workload) func(Code, workload) error {
	blocks := [2]cuda.DevicePtr{d.memory(4 * w.n), d.memory(4 * w.n)}
	out := d.Results(w.steps).At(0)
	return func(code Code, w workload) error {
		return code.PingPong(d.streams[0], d.streams[1], blocks, w.n, w.work, w.steps, out)
	}
}

func setMerge(d *desk, w workload) func(Code, workload) error {
	data, other := d.filled(0, 0), d.memory(4*w.n)
	wantOther, wantData := d.filled(1, w.work), d.filled(2, w.work)
	out := d.Results(3)
	d.Later(func() {
		d.compare(d.streams[0], other, wantOther, out.At(1))
		d.compare(d.streams[2], data, wantData, out.At(2))
	})
	return func(code Code, w workload) error {
		return code.Merge(d.streams[0], d.streams[1], d.streams[2], data, other, w.n, w.work, out.At(0))
	}
}

func setReplace(d *desk, w workload) func(Code, workload) error {
	data, want := d.filled(0, 0), d.filled(1, w.work)
	out := d.Results(2)
	var fresh cuda.Stream
	d.Later(func() {
		d.compare(fresh, data, want, out.At(1))
		if cuda.StreamDestroy(fresh) != nil {
			d.Note(noteRefused, nil)
		}
	})
	return func(code Code, w workload) (err error) {
		fresh, err = code.Replace(d.streams[0], data, w.n, w.work, out.At(0))
		return err
	}
}

func setAllocate(d *desk, w workload) func(Code, workload) error {
	zeros := d.memory(4 * w.n)
	d.Bench.Must(cuda.Memset(zeros, 0, int64(4*w.n)))
	count := d.Results(1).At(0)
	var p cuda.DevicePtr
	d.Later(func() {
		if p == 0 {
			return
		}
		user := d.streams[1]
		d.compare(user, p, zeros, count)
		if kernels.FillItem(grid(w.n), block, user, p, w.n, 1, 0) != nil || cuda.FreeAsync(p, user) != nil {
			d.Note(noteRefused, nil)
		}
	})
	return func(code Code, w workload) (err error) {
		p, err = code.Allocate(d.streams[0], d.streams[1], w.n)
		return err
	}
}

func setSnapshot(d *desk, w workload) func(Code, workload) error {
	dst, src := d.memory(4*w.n), d.memory(4*w.n)
	wantDst, wantSrc := d.filled(w.item, maxWork), d.filled(w.item+1, 0)
	out, s := d.Results(2), d.streams[0]
	d.earlier = func() {
		d.Bench.Must(kernels.FillItem(grid(w.n), block, s, src, w.n, w.item, maxWork))
	}
	d.Later(func() {
		d.compare(s, dst, wantDst, out.At(0))
		d.compare(s, src, wantSrc, out.At(1))
	})
	return func(code Code, w workload) error { return code.Snapshot(s, dst, src, w.n, w.item+1) }
}

func setScratch(d *desk, w workload) func(Code, workload) error {
	out, a := d.Results(1).At(0), d.streams[0]
	d.earlier = func() { d.Busy(a, shortDelay) }
	d.Later(func() {
		d.Busy(a, shortDelay)
		// What a has just freed is the first to be handed out again.
		p, err := cuda.MallocAsync(int64(4*w.n), a)
		d.Bench.Must(err)
		d.Bench.Must(cuda.MemsetAsync(p, suite.Poison, int64(4*w.n), a))
		d.Bench.Must(cuda.FreeAsync(p, a))
	})
	return func(code Code, w workload) error { return code.Scratch(a, d.streams[1], w.n, w.work, out) }
}
