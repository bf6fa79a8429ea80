// Package tracker is the suite of the tracker lesson: the allocators that are wrapped, what is done with a tracker, the
// model of what it must answer, and what is asked.
package tracker

import (
	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
)

// Tracker is what the exercise asks for.
type Tracker interface {
	Alloc(size int64, tag string) (cuda.DevicePtr, error)
	Free(p cuda.DevicePtr) error
	OnFull(f func(size int64) bool)
	Report() contract.MemoryReport
}

// Make makes a tracker, as tracker.Wrap does.
type Make func(inner contract.Allocator, memory cuda.DevicePtr, bytes, limit int64) (Tracker, error)

// Of is an implementation's Wrap, whatever it calls its tracker.
func Of[T Tracker](f func(contract.Allocator, cuda.DevicePtr, int64, int64) (T, error)) Make {
	return func(inner contract.Allocator, memory cuda.DevicePtr, bytes, limit int64) (Tracker, error) {
		t, err := f(inner, memory, bytes, limit)
		return allocator.OrNil[Tracker](t), err
	}
}

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Make]{
	Name:      "tracker",
	Functions: []string{"Wrap"},
	Parts: []suite.Part[Make]{
		arguments,
		scale.Also(good.Telling(good.Part(ofAccount, "the account is right after every call",
			"After every call the report told what was live, the most that ever was, and what had failed.", nil))),
		scale.Also(good.Part(ofGaps, "the free memory is told as it is torn",
			"After every call the report told what was free, in how long a stretch, and how torn.", nil)),
		scale.Also(good.Part(ofGroups, "sizes, tags and blocks are told apart, and a report is its caller's own",
			"After every call the report told sizes, tags and blocks apart, in their order, and no report changed later.", nil)),
		scale.Calls(scale.Also(suite.Part[Make]{Cases: good.Trials(), Question: suite.Question{ID: ofErrors,
			Name: "each mistake gets its own error, and only the allocator below is asked", Judge: judgeErrors}})),
		scale.Also(good.Part(ofFull, "where there is no room, there is one chance to make some",
			"Limit and allocator were asked in their order, and OnFull's function once, whatever it did.", nil)),
		cost.Part(),
	},
	Benchmarks: benchmarks,
}

// The gaps behind which the trials come to their end.
const (
	calling   = "1f" // all but Report is written
	reporting = "1h"
)

// The parts that the model finds faults of.
const (
	ofAccount = "account" // what is counted
	ofGaps    = "gaps"    // what is said of the free memory
	ofGroups  = "groups"  // sizes, tags and blocks
	ofErrors  = "errors"  // which error a call answers, and whether the allocator below is asked
	ofFull    = "full"    // what becomes of an Alloc for which there is no room
)

var lab = &allocator.Lab[Make, layout]{
	New:   newSubject,
	Maker: "Wrap",
	Model: newModel,
	Parts: []string{ofFull, ofErrors, ofAccount, ofGaps, ofGroups},
	Between: allocator.Between{Why: ofCUDA.Why, New: &ofCUDA,
		Fix: "Ask inner for blocks, and keep all that is known of them on the host, however many there are."},
}

// ofCUDA is said of every call of CUDA's, wherever it is made.
var ofCUDA = suite.Rule{ID: "cuda-call",
	Why: "The tracker goes around any allocator, whose memory is somebody else's to get, to write and to give back.",
	Fix: "Ask inner for blocks, and keep all that is known of them on the host."}

var good = allocator.Good[Make, layout]{
	lab.Steps("calls", calling, allocator.Fixed(calls()...)),
	lab.Steps("examples", reporting, allocator.Fixed(examples()...)),
	lab.Steps("callbacks", reporting, allocator.Fixed(callbacks()...)),
	lab.Steps("refusing", reporting, allocator.Fixed(refusing()...)),
	lab.Steps("random", reporting, drawn),
}

// scale are the trials with more blocks, tags and bytes than small numbers can hold, and with numbers from all over
// their domains.
var scale = lab.Steps("scale", reporting, large).Large(good).
	Beside(lab.Steps("far", reporting, far).Large(good).Abreast())

func judgeErrors(e *suite.Evidence) suite.Answer {
	a := good.Judge(e, ofErrors, "Every mistake was answered with its own error, the allocator below was asked when it "+
		"should be, and CUDA never.", nil)
	a.Findings = verdict.Unique(append(a.Findings, callsOfCUDA(e)...))
	return a
}

// callsOfCUDA finds the CUDA calls that the student's code has made.
func callsOfCUDA(e *suite.Evidence) (found []verdict.Finding) {
	for _, id := range good.IDs() {
		for _, c := range e.Calls(id) {
			for at, r := range c.Records {
				if len(e.Place(c.Notes.Trace.SiteOf(r))) == 0 {
					continue // the user's own, at the blocks
				}
				found = append(found, c.At(at, verdict.Finding{
					Rule:    ofCUDA.ID,
					Message: "The tracker should not have called CUDA, but it called " + suite.CallName(r) + ".",
					Why:     ofCUDA.Why, Fix: ofCUDA.Fix,
				}))
			}
		}
	}
	return found
}
