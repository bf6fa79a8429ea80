package allocator

import (
	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
)

// Record is a sequence that was carried out, as cudalab sees it.
type Record = sequence.Record[Op]

// note notes a sequence; see sequence.Note.
func note(b *suite.Bench, name string, first, calls int, ops []Op, answers []sequence.Answer) {
	numbers := make([][3]uint64, len(ops))
	for i, op := range ops {
		numbers[i] = [3]uint64{uint64(op.Kind) | uint64(uint32(op.Stream))<<8, uint64(op.Size), uint64(op.Block)}
	}
	sequence.Note(b, name, first, calls, numbers, answers)
}

// Read is the sequences that were noted under a name, in their order. ops are the operations of one that was noted
// without; those that were noted are as much the lesson's own.
func Read(notes *verdict.CaseNotes, name string, ops []Op) []Record {
	own := ownOf(ops)
	return sequence.Read(notes, name, ops, func(n [3]uint64) Op {
		return Op{Kind: Kind(n[0]), Stream: Stream(n[0] >> 8), Size: int64(n[1]), Block: int(int64(n[2])), Own: own}
	})
}

// ownOf is what the lesson does in some operations; nil where there is nothing.
func ownOf(ops []Op) Own {
	for i := range ops {
		if ops[i].Own != nil {
			return ops[i].Own
		}
	}
	return nil
}
