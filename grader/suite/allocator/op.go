// Package allocator is the lesson kit for exercises that ask for an allocator. A lesson declares what New is called with,
// a Model of what the allocator has to answer, and sequences of operations; a Lab makes trials of them, and Good trials make
// parts. What is alike in all allocators is written here once: random sequences, shrunk where they find a fault, what is left
// behind when CUDA calls fail, arguments that have to be refused, and what a block costs among few and among many.
//
// Random sequences find the faults that a handful of examples does not; one that found a fault is shrunk to the shortest
// that still does, so that a student reads "allocate 300, free #1, free #1 again" and not two hundred operations.
//
// In the runner a Runner carries sequences out and notes the answers; with the Model it knows which to shrink. In cudalab
// the answers are read back and the same Model judges them: the verdict rests on what was noted alone.
package allocator

import (
	"fmt"
	"strings"

	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// Kind is what an operation does.
type Kind uint8

// The kinds of operations.
const (
	KindAlloc       Kind = iota + 1 // Alloc(Size)
	KindFree                        // Free of the address that block Block got
	KindFreeInside                  // Free of the address Size bytes behind the start of block Block
	KindFreeUnknown                 // Free of the address Size, which was never handed out
	KindFreeNull                    // Free of address 0
	KindReset                       // Reset, where the allocator has it
	KindClose                       // Close
	KindOnFull                      // OnFull with a function that does what Size says, where the allocator has it; see Full
	KindForget                      // Forget(Stream), where the allocator has it
	KindTrim                        // Trim(Size), where the allocator has it

	// What is not the allocator's to do, but its caller's.
	KindWait    // StreamSynchronize(Stream)
	KindIdle    // DeviceSynchronize
	KindBusy    // keep Stream busy for a while
	KindDestroy // StreamDestroy(Stream)

	kinds
)

// Op is one operation.
type Op struct {
	Kind Kind
	// Stream is the one that is named to an allocator that hands blocks out in the order of streams.
	Stream Stream
	Size   int64 // bytes; of KindFreeUnknown the address
	Block  int   // of KindFree and KindFreeInside; of KindAlloc the tag that the block is to go under, or 0; see AllocAs
}

// Alloc asks for a block. The blocks of a sequence are numbered by its Allocs, from 1, whether they succeed or not.
func Alloc(size int64) Op { return Op{Kind: KindAlloc, Size: size} }

// Trim gives back memory that is wholly free, with so many bytes still held.
func Trim(keep int64) Op { return Op{Kind: KindTrim, Size: keep} }

// Free gives a block back.
func Free(block int) Op { return Op{Kind: KindFree, Block: block} }

// FreeInside frees an address so many bytes behind where a block begins.
func FreeInside(block int, offset int64) Op {
	return Op{Kind: KindFreeInside, Block: block, Size: offset}
}

// FreeUnknown frees an address that was never handed out.
func FreeUnknown(address int64) Op { return Op{Kind: KindFreeUnknown, Size: address} }

// The operations that are always the same.
var (
	FreeNull  = Op{Kind: KindFreeNull}
	FreeNever = FreeUnknown(0x1234) // no address that anyone hands out: it is not even aligned
	Reset     = Op{Kind: KindReset}
	Close     = Op{Kind: KindClose}
)

// Allocator is the code under test. Free(cuda.DevicePtr) error and Reset() error are called where it has them.
type Allocator interface {
	Alloc(size int64) (cuda.DevicePtr, error)
	Close() error
}

type freer interface{ Free(cuda.DevicePtr) error }

type resetter interface{ Reset() error }

type trimmer interface{ Trim(keep int64) error }

// Subject is an allocator with its account of itself.
type Subject struct {
	Allocator interface{ Close() error } // an Allocator, or an InStreams
	// Stats is the allocator's Stats as numbers, in an order of the lesson's choice; nil if they are not to be noted.
	Stats func() []int64
	// Seen, where not nil, is asked behind each operation, with its error, what the grader has seen of it: numbers, in an order of
	// the lesson's choice.
	Seen func(error) []int64
	Size int64          // in bytes, of the blocks of an allocator whose Alloc is given none
	Base cuda.DevicePtr // where its memory begins, for a Proof; 0 where that is not known, or does not matter
	// Student, where not nil, is the student's own, whose methods are at fault where the Allocator only passes calls on to it. Such
	// an Allocator sees to its blocks itself: they are neither noted in the trace nor given to a User.
	Student any
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
	Faulted // the error of a CUDA call that was made to fail; see Good.Cleanup
	ErrArgument
)

var errNames = [...]string{Nil: "nil", ErrSize: "contract.ErrSize", ErrFull: "contract.ErrFull",
	ErrInvalidFree: "contract.ErrInvalidFree", ErrClosed: "contract.ErrClosed", ErrOther: "another error",
	ErrSeveral: "several of the contract's errors at once", Gap: "a TODO",
	Panic: "a panic", Skipped: "nothing", Faulted: "the error of a call that was made to fail", ErrArgument: "contract.ErrArgument"}

// String is the error's name as in package contract.
func (e Err) String() string {
	if int(e) < len(errNames) {
		return errNames[e]
	}
	return "an unknown answer"
}

// Answer is what one operation came back with. There are hundreds of thousands at the scale that is timed, and most have no
// Details of their own: they share them.
type Answer struct {
	Err     Err
	Addr    uint64   // the address that Alloc handed out, or that Free was given
	details *Details // nil: none
}

// Details are what else there is to an Answer.
type Details struct {
	Text  string     // the error's own; "" without one
	Stats []int64    // the Subject's, after the operation; nil where it was not asked
	Seen  []int64    // the Subject's, of the operation
	Site  trace.Site // the method that answered; empty where that is not known
}

// With is the answer with these Details.
func (a Answer) With(d Details) Answer {
	a.details = &d
	return a
}

// Details are the answer's.
func (a Answer) Details() Details {
	if a.details == nil {
		return Details{}
	}
	return *a.details
}

// Stats are the Subject's, after the operation; nil where it was not asked.
func (a Answer) Stats() []int64 {
	if a.details == nil {
		return nil
	}
	return a.details.Stats
}

// Seen is what was seen of the operation.
func (a Answer) Seen() []int64 { return a.Details().Seen }

// Says is the answer in words: "contract.ErrFull", or the text of an error that is none of the contract's.
func (a Answer) Says() string {
	if a.Err == ErrOther {
		return "this error: " + strings.TrimSuffix(strings.ReplaceAll(a.Details().Text, "\n", "; "), ".")
	}
	return a.Err.String()
}

// InsteadOf says what an answer should have been: "should have returned contract.ErrFull, but it returned nil".
func (a Answer) InsteadOf(want Err) string {
	return fmt.Sprintf("should have returned %v, but it returned %s", want, a.Says())
}
