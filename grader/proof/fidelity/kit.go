package fidelity

import (
	"math"

	"cudalab/grader/suite"
	"cudalab/kernels"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
)

const (
	kib = 1 << 10
	mib = 1 << 20
	// keepAll is the release threshold of a pool that gives nothing back.
	keepAll = math.MaxUint64
)

// kit is what programs are made of: CUDA's calls, the first of which that fails ends the program, and what they make
// for as long as the program lasts.
type kit struct {
	*suite.Bench
	undo []func() error
}

// giveBack frees and destroys what the program was lent, the last first.
func (k *kit) giveBack() {
	k.Must(cuda.DeviceSynchronize())
	for i := len(k.undo) - 1; i >= 0; i-- {
		k.Must(k.undo[i]())
	}
}

func (k *kit) later(undo func() error) { k.undo = append(k.undo, undo) }

// got is a call's result.
func got[T any](k *kit) func(T, error) T {
	return func(v T, err error) T {
		k.Must(err)
		return v
	}
}

// streams lends non-blocking streams.
func (k *kit) streams(n int) []cuda.Stream {
	all := make([]cuda.Stream, n)
	for i := range all {
		s := got[cuda.Stream](k)(cuda.StreamCreateWithFlags(cuda.StreamNonBlocking))
		k.later(func() error { return cuda.StreamDestroy(s) })
		all[i] = s
	}
	return all
}

func (k *kit) stream() cuda.Stream { return k.streams(1)[0] }

// event lends an event that only orders.
func (k *kit) event() cuda.Event { return k.eventWith(cuda.EventDisableTiming) }

func (k *kit) eventWith(flags uint32) cuda.Event {
	e := got[cuda.Event](k)(cuda.EventCreateWithFlags(flags))
	k.later(func() error { return cuda.EventDestroy(e) })
	return e
}

// memory lends device memory.
func (k *kit) memory(size int64) cuda.DevicePtr {
	p := got[cuda.DevicePtr](k)(cuda.Malloc(size))
	k.later(func() error { return cuda.Free(p) })
	return p
}

// pinned lends pinned host memory.
func (k *kit) pinned(size int64) cuda.HostBuffer {
	h := got[cuda.HostBuffer](k)(cuda.MallocHost(size))
	k.later(func() error { return cuda.FreeHost(h) })
	return h
}

// pageable is host memory that the operating system has given already.
func (k *kit) pageable(size int64) cuda.Pageable {
	memory := make(cuda.Pageable, size)
	for i := range memory {
		memory[i] = byte(i)
	}
	return memory
}

// pool lends a pool with a release threshold.
func (k *kit) pool(threshold uint64) cuda.MemPool {
	p := got[cuda.MemPool](k)(cuda.MemPoolCreate(cuda.MemPoolProps{}))
	k.Must(cuda.MemPoolSetAttribute(p, cuda.MemPoolAttrReleaseThreshold, threshold))
	k.later(func() error { return cuda.MemPoolDestroy(p) })
	return p
}

func (k *kit) alloc(size int64, pool cuda.MemPool, s cuda.Stream) cuda.DevicePtr {
	return got[cuda.DevicePtr](k)(cuda.MallocFromPoolAsync(size, pool, s))
}

func (k *kit) free(p cuda.DevicePtr, s cuda.Stream) { k.Must(cuda.FreeAsync(p, s)) }

// wait waits for streams, one after the other.
func (k *kit) wait(streams ...cuda.Stream) {
	for _, s := range streams {
		k.Must(cuda.StreamSynchronize(s))
	}
}

// short launches a kernel that is over at once, on 128 bytes.
func (k *kit) short(s cuda.Stream, p cuda.DevicePtr) { k.Must(kernels.Process(1, 32, s, p, 32, 2, 0)) }

// long launches a kernel on 16 KiB that takes 16 blocks, a fraction of a GPU, some 15 ns for each of so many rounds.
func (k *kit) long(s cuda.Stream, p cuda.DevicePtr, rounds int) {
	k.Must(kernels.Process(16, 256, s, p, 4096, 2, rounds))
}

// delay launches a kernel of one thread, which spins for so many nanoseconds.
func (k *kit) delay(s cuda.Stream, nanos int64) { k.Must(probe.Delay(s, nanos)) }

// process launches a kernel that has a thread for each element.
func (k *kit) process(s cuda.Stream, p cuda.DevicePtr, elements, rounds int) {
	k.Must(kernels.Process((elements+255)/256, 256, s, p, elements, 2, rounds))
}

// edge has what comes next in to wait for what is in from by now.
func (k *kit) edge(e cuda.Event, from, to cuda.Stream) {
	k.Must(cuda.EventRecord(e, from))
	k.Must(cuda.StreamWaitEvent(to, e))
}
