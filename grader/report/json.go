package report

import (
	"io"

	"cudalab/grader/judge/visible"
	"cudalab/grader/suite/verdict"
)

// JSON writes a report as one indented JSON document. Lists that are empty are [], never null, so that a reader need
// not tell them apart.
func JSON(w io.Writer, r verdict.Report) error {
	checks := make([]verdict.Check, len(r.Checks))
	for i, c := range r.Checks {
		if c.Findings == nil {
			c.Findings = []verdict.Finding{}
		}
		if c.Measurements == nil {
			c.Measurements = []verdict.Measurement{}
		}
		checks[i] = c
	}
	r.Checks = checks
	return visible.WriteJSON(w, r)
}
