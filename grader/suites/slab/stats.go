package slab

import (
	"fmt"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
)

// What stands in the place of an allocator's Stats where it has changed what is its caller's.
const (
	changedClasses = iota // what New was given
	changedStats          // what Stats has answered before
	keptClasses           // nothing, but it goes by a slice that its caller has written to since
)

// What a caller writes to slices that are its own, in the place of a block size: to those of Stats, and to New's.
const (
	callers      = -1
	callersClass = -2
)

// statsFields is how many numbers a class has in the notes.
const statsFields = 4

// numbers are an allocator's Stats as they are noted.
func numbers(stats []contract.ClassStats) []int64 {
	var n []int64
	for _, s := range stats {
		n = append(n, s.BlockSize, int64(s.Total), int64(s.InUse), int64(s.Spills))
	}
	return n
}

// stats are the classes that numbers has noted.
func stats(numbers []int64) []contract.ClassStats {
	var classes []contract.ClassStats
	for ; len(numbers) >= statsFields; numbers = numbers[statsFields:] {
		classes = append(classes, contract.ClassStats{BlockSize: numbers[0], Total: int(numbers[1]), InUse: int(numbers[2]),
			Spills: int(numbers[3])})
	}
	return classes
}

// judgeStats judges what Stats said after an operation; before is how the classes stood ahead of it.
func (m *model) judgeStats(op allocator.Op, a sequence.Answer, want sequence.Err, class int,
	before []contract.ClassStats) []sequence.Fault {
	said := stats(a.Stats())
	if len(said) != len(m.classes) {
		return sequence.Fault{Rule: "wrong-stats",
			Message: fmt.Sprintf("should have left %d classes in Stats, but Stats has %d", len(m.classes), len(said)),
			Why:     statsWhy, Fix: "Return one element for each class, in the order in which New was given them."}.In(ofStats)
	}
	for i, right := range m.classes {
		if said[i] == right {
			continue
		}
		if said[i].BlockSize == callers {
			return sequence.Fault{Rule: "result-changed",
				Message: "should have left Stats as it was, but Stats says what the caller has written to an earlier answer",
				Why:     "A slice is a view of memory: whoever is given one may write to it, and all others see that.",
				Fix:     "Make a new slice in every call of Stats."}.In(ofStats)
		}
		if want != sequence.Nil && said[i].Total == right.Total && said[i].BlockSize == right.BlockSize {
			return sequence.Fault{Rule: "changed-by-error", Look: sequence.Differing(said[i], right),
				Message: fmt.Sprintf("failed, as it should, but should have changed nothing: Stats should still say %s, but "+
					"says %s",
					inWords(right), inWords(said[i])),
				Why: "A caller that is told of an error goes on as if the call had not been made.",
				Fix: "Find out whether the call can succeed before you change anything."}.In(ofErrors)
		}
		if op.Kind == allocator.KindAlloc {
			if from, ok := served(before, said); ok && from != class {
				return sequence.Fault{Rule: "wrong-class",
					Message: fmt.Sprintf("should have got a block of %d bytes, but as Stats shows it got one of %d bytes",
						m.classes[class].BlockSize, m.classes[from].BlockSize),
					Why: "A block that is larger than needed is missing when somebody needs all of it.",
					Fix: "Go through the classes from the smallest, and take the first that is large enough and has a free block."}.In(
					ofClasses)
			}
		}
		return sequence.Fault{Rule: "wrong-stats", Look: sequence.Differing(said[i], right),
			Message: fmt.Sprintf("should have left %s, but Stats says: %s", inWords(right), inWords(said[i])),
			Why:     statsWhy, Fix: statsFix(said[i], right)}.In(ofStats)
	}
	return nil
}

const statsWhy = "Stats shows which class has too few blocks and which is never used, so it has to be exact."

func statsFix(said, right contract.ClassStats) string {
	switch {
	case said.BlockSize != right.BlockSize || said.Total != right.Total:
		return "BlockSize is the size that New was given, and Total the number of blocks: neither ever changes."
	case said.InUse != right.InUse:
		return "Count InUse up when a block of this class is handed out, whatever size was asked for, and down when it " +
			"comes back."
	}
	return "Count a spill in the smallest class that would have fitted, when the block came from a larger one, once for " +
		"each Alloc."
}

// served is the class whose use rose by one between two accounts, if it is one and no other changed its use.
func served(before, after []contract.ClassStats) (class int, ok bool) {
	for i := range before {
		switch after[i].InUse - before[i].InUse {
		case 0:
		case 1:
			if ok {
				return 0, false
			}
			class, ok = i, true
		default:
			return 0, false
		}
	}
	return class, ok
}

// InWords has what Stats said in words, a class after the other.
func (m *model) InWords(said []int64) string {
	var all []string
	for _, s := range stats(said) {
		all = append(all, inWords(s))
	}
	return "[" + strings.Join(all, "; ") + "]"
}

func inWords(s contract.ClassStats) string {
	return fmt.Sprintf("blocks of %d bytes, %d of %d in use, %d spilled", s.BlockSize, s.InUse, s.Total, s.Spills)
}

// changed is the fault of an allocator that has changed what is its caller's.
func changed(what int64) []sequence.Fault {
	if what == changedClasses {
		return sequence.Fault{Rule: "argument-changed",
			Message: "should have found the caller's classes as they were, but New has changed them",
			Why: "A slice is a view of its caller's memory: what is written to it is so for the caller as well, who goes " +
				"on with it.",
			Fix: "Make a copy first (slices.Clone), and change that."}.In(ofStats)
	}
	if what == keptClasses {
		return sequence.Fault{Rule: "argument-kept",
			Message: "should have found its own classes as they were, but found what the caller wrote to its slice behind New",
			Why:     "A slice is a view of its caller's memory, who may use it for something else as soon as New has returned.",
			Fix:     "Keep a copy (slices.Clone), or numbers of your own."}.In(ofStats)
	}
	return sequence.Fault{Rule: "result-changed",
		Message: "should have left what Stats answered before as it was, but it says something else now",
		Why:     "A slice is a view of memory: a caller who keeps one to compare it with a later one finds no difference.",
		Fix:     "Make a new slice in every call of Stats."}.In(ofStats)
}
