package corpus

import (
	"fmt"
	"slices"
	"strings"

	"cudalab/grader/suite/verdict"
)

// Differences are what a report says otherwise than expected, a sentence each; none where the verdict is right.
func (x expectation) Differences(r verdict.Report) (all []string) {
	differ := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	switch {
	case x.Refused:
		if r.Status != verdict.Refused {
			differ("It should be refused, but is %s.", r.Status)
		}
	case x.Next != "":
		if r.Status != verdict.Failed && r.Status != verdict.NotStarted || !strings.Contains(r.Next, "TODO("+x.Next+")") {
			differ("It is half done and TODO(%s) comes next, but it is %s, and next is: %s.", x.Next, r.Status, r.Next)
		}
	default:
		if x.Wrong == (r.Status == verdict.Passed) {
			differ("It is %s.", r.Status)
		}
		for _, ch := range r.Checks {
			failed := ch.Status == verdict.Failed
			if failed != slices.Contains(x.Fails, ch.ID) && !(failed && slices.Contains(x.May, ch.ID)) {
				differ("Check %s is %s.", ch.ID, ch.Status)
			}
		}
	}
	return append(all, x.Missing(r)...)
}

// Missing are the findings that a report should have and does not, a sentence each.
func (x expectation) Missing(r verdict.Report) (all []string) {
	for _, w := range x.Wants {
		if !w.in(r) {
			all = append(all, fmt.Sprintf("No finding %s is on line %d.", w.Rule, w.Line))
		}
	}
	return all
}

// in reports whether a report has the finding. One that is told where it comes from counts as well on the line where
// it shows.
func (w want) in(r verdict.Report) bool {
	return slices.ContainsFunc(r.Checks, func(ch verdict.Check) bool {
		return slices.ContainsFunc(ch.Findings, func(f verdict.Finding) bool {
			return f.Rule == w.Rule && (f.Line == w.Line || f.Effect == w.Line)
		})
	})
}
