// Package sequence drives an allocator through sequences of operations and judges what it answered. Random sequences
// find the faults that a handful of examples does not; a sequence that found one is shrunk to the shortest that still
// does, so that a student reads "allocate 300, free #1, free #1 again" and not two hundred operations.
//
// Like every suite it has two halves. In the runner a Runner carries sequences out and notes the answers; with the
// lesson's Model it knows which to shrink. In cudalab Failures reads the answers back and has the same Model judge
// them: the verdict rests on what was noted alone.
package sequence

import (
	"strings"

	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// Kind is what an operation does.
type Kind uint8

// The operations. The blocks of a sequence are numbered by its Allocs, from 1, whether they succeed or not.
const (
	Alloc       Kind = iota + 1 // Alloc(Size)
	Free                        // Free of the address that block Block got
	FreeInside                  // Free of the address Size bytes behind the start of block Block
	FreeUnknown                 // Free of the address Size, which was never handed out
	FreeNull                    // Free of address 0
	Reset                       // Reset, where the allocator has it
	Close                       // Close
)

// Op is one operation.
type Op struct {
	Kind  Kind
	Size  int64 // bytes; of FreeUnknown the address
	Block int   // of Free and FreeInside
}

// Allocator is the code under test. Free(cuda.DevicePtr) error and Reset() error are called where it has them.
type Allocator interface {
	Alloc(size int64) (cuda.DevicePtr, error)
	Close() error
}

type freer interface{ Free(cuda.DevicePtr) error }

type resetter interface{ Reset() error }

// Subject is an allocator with its account of itself.
type Subject struct {
	Allocator Allocator
	// Stats is the allocator's Stats as numbers, in an order of the suite's choice; nil if they are not to be noted.
	Stats func() []int64
}

// Err is which of the contract's errors an operation was answered with.
type Err uint8

// What an operation came back with. Skipped is one that was not carried out: a Free of a block that the allocator had
// refused to hand out.
const (
	Nil Err = iota
	ErrSize
	ErrFull
	ErrInvalidFree
	ErrClosed
	ErrOther   // an error, but none of the contract's
	ErrSeveral // an error that is several of the contract's at once
	Gap        // contract.TODO; the sequence ends there
	Panic      // no answer at all; the sequence ends there
	Skipped
)

var errNames = [...]string{Nil: "nil", ErrSize: "contract.ErrSize", ErrFull: "contract.ErrFull",
	ErrInvalidFree: "contract.ErrInvalidFree", ErrClosed: "contract.ErrClosed", ErrOther: "another error",
	ErrSeveral: "several of the contract's errors at once", Gap: "a TODO",
	Panic: "a panic", Skipped: "nothing"}

// String is the error's name as in package contract.
func (e Err) String() string {
	if int(e) < len(errNames) {
		return errNames[e]
	}
	return "an unknown answer"
}

// Answer is what one operation came back with.
type Answer struct {
	Err   Err
	Text  string     // the error's own text; "" without one
	Addr  uint64     // the address that Alloc handed out, or that Free was given
	Stats []int64    // the Subject's, after the operation
	Site  trace.Site // the method that answered; empty where that is not known
}

// Says is the answer in words: "contract.ErrFull", or the text of an error that is none of the contract's.
func (a Answer) Says() string {
	if a.Err == ErrOther {
		return "this error: " + strings.TrimSuffix(strings.ReplaceAll(a.Text, "\n", "; "), ".")
	}
	return a.Err.String()
}

// Hooks lets a suite do with the blocks what their user would. Each is called with the block's number, address and size
// as asked for, and may be nil. They are the grader's own code: their CUDA calls are not the student's.
type Hooks struct {
	Allocated func(block int, at cuda.DevicePtr, size int64) // a block was handed out
	// Freeing comes before a live block is freed, or given back by Reset or Close. When it returns, the device must be
	// through with the block.
	Freeing func(block int, at cuda.DevicePtr, size int64)
}
