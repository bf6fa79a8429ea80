package verdict

import (
	"reflect"
	"strings"
)

// gapRule is the rule that Notices names a gap by.
const gapRule = "todo"

// likelyRule is the rule that Notices names the line by where one change is enough.
const likelyRule = "likely"

// consequence is a finding that comes of another as a notice of its own: what mends it is said of the other.
func consequence(f Finding) Finding {
	origin := f.Origin()
	f.Severity, f.Why, f.Fix, f.Related, f.Picture = Consequence, "", "", nil, ""
	f.Message = strings.ToUpper(origin[:1]) + origin[1:] + ": " + f.Message
	return f
}

// Notices are what a report has to say about the student's lines, for editors and for tools that know lines alone: the
// findings of all checks in their order, each once, then the gap that is to be filled next, then the likely line.
// Where a report that is no pass has neither, its own message is one, of the status as a rule. What is about no line
// in particular is put on the first line of main, the exercise's file.
func (r Report) Notices(main string) []Finding {
	var all []Finding
	add := func(f Finding) {
		f.Drawing, f.Record, f.Function = nil, -1, ""
		if f.Follows != nil {
			if f.Follows.is(&f) {
				return
			}
			f = consequence(f)
		}
		if f.File == "" {
			f.File, f.Line = main, 0
		}
		f.Line = max(f.Line, 1)
		for _, known := range all {
			if reflect.DeepEqual(known, f) {
				return
			}
		}
		all = append(all, f)
	}
	accounted := r.Status == Passed
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			accounted = accounted || f.Severity == Error
			add(f)
		}
	}
	switch {
	case r.Gap != nil:
		text := "TODO(" + r.Gap.ID + ") is to be written next."
		if r.Gap.Text != "" {
			text = "TODO(" + r.Gap.ID + ") is to be written next: " + r.Gap.Text + "."
		}
		add(Finding{Rule: gapRule, Severity: Unwritten, Message: text, File: r.Gap.File, Line: r.Gap.Line})
	case !accounted:
		add(Finding{Rule: string(r.Status), Severity: Error, Message: r.Message, Fix: r.Next})
	}
	if l := r.Likely; l != nil {
		add(Finding{Rule: likelyRule, Severity: Suspected, Message: l.Text(), File: l.File, Line: l.Line})
	}
	return all
}
