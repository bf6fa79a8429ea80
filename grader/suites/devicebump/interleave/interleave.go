// Package interleave runs what threads do to one shared word in every order of their operations, and says in words
// where an order comes out wrong: a test run takes one order of millions, and the wrong one comes on another day.
//
// The code under test is devicebump's Alloc and AllocWarp. A Program is so many threads that call them, each one call
// behind the other. What a call does next depends on nothing but the answers it has had, so each call is carried out
// once for each row of answers, from its beginning, and stopped where a further operation would be the next; Explore
// then puts these together in every order, one operation at a time, shortest first. Two orders that come to the same
// word, with the same answers behind every call, go on alike and are gone on with once. That a call depends on nothing
// else is looked after: see NotRepeatable.
//
// In the end each order is held against the rule that the calls one behind the other, in some order that has those
// first that were over before others began, would have had the same answers and left the same word (Herlihy and Wing's
// linearizability).
package interleave

import "cudalab/exercises/contract"

// Code is what threads call.
type Code struct {
	Alloc     func(w contract.Word, capacity, size uint64) (offset uint64, ok bool)
	AllocWarp func(w contract.Word, capacity uint64, sizes, offsets []uint64)
}

// Request is one call: of Alloc with one size, or of AllocWarp.
type Request struct {
	Sizes []uint64
	Warp  bool
}

// One is a call of Alloc.
func One(size uint64) Request { return Request{Sizes: []uint64{size}} }

// Warp is a call of AllocWarp.
func Warp(sizes ...uint64) Request { return Request{Sizes: sizes, Warp: true} }

// Program is threads that take memory from the same bytes, each with one request behind the other.
type Program struct {
	Capacity uint64
	Taken    uint64 // at the beginning
	Threads  [][]Request
}

// requests is how many calls there are in all, and first the number of each thread's first.
func (p *Program) requests() (all []Request, first []int) {
	for _, thread := range p.Threads {
		first = append(first, len(all))
		all = append(all, thread...)
	}
	return all, first
}

// maxRequests bounds the calls of a program: a set of them is the bits of a number.
const maxRequests = 32

// Kind is what an operation does.
type Kind uint8

// The operations of contract.Word.
const (
	Load Kind = iota + 1
	Add
	CompareAndSwap
)

// Op is one operation on the word.
type Op struct {
	Kind           Kind
	Compare, Value uint64
}

// after is what stands in the word behind the operation.
func (o Op) after(word uint64) uint64 {
	switch {
	case o.Kind == Add:
		return word + o.Value
	case o.Kind == CompareAndSwap && word == o.Compare:
		return o.Value
	}
	return word
}

// Step is one operation in an order, or a call that makes none.
type Step struct {
	Thread  int
	Request int // the number of the call, of all
	Op      Op  // its Kind is 0 where the call makes none
	Answer  uint64
	Last    bool // the call is over behind it
	// Line is where the operation stands in the code, and Returned where the call has returned behind it; 0 where that is
	// not known.
	Line, Returned int
}

// Limits of a call, as the lesson's contract has them.
const (
	Alone = 16 // operations within which a call ends that is left alone
	free  = 2  // operations of a call in any case
	each  = 2  // further ones for each change by others
)

// poison is what stands in AllocWarp's offsets before the call.
const poison = 0xA5A5A5A5A5A5A5A5
