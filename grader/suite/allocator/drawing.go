package allocator

import (
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Painter is a Model that can draw how its allocator stands.
type Painter interface {
	// Paint draws the memory behind the operation that the model was shown last, always the same rows; nil where it is not
	// known where the memory is.
	Paint(View) []verdict.Row
}

// View is what is to be drawn.
type View struct {
	Out    []Block         // in their users' hands, in the order in which they were handed out
	Op     Op              // that the model was shown last; its Kind is 0 before the first
	Answer sequence.Answer // to that
	Back   *Block          // that it has given back; nil: none
	Wrong  bool            // the answer is the one at fault
	High   uint64          // where the highest block of the whole sequence ends
	// Trace are the CUDA calls from New to the operation's end.
	Trace []trace.Record
}

// Block is a block that was handed out.
type Block struct {
	Number int
	Asked  int64  // bytes
	Addr   uint64 // where it begins
}

// Last is the block that the last operation has handed out; nil: none.
func (v *View) Last() *Block {
	if v.Op.Kind != KindAlloc || v.Answer.Err != sequence.Nil || len(v.Out) == 0 {
		return nil
	}
	return &v.Out[len(v.Out)-1]
}

// Meter is a Model that knows, until it has lost its notion of what is right, how much of its allocator's memory is
// used. It may leave Asked out: then it is what was asked for all blocks that the user has.
type Meter interface {
	Use() (u verdict.Use, known bool)
}

// longest is how full the allocator was during the longest of the sequences that were answered rightly to their end;
// nil where there is none, or where it is short.
func (g Good[Code, L]) longest(e *suite.Evidence) *verdict.Run {
	var best *Run[L]
	runs := g.Runs(e)
	for i := range runs {
		if r := &runs[i]; r.Record != nil && r.Right == len(r.Ops) && (best == nil || len(r.Ops) > len(best.Ops)) {
			best = r
		}
	}
	if best == nil || len(best.Ops) <= mostDrawn {
		return nil
	}
	all := &verdict.Run{Title: best.Layout.String()}
	m, view, number := best.Fresh(), View{}, 0
	meter, ok := m.(Meter)
	for i, op := range best.Ops {
		view.Op, view.Answer = op, best.Record.Answers[i]
		if op.Kind == KindAlloc {
			number++
		}
		if !ok || op.Kind == KindClose || view.Answer.Err == sequence.Skipped {
			continue
		}
		m.Step(op, view.Answer)
		view.take(number)
		use, known := meter.Use()
		if !known {
			return nil
		}
		if use.Out > 0 && use.Asked == 0 {
			for _, b := range view.Out {
				use.Asked += b.Asked
			}
		}
		if op.Kind == KindAlloc && view.Answer.Err == sequence.ErrFull {
			use.Refused = op.Size
		}
		all.Steps = append(all.Steps, use)
	}
	return all
}

// mostDrawn is how many operations a sequence has at most that is drawn: one that could not be shrunk shows nothing to
// a person.
const mostDrawn = 12

// drawing is the memory behind each operation of the sequence, up to the wrong answer; nil where it cannot be drawn.
func (f *Failure) drawing() *verdict.Drawing {
	ops := f.Ops[:f.At+1]
	m := f.fresh()
	painter, ok := m.(Painter)
	if !ok || len(ops) > mostDrawn || len(f.Answers) < len(ops) {
		return nil
	}
	view := View{}
	for i, op := range ops {
		if end := f.Answers[i].Addr + uint64(max(op.Size, 0)); op.Kind == KindAlloc && f.Answers[i].Err == sequence.Nil {
			view.High = max(view.High, end)
		}
	}
	var d verdict.Drawing
	number := 0
	for i, op := range ops {
		view.Op, view.Answer, view.Back = op, f.Answers[i], nil
		if op.Kind == KindAlloc {
			number++
		}
		if view.Answer.Err == sequence.Skipped {
			continue
		}
		m.Step(op, view.Answer)
		view.Wrong = i == f.At
		view.take(number)
		from, _ := f.notes.Window(f.First - 1)
		_, to := f.notes.Window(f.Call(i))
		view.Trace = f.notes.Trace.Records[from:max(from, to)]
		rows := painter.Paint(view)
		if rows == nil {
			return nil
		}
		d.Frames = append(d.Frames, verdict.Frame{Op: phrase(op), Rows: rows})
	}
	if len(d.Frames) == 0 {
		return nil
	}
	if dropEmpty(&d); len(d.Frames[0].Rows) == 0 {
		return nil
	}
	return &d
}

// take brings the blocks that are out up to date with an operation that succeeded.
func (v *View) take(number int) {
	if v.Answer.Err != sequence.Nil {
		return
	}
	switch v.Op.Kind {
	case KindAlloc:
		v.Out = append(v.Out, Block{number, v.Op.Size, v.Answer.Addr})
	case KindFree, KindFreeInside, KindFreeUnknown: // an address may be another block's by now
		if i := slices.IndexFunc(v.Out, func(b Block) bool { return b.Addr == v.Answer.Addr }); i >= 0 {
			back := v.Out[i]
			v.Back, v.Out = &back, slices.Delete(slices.Clone(v.Out), i, i+1)
		}
	case KindReset, KindClose:
		v.Out = nil
	}
}

// dropEmpty leaves out rows that are empty in every frame.
func dropEmpty(d *verdict.Drawing) {
	var empty []string
	for i, row := range d.Frames[0].Rows {
		if !slices.ContainsFunc(d.Frames, func(f verdict.Frame) bool { return len(f.Rows) > i && len(f.Rows[i].Cells) > 0 }) {
			empty = append(empty, row.Name)
		}
	}
	for i := range d.Frames {
		d.Frames[i].Rows = slices.DeleteFunc(d.Frames[i].Rows, func(r verdict.Row) bool {
			return slices.Contains(empty,
				r.Name)
		})
	}
}
