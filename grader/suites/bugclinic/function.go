package bugclinic

import (
	"math/rand/v2"

	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
)

// function is one of the eight, and all that is asked about it.
type function struct {
	name, gap string
	streams   []string // what the student calls its streams; the caller's first
	own       int      // how many of them, the last, the function itself makes
	id        string   // of its check, and of its trial
	claim     string   // which a pass makes true
	pass      string
	fixes     map[string]string // what mends it, by the rule of a finding whose own advice would not
	idle      int               // how many calls are made on idle streams
	draw      func(r *rand.Rand, i int) workload
	far       func(*rand.Rand) []workload // calls with numbers from all over their domains
	real      bool                        // these are computed, since what they cost is memory of the machine
	small     workload                    // in which every CUDA call fails once, or one like it
	set       func(*desk, workload) func(Code, workload) error
	steps     func(call) []verdict.Finding // finds what is not done as the function's comment says
	overlap   func(call) []verdict.Finding // finds what waits and need not; nil where nothing could
}

// made reports whether a stream is one that the function itself makes.
func (f *function) made(stream int) bool { return stream >= len(f.streams)-f.own }

// The functions, in their order.
var (
	upload = &function{name: "Upload", gap: "1a", streams: []string{"s"}, id: "upload",
		claim: "staging is written only where no copy is pending",
		pass:  "Each part is where it belongs, however late the copies are.",
		fixes: map[string]string{
			"host-race": "Write each part to a place of its own in staging: what no pending copy reads may be written at " +
				"any time.",
			"host-wait": "Leave it out: where each part has a place of its own in staging, there is nothing to wait for.",
		},
		idle: 4, draw: partsOf, far: partsFar, real: true,
		small: workload{sizes: []int{700, 300}}, set: setUpload, steps: uploadSteps}
	weights = &function{name: "Weights", gap: "2a", streams: []string{"s"}, id: "weights",
		claim: "the weights are there before they are read", pass: "The digest comes after the copy.",
		idle: 4, draw: weightsOf, far: weightsFar, real: true,
		small: workload{sizes: []int{400}}, set: setWeights, steps: weightsSteps}
	pingPong = &function{name: "PingPong", gap: "3a", streams: []string{"a", "b"}, id: "ping-pong",
		claim: "a block is filled only when it was digested",
		pass:  "Each block goes there and back, and the other one is at work meanwhile.",
		idle:  4, draw: stepsOf, far: stepsFar,
		small: workload{n: 50, work: 3, steps: 3}, set: setPingPong, steps: pingPongSteps, overlap: pingPongOverlap}
	merge = &function{name: "Merge", gap: "4a", streams: []string{"a", "b", "c"}, id: "merge",
		claim: "who is given memory comes after its last reader", pass: "c comes after b, and not after a's work on other.",
		idle: 2, draw: words, far: wordsFar,
		small: workload{n: 50, work: 3}, set: setMerge, steps: mergeSteps, overlap: mergeOverlap}
	replace = &function{name: "Replace", gap: "5a", streams: []string{"old", "fresh"}, own: 1, id: "replace",
		claim: "the new stream comes after the old one's work",
		pass:  "The new stream comes after the old one, which is gone.",
		idle:  2, draw: words, far: wordsFar,
		small: workload{n: 50, work: 3}, set: setReplace, steps: replaceSteps}
	allocate = &function{name: "Allocate", gap: "6a", streams: []string{"owner", "user"}, id: "allocate",
		claim: "what is said to be ready is ready", pass: "Whatever is enqueued in user comes after the zeros.",
		idle: 2, draw: words, far: wordsFar,
		small: workload{n: 50}, set: setAllocate, steps: allocateSteps}
	snapshot = &function{name: "Snapshot", gap: "7a", streams: []string{"s"}, id: "snapshot",
		claim: "the copy is of what was there", pass: "The copy comes after the work before it, and before the work " +
			"behind it.",
		idle: 2, draw: words, far: wordsFar,
		small: workload{n: 50}, set: setSnapshot, steps: snapshotSteps}
	scratch = &function{name: "Scratch", gap: "8a", streams: []string{"a", "b"}, id: "scratch",
		claim: "memory lives where it is used", pass: "The memory comes and goes in b, and a goes its own way.",
		fixes: map[string]string{
			"use-before-alloc": "Allocate in b, where the memory is used: a is not to have anything to do with it.",
			"free-before-use":  "Free in b, where the memory is used: a is not to have anything to do with it.",
		},
		idle: 2, draw: words, far: wordsFar,
		small: workload{n: 50, work: 3}, set: setScratch, steps: scratchSteps, overlap: scratchOverlap}
)

var functions = []*function{upload, weights, pingPong, merge, replace, allocate, snapshot, scratch}

// Code is the functions that the exercise asks for.
type Code struct {
	Upload   Upload
	Weights  Weights
	PingPong PingPong
	Merge    Merge
	Replace  Replace
	Allocate Allocate
	Snapshot Snapshot
	Scratch  Scratch
}

// The functions of the exercise.
type (
	Upload   func(s cuda.Stream, dst cuda.DevicePtr, staging cuda.HostBuffer, parts [][]byte) error
	Weights  func(s cuda.Stream, dst cuda.DevicePtr, weights cuda.Pageable, out cuda.DevicePtr) error
	PingPong func(a, b cuda.Stream, blocks [2]cuda.DevicePtr, n, work, steps int, out cuda.DevicePtr) error
	Merge    func(a, b, c cuda.Stream, data, other cuda.DevicePtr, n, work int, out cuda.DevicePtr) error
	Replace  func(old cuda.Stream, data cuda.DevicePtr, n, work int, out cuda.DevicePtr) (fresh cuda.Stream, err error)
	Allocate func(owner, user cuda.Stream, n int) (cuda.DevicePtr, error)
	Snapshot func(s cuda.Stream, dst, src cuda.DevicePtr, n int, item uint32) error
	Scratch  func(a, b cuda.Stream, n, work int, out cuda.DevicePtr) error
)

// Of is the exercise's code.
func Of(upload Upload, weights Weights, pingPong PingPong, merge Merge, replace Replace, allocate Allocate,
	snapshot Snapshot, scratch Scratch) Code {
	return Code{upload, weights, pingPong, merge, replace, allocate, snapshot, scratch}
}
