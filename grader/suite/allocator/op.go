// Package allocator is the lesson kit for exercises that ask for an allocator. A lesson declares what New is called
// with, a Model of what the allocator has to answer, and sequences of operations; a Lab makes trials of them, and Good
// trials make parts. What is alike in all allocators is written here once: random sequences, shrunk where they find a
// fault, what is left behind when CUDA calls fail, arguments that have to be refused, and what a block costs among few
// and among many.
//
// Random sequences find the faults that a handful of examples does not; one that found a fault is shrunk to the
// shortest that still does, so that a student reads "allocate 300, free #1, free #1 again" and not two hundred
// operations.
//
// In the runner a Runner carries sequences out and notes the answers; with the Model it knows which to shrink. In
// cudalab the answers are read back and the same Model judges them: the verdict rests on what was noted alone.
package allocator

import (
	"cudalab/native/cuda"
	"reflect"
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
	KindOwn                         // what the lesson has beside these; see Own
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
	Block  int   // of KindFree and KindFreeInside
	Own    Own   // nil: the operation is the kit's
}

// Own is what a lesson does in operations in place of the kit, by their numbers alone.
type Own interface {
	Do(allocator any, op Op) (cuda.DevicePtr, error) // a KindAlloc or KindOwn
	Words(op Op) string                              // "": as the kit says
	// Method is what a KindOwn calls. It spells its name out: looking a method up by a variable would keep every method
	// of the program alive.
	Method(t reflect.Type) (m reflect.Method, ok bool)
	MethodName() string
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
	// Seen, where not nil, is asked behind each operation, with its error, what the grader has seen of it: numbers, in an
	// order of the lesson's choice.
	Seen func(error) []int64
	Size int64          // in bytes, of the blocks of an allocator whose Alloc is given none
	Base cuda.DevicePtr // where its memory begins, for a Proof; 0 where that is not known, or does not matter
	// Student, where not nil, is the student's own, whose methods are at fault where the Allocator only passes calls on to
	// it. Such an Allocator sees to its blocks itself: they are neither noted in the trace nor given to a User.
	Student any
}
