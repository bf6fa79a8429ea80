package report

import (
	"io"

	"cudalab/grader/suite"
	"cudalab/grader/suite/jsontext"
)

// JSON writes a report as one indented JSON document. Lists that are empty are [], never null, so that a reader need
// not tell them apart.
func JSON(w io.Writer, r suite.Report) error {
	checks := make([]suite.Check, len(r.Checks))
	for i, c := range r.Checks {
		if c.Findings == nil {
			c.Findings = []suite.Finding{}
		}
		if c.Measurements == nil {
			c.Measurements = []suite.Measurement{}
		}
		checks[i] = c
	}
	r.Checks = checks
	return jsontext.Write(w, r)
}
