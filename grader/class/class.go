// Package class grades many submissions: it hands them to workers, keeps every result in a journal that survives being
// killed at any moment, and settles results so that the same submissions, seed and device give the same bytes.
package class

import "cudalab/grader/suite"

// SchemaVersion is the version of the JSON forms of Class and Student. Fields are only ever added within one version.
const SchemaVersion = 1

// Class is what came of grading a class. It holds no dates and nothing that was measured: those are in the timings.
type Class struct {
	Schema    int          `json:"schema"`
	Seed      uint64       `json:"seed"` // drew every submission's workloads
	Device    suite.Device `json:"device"`
	Versions  Versions     `json:"versions"`
	Exercises []Exercise   `json:"exercises"` // that were graded, in the course's order
	Students  []Student    `json:"students"`  // by ID
}

// Versions are the programs behind the grades.
type Versions struct {
	Cudalab string `json:"cudalab"` // its release, or a digest of the program where it is none
	Course  string `json:"course"`  // a digest of the sources that runners are built from, the submissions' excepted
	Go      string `json:"go"`      // "go1.26.8"
}

// Exercise is one exercise as it was graded.
type Exercise struct {
	Name     string  `json:"name"`    // as on the command line, "async-pipeline"
	Package  string  `json:"package"` // its folder in a submission, "asyncpipeline"
	Title    string  `json:"title"`
	MaxScore float64 `json:"max_score"`
	Checks   []Check `json:"checks"` // in the order in which reports have them
}

// Check is one check of an exercise and what it is worth.
type Check struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	MaxPoints float64 `json:"max_points"`
}

// Status says whether a submission has a grade.
type Status string

const (
	Graded Status = "graded"
	// Errored is a fault of cudalab or of the machine. The submission has no grade: neither zero nor any other.
	Errored Status = "error"
)

// Student is the grade of one submission.
type Student struct {
	Schema int    `json:"schema"`
	ID     string `json:"id"`
	Status Status `json:"status"`
	// Problem is, in sentences, why the submission could not be used at all (its score is zero then), or with Errored why
	// it could not be graded.
	Problem  string   `json:"problem,omitempty"`
	Notes    []string `json:"notes"` // what was left aside in the submission, one sentence each
	Score    float64  `json:"score"` // null in JSON where Status is Errored
	MaxScore float64  `json:"max_score"`
	Digest   string   `json:"digest"` // of the files that were graded
	// Exercises has a report for each of Class.Exercises, in that order, also for what was not handed in. With Errored those
	// that could not be decided have the status suite.Errored, and there are none where that is all.
	Exercises []suite.Report `json:"exercises"`
}

// Report is the report on the i-th of Class.Exercises; decided is false where there is no grade for it.
func (s *Student) Report(i int) (r suite.Report, decided bool) {
	if i >= len(s.Exercises) {
		return suite.Report{Status: suite.Errored}, false
	}
	return s.Exercises[i], s.Exercises[i].Status != suite.Errored
}

// Passed reports whether every exercise of the class passed.
func (s *Student) Passed() bool {
	for _, r := range s.Exercises {
		if r.Status != suite.Passed {
			return false
		}
	}
	return s.Status == Graded && len(s.Exercises) > 0
}

// MarshalJSON writes a score of null where there is none, so that no reader takes it for a zero.
func (s Student) MarshalJSON() ([]byte, error) {
	out := struct {
		Schema    int            `json:"schema"`
		ID        string         `json:"id"`
		Status    Status         `json:"status"`
		Problem   string         `json:"problem,omitempty"`
		Notes     []string       `json:"notes"`
		Score     *float64       `json:"score"`
		MaxScore  float64        `json:"max_score"`
		Digest    string         `json:"digest"`
		Exercises []suite.Report `json:"exercises"`
	}{s.Schema, s.ID, s.Status, s.Problem, s.Notes, &s.Score, s.MaxScore, s.Digest, s.Exercises}
	if s.Status != Graded {
		out.Score = nil
	}
	return encode(out)
}

// Writer writes a class's results in one format into a folder of results. It writes nothing that Class does not hold, so
// that the same class gives the same bytes.
type Writer func(dir string, c *Class) error
