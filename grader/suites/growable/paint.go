package growable

import (
	"fmt"

	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/sequence"
	"cudalab/grader/suite/verdict"
)

// mostDrawn is how many operations a script has at most that is drawn: a longer one shows nothing to a person.
const mostDrawn = 12

// drawing is the addresses behind each operation up to a step; nil where there are too many.
func (r *replay) drawing(last *step) *verdict.Drawing {
	if last.number > mostDrawn || r.made == nil {
		return nil
	}
	extent := r.granularity
	for i := range r.steps {
		s := &r.steps[i]
		extent = max(extent, s.mapped, mapping.RoundUp(max(s.len, 0), 1)*r.elem)
		if s == last {
			break
		}
	}
	extent = min(mapping.RoundUp(extent, r.granularity)+r.granularity, mapping.RoundUp(r.elem*r.max, r.granularity))
	var d verdict.Drawing
	for i := range r.steps {
		s := &r.steps[i]
		if s.before.closed {
			break
		}
		calls := r.notes.Trace.Records[r.made.begin:max(r.made.begin, s.end)]
		memory := mapping.Row(calls, r.made.Addr, extent, r.granularity)
		d.Frames = append(d.Frames, verdict.Frame{Op: s.op.String(), Rows: []verdict.Row{memory, r.elements(s, extent,
			s == last)}})
		if s == last {
			return &d
		}
	}
	return nil
}

// elements are those that there should be behind a step, and where wrong says so those of the step itself.
func (r *replay) elements(s *step, extent int64, wrong bool) verdict.Row {
	after := s.before
	if s.before.want(s.op) == sequence.Nil {
		after.succeed(s.op)
	}
	share := func(n int64) float64 { return float64(min(max(n, 0)*r.elem, extent)) / float64(extent) }
	row := verdict.Row{Name: "elements"}
	cell := func(from, to int64, kind verdict.CellKind, text string) {
		if share(from) < share(to) {
			row.Cells = append(row.Cells, verdict.Cell{From: share(from), To: share(to), Kind: kind, Text: text})
		}
	}
	stay := min(s.before.length, after.length)
	cell(0, stay, verdict.Out, fmt.Sprintf("%d", stay))
	switch changed := verdict.Back; {
	case after.closed:
	case after.length > stay:
		changed = verdict.Out
		if wrong {
			changed = verdict.Wrong
		}
		cell(stay, after.length, changed, fmt.Sprintf("+%d", after.length-stay))
	default:
		if wrong {
			changed = verdict.Wrong
		}
		cell(stay, s.before.length, changed, fmt.Sprintf("-%d", s.before.length-stay))
	}
	return row
}

// longest is how full the vector of the longest script was that went right; nil where there is none.
func longest(all []*replay) *verdict.Run {
	var best *replay
	for _, r := range all {
		if r.complete() && (best == nil || len(r.steps) > len(best.steps)) {
			best = r
		}
	}
	if best == nil {
		return nil
	}
	run := &verdict.Run{Title: best.layout.String()}
	for i := range best.steps {
		if s := &best.steps[i]; s.kind != closes && !s.before.closed {
			used := s.len * best.elem
			if used > s.mapped {
				return nil
			}
			run.Steps = append(run.Steps, verdict.Use{Total: s.mapped, Out: used, Asked: used, Largest: s.mapped - used})
		}
	}
	return run
}
