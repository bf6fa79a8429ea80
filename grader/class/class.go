// Package class grades many submissions: it hands them to workers, keeps every result in a journal that survives
// being killed at any moment, and settles results so that the same submissions, seed and device give the same
// bytes.
//
// What can be asked for is in grade.go, plan.go, merge.go and diff.go. Grading goes through submissions.go,
// prepare.go, workers.go, pages.go and results.go, and rests on settle.go, policies.go, header.go, arrivals.go,
// gpus.go and budget.go, then on folder.go and journal.go. Options and this file have the words for all of them.
package class

import (
	"time"

	"cudalab/grader/class/intake"
	"cudalab/grader/class/policy"
	"cudalab/grader/judge/visible"
	"cudalab/grader/suite/verdict"
)

// SchemaVersion is the version of the JSON forms of Class and Student. Fields are only ever added within one version.
const SchemaVersion = 1

// Class is what came of grading a class. It holds no dates and nothing that was measured: those are in the timings.
type Class struct {
	Schema    int            `json:"schema"`
	Seed      uint64         `json:"seed"` // drew every submission's workloads
	Device    verdict.Device `json:"device"`
	Versions  Versions       `json:"versions"`
	Exercises []Exercise     `json:"exercises"` // that were graded, in the course's order
	Students  []Student      `json:"students"`  // by ID
	// Attention is what a person should look at before the grades go out, the gravest first.
	Attention []Attention `json:"attention,omitempty"`
	Absent    []Person    `json:"absent,omitempty"` // on the roster, but nothing came from them
	// Hidden are the checks that students are not told about, "slab.cleanup". Their points count.
	Hidden []string `json:"hidden,omitempty"`
	// Pseudonyms are what the students' IDs are: nobody is to be found by them.
	Pseudonyms bool `json:"-"`
	// Live is how far the grading has come; nil when it is done.
	Live *Live `json:"-"`
}

// Live is what is said of a grading that has not come to its end.
type Live struct {
	Progress
	At      time.Time // when this was so
	Stopped bool      // it does not go on
}

// Attention is something that cudalab does not decide by itself.
type Attention struct {
	ID   string `json:"id,omitempty"` // the submission that it is about; "" where it is about none, or about all
	Text string `json:"text"`         // in sentences
}

// Person is somebody of the class, as far as the platform's export and the roster tell.
type Person = intake.Person

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
	// Unread is a submission that could not be read, or not all of it. It has no grade until a person has looked: not to
	// have been read is not to have handed in nothing.
	Unread Status = "unread"
)

// Student is the grade of one submission.
type Student struct {
	Schema int    `json:"schema"`
	ID     string `json:"id"`
	// People are those who handed it in: one, a group, or none where neither export nor roster says who they are.
	People    []Person      `json:"people,omitempty"`
	HandedIn  intake.Moment `json:"handed_in,omitzero"`  // as far as the platform's export tells
	Withdrawn bool          `json:"withdrawn,omitempty"` // graded once, but no longer among the submissions
	Status    Status        `json:"status"`
	// Problem is, in sentences, why the submission could not be used at all (its score is zero then), with Errored why it
	// could not be graded, and with Unread why it could not be read.
	Problem  string   `json:"problem,omitempty"`
	Notes    []string `json:"notes"` // what was left aside in the submission, one sentence each
	Score    float64  `json:"score"` // null in JSON where Status is not Graded
	MaxScore float64  `json:"max_score"`
	Digest   string   `json:"digest"` // of the files that were graded
	// Grade is what an instructor's policy makes of the points; nil where there is no policy, or no grade.
	Grade *policy.Grade `json:"grade,omitempty"`
	// Exercises has a report for each of Class.Exercises, in that order, also for what was not handed in. With Errored
	// those that could not be decided have the status verdict.Errored, and there are none where that is all; with Unread
	// those that could not be read have verdict.Unread.
	Exercises []verdict.Report `json:"exercises"`
	// Page is the file with the student's own page, as a link from the folder of results has it; "" where there is none.
	Page string `json:"-"`
}

// Report is the report on the i-th of Class.Exercises; decided is false where there is no grade for it.
func (s *Student) Report(i int) (r verdict.Report, decided bool) {
	if i >= len(s.Exercises) {
		return verdict.Report{Status: verdict.Errored}, false
	}
	r = s.Exercises[i]
	return r, r.Status != verdict.Errored && r.Status != verdict.Unread
}

// Passed reports whether every exercise of the class passed.
func (s *Student) Passed() bool {
	for _, r := range s.Exercises {
		if r.Status != verdict.Passed {
			return false
		}
	}
	return s.Status == Graded && len(s.Exercises) > 0
}

// MarshalJSON writes a score of null where there is none, so that no reader takes it for a zero.
func (s Student) MarshalJSON() ([]byte, error) {
	out := struct {
		Schema    int              `json:"schema"`
		ID        string           `json:"id"`
		People    []Person         `json:"people,omitempty"`
		HandedIn  intake.Moment    `json:"handed_in,omitzero"`
		Withdrawn bool             `json:"withdrawn,omitempty"`
		Status    Status           `json:"status"`
		Problem   string           `json:"problem,omitempty"`
		Notes     []string         `json:"notes"`
		Score     *float64         `json:"score"`
		MaxScore  float64          `json:"max_score"`
		Digest    string           `json:"digest"`
		Grade     *policy.Grade    `json:"grade,omitempty"`
		Exercises []verdict.Report `json:"exercises"`
	}{s.Schema, s.ID, s.People, s.HandedIn, s.Withdrawn, s.Status, s.Problem, s.Notes, &s.Score, s.MaxScore, s.Digest,
		s.Grade, s.Exercises}
	if s.Status != Graded {
		out.Score = nil
	}
	return visible.JSON(out)
}

// Writer writes a class's results in one format into a folder of results. It writes nothing that Class does not hold,
// so that the same class gives the same bytes.
type Writer func(dir string, c *Class) error
