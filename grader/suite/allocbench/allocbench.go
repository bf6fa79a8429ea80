// Package allocbench is the workloads by which allocators are compared with each other and with CUDA's own calls: one
// size, random sizes with many blocks out, two streams in turns, and all blocks at once. They are those of RMM's
// benchmark of allocators in spirit, so that figures can stand beside each other.
package allocbench

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
)

// Allocator is what is compared.
type Allocator interface {
	Alloc(size int64) (cuda.DevicePtr, error)
	Free(p cuda.DevicePtr) error
	Close() error
}

// Make makes an allocator that can hold so many blocks at a time, each of between least and largest bytes. All three
// are powers of two, least and largest at least 256.
type Make func(least, largest int64, blocks int) (Allocator, error)

// The sizes of the workloads, in bytes.
const (
	pairSize = 64 << 10
	least    = 256
	largest  = 1 << 20
)

// How many blocks there are.
const (
	liveBlocks = 128 // room for mostLive of the largest size, in a power of two
	mostLive   = 100
	allBlocks  = 1024
)

// Operations in one batch. A call of the host's alone takes some ten nanoseconds, one that reaches the device's memory
// some ten microseconds.
const (
	hostBatch   = 4096
	asyncBatch  = 1024
	mallocBatch = 128
)

// The contenders that need no allocator. The last is what an allocator's lesson argues against.
const (
	mallocAsync = "cuda.MallocAsync"
	malloc      = "cuda.Malloc (baseline)"
)

// maker is an implementation under its name.
type maker struct {
	name string
	make Make
}

// trial is a benchmark in which the implementations contend with each other, by what of makes with them, and with
// CUDA's own calls.
func trial[Code any](id string, m suite.Benchmark, of func(Code) Make, drive func(field)) suite.Trial[Code] {
	return suite.Trial[Code]{ID: id, Benchmark: m, Drive: func(b *suite.Bench, sides suite.Sides[Code]) {
		makers := []maker{{verdict.Yours, of(sides.Student)}}
		if sides.Solution != nil {
			makers = append(makers, maker{verdict.Solution, of(*sides.Solution)})
		}
		drive(field{b, makers})
	}}
}

// Benchmarks are all workloads.
func Benchmarks[Code any](of func(Code) Make) []suite.Trial[Code] {
	return append(Pairs("", of), Growth(of), Bookkeeping(of))
}

// Pairs are the workloads in which every block is freed. note has to be known to read the figures.
func Pairs[Code any](note string, of func(Code) Make) []suite.Trial[Code] {
	const pair = "allocation and free"
	streams := "Only cuda.MallocAsync knows of streams; the others do the same without."
	if note != "" {
		streams += " " + note
	}
	return []suite.Trial[Code]{
		trial("same-size", suite.Benchmark{Name: "same size, " + size(pairSize), Operation: pair, Note: note}, of,
			func(f field) { f.pairs(1, sameSize) }),
		trial("random-mix", suite.Benchmark{Operation: pair, Note: note,
			Name: fmt.Sprintf("random mix, %s to %s with up to %d out", size(least), size(largest), mostLive)}, of,
			func(f field) {
				mix := drawMix(f.b.Rand(), hostBatch)
				f.pairs(1, mix.carryOut)
			}),
		trial("alternating-streams", suite.Benchmark{Name: "alternating streams, " + size(pairSize), Operation: pair,
			Note: streams}, of,
			func(f field) { f.pairs(2, sameSize) }),
	}
}

// Growth is the workload that only allocates.
func Growth[Code any](of func(Code) Make) suite.Trial[Code] {
	return trial("growth", suite.Benchmark{
		Name: fmt.Sprintf("growth from nothing to %d blocks of %s", allBlocks, size(pairSize)), Operation: "allocation",
		Note: "The allocators have their memory from New, which is not in the time, and the pool of cuda.MallocAsync keeps " +
			"its own.",
	}, of, field.growth)
}

// Bookkeeping weighs what the implementations keep on the host.
func Bookkeeping[Code any](of func(Code) Make) suite.Trial[Code] {
	return trial("bookkeeping", suite.Benchmark{
		Name: fmt.Sprintf("bookkeeping on the host for %d blocks", weighedBlocks), Operation: "block",
	}, of, func(f field) { measureBookkeeping(f.b, f.makers) })
}

// size is a number of bytes in words.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// weighedBlocks is how many blocks the bookkeeping is spread over.
const weighedBlocks = 1 << 14

// measureBookkeeping notes what each implementation keeps on the host for a block when all are handed out.
func measureBookkeeping(b *suite.Bench, makers []maker) {
	for _, m := range makers {
		var a Allocator
		b.Bookkeeping(m.name, weighedBlocks, func() (any, error) {
			var err error
			if a, err = m.make(least, least, weighedBlocks); err != nil {
				return nil, err
			}
			for range weighedBlocks {
				if _, err := a.Alloc(least); err != nil {
					return a, err
				}
			}
			return a, nil
		})
		if a != nil {
			b.Must(cuda.DeviceSynchronize())
			b.Call(m.name, a.Close)
		}
	}
}
