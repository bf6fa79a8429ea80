// Package growable is the suite of the growable lesson: its scripts, what a vector must answer to them, what the trace
// shows of its memory and of its waits, its baseline and what is asked.
package growable

import (
	"fmt"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
)

// Vector is what the exercise asks for.
type Vector interface {
	Append(s cuda.Stream, src cuda.DevicePtr, n int64) error
	Shrink(n int64, users ...cuda.Stream) error
	Ptr() cuda.DevicePtr
	Len() int64
	Cap() int64
	Close() error
}

// Make makes a vector, as growable.New does.
type Make func(device int, elem, max int64) (Vector, error)

// Of is an implementation's New, whatever it calls its vector.
func Of[V Vector](f func(int, int64, int64) (V, error)) Make {
	return func(device int, elem, max int64) (Vector, error) {
		v, err := f(device, elem, max)
		return allocator.OrNil[Vector](v), err
	}
}

// Suite makes the suite of a student's code, and of the solution where there is one. Through it a runner's main
// package, which is compiled for each check, calls what is compiled here.
var Suite = Lesson.Suite

// Lesson is what is asked about the exercise.
var Lesson = suite.Lesson[Make]{
	Name:      "growable",
	Memory:    4 << 30, // where the granularity is large, the solution maps a GiB and a half
	Functions: []string{"New"},
	Parts: []suite.Part[Make]{
		arguments(),
		everywhere.part(ofContents, "every element is where it was put, and the address never moves",
			"The vector never moved, and every element was where it had been put, also beyond 4 GiB.", lookedAt),
		everywhere.part(ofErrors, "every mistake gets its own error, and changes nothing",
			"Every mistake was answered with its own error, and nothing was changed by it.", nil),
		everywhere.part(ofCommitted, "holds no more than twice what its elements take, and grows by a factor",
			"There was never more memory than twice what the elements took, it grew in few steps, and Cap said what there was.",
			committed),
		append(slices.Clip(everywhere), users).part(ofShrink,
			"Shrink waits for those who use the elements, for nobody else, and gives memory back",
			"Shrink waited for the streams that it was to wait for, and for no other, and gave back what was too much.",
			shrinking).Deeper(append(trials{scale, farther}, users).inAll(lookedAt, committed)),
		rollback(),
		plenty.part(ofHost, "Append waits for nothing, and calls CUDA for nothing else",
			"Append only enqueued a copy, and mapped memory where it had to.",
			func(_ *suite.Evidence, r *replay) []verdict.Finding {
				return append(r.callsOfAppend(ofHost), r.events()...)
			}).Deeper(func(e *suite.Evidence) (found []verdict.Finding) {
			for _, r := range everywhere.replays(e) {
				if r.made != nil {
					found = append(found, r.callsOfAppend(ofHost)...)
				}
			}
			return verdict.Unique(found)
		}).Deeper(plenty.inAll()),
		cleanup(),
		speed,
	},
	Benchmarks: []suite.Trial[Make]{{ID: "growth", Drive: race, Benchmark: suite.Benchmark{
		Name: fmt.Sprintf("append of %d MiB in pieces of %d KiB", speedTotal>>20, speedPiece>>10), Operation: "run",
		Note: "The baseline takes twice the memory, copies what is there and frees the old, whenever it is full.",
	}}},
}

// lastGap is the one behind which a vector can be closed.
const lastGap = "1h"

var (
	// plenty are the trials whose scripts find as much memory as they ask for.
	plenty = trials{
		scripted("examples", examples),
		scripted("random", drawn),
		scripted("fine", both).On(fine),     // of smaller granularity than any GPU's
		scripted("coarse", both).On(coarse), // of larger
	}
	// scale is the trial with more elements, Appends and bytes than small numbers can hold, farther that with numbers from
	// all over their domains.
	scale      = scripted("scale", large).On(vast)
	farther    = scripted("far", far).On(vast)
	everywhere = append(slices.Clip(plenty), scale, farther)
	// users is the trial in which the device is at work when vectors shrink. Only ofShrink judges by it: a vector that
	// does not wait may lose the device.
	users = scripted("users", inUse)
	// refused are the trials in which CUDA refuses something: on a device that runs out of memory, and in calls that are
	// made to fail.
	refused = trials{scripted("memory", nearlyFull).On(scarce), scripted("rollback", failing)}
	// forGood is the trial in which CUDA refuses something again and again. What a vector leaves behind then, it leaves
	// where one call fails.
	forGood = scripted("for-good", neverMapped)
)

func committed(_ *suite.Evidence, r *replay) []verdict.Finding {
	return slices.Concat(r.heldByNew(), r.reservedByNew(), r.tooMuch(ofCommitted), r.misstated(false), r.tooOften())
}

// noDevice is the number of a device that no machine has.
const noDevice = 99

// arguments is the part about the arguments of New. Of the kit's allocators a vector is one that New makes and Close
// ends.
func arguments() suite.Part[Make] {
	lab := &allocator.Lab[Make, layout]{New: func(f Make, l layout) (allocator.Subject, error) {
		v, err := f(l.device, l.elem, l.max)
		if v == nil {
			return allocator.Subject{}, err
		}
		return allocator.Subject{Allocator: closer{v}}, err
	}}
	return lab.Arguments(allocator.Arguments[layout]{
		Name: "refuses bad arguments before any CUDA call, and reserves on the device it is told", After: "1b",
		Bad: []layout{{elem: 0, max: 1}, {elem: 1, max: 0}, {elem: -1, max: 5}, {elem: 5, max: -1}, {elem: -2, max: -3},
			{elem: 2, max: 1 << 62}, {elem: 1<<62 + 1, max: 4}, {elem: 5, max: 1<<62 + 1},
			{elem: 1 << 32, max: 1 << 31}, {elem: 1<<63 - 1, max: 1}, {elem: 3, max: (1<<63 - 1) / 2}, {elem: 1<<62 + 1, max: 1},
			{elem: 1 << 32, max: 1 << 32}},
		Lacking: []layout{{device: noDevice, elem: 4, max: 1}, {elem: 1, max: 1 << 62}},
		Good:    []layout{{elem: 1, max: 1}, {elem: 12, max: 1000}},
		Wrong: func(o verdict.Outcome) (verdict.Finding, bool) {
			if f, wrong := allocator.Refused(o); wrong {
				f.Message = o.Label + " should have returned CUDA's error, since its arguments are good, but it returned " +
					"contract.ErrArgument."
				return f, true
			}
			return verdict.Finding{
				Rule: "device-ignored",
				Message: o.Label + " should have returned CUDA's error, since there is no such device or no such range, but it " +
					"returned nil.",
				Why: "Memory lies on one device, and its addresses are finite: a vector that has neither is of no use to its " +
					"caller.",
				Fix: "Pass device on as the ID of the location, wherever memory is asked about or created, and return every " +
					"error of CUDA's.",
			}, o.OK()
		},
		Refusal: suite.Refusal{
			Fix: "Return contract.ErrArgument for elem or max below 1, and for elem*max above 1<<62, before the first " +
				"CUDA call.",
			FixLate: "Look at elem and max before the first CUDA call.",
		},
	})
}

// closer is a vector as an allocator that is closed, and nothing else.
type closer struct{ Vector }

func (closer) Alloc(int64) (cuda.DevicePtr, error) { return 0, nil }
