// Package policy makes a grade of what a student's code has earned, as the instructor's grading.toml says: which
// exercises count and how much, what being late costs, who has more time, bonuses and adjustments. It is pure
// arithmetic, and each grade comes with the lines that lead to it.
package policy

import (
	"errors"
	"slices"
	"time"
)

// Policy is what a grading.toml says.
type Policy struct {
	Scale     float64   `toml:"scale"`   // what the best grade without bonus is; 0: the sum of the points
	Attempt   string    `toml:"attempt"` // Last, Best or InTime; "": Last
	Hidden    []string  `toml:"hidden"`  // checks that students are not told about, "slab.cleanup"
	Exercises exercises `toml:"exercises"`
	Deadline  *deadline `toml:"deadline"`
	Bonuses   []bonus   `toml:"bonus"`
	Students  []student `toml:"student"`
}

// Which of the results in the journal counts.
const (
	Last   = "last"
	Best   = "best"
	InTime = "in-time" // the last one before the deadline, or where none was, the last
)

// exercises say what counts.
type exercises struct {
	Count      []string           `toml:"count"`       // by name; none: all that were graded
	DropLowest int                `toml:"drop_lowest"` // how many of a student's worst do not count
	Weights    map[string]float64 `toml:"weights"`     // of an exercise's points; left out: 1
}

// deadline is when submissions are due, and what being late costs.
type deadline struct {
	Due         moment        `toml:"due"`
	Zone        string        `toml:"zone"`         // of times without one, "Europe/Berlin"
	Grace       time.Duration `toml:"grace"`        // that is not counted
	FreeDays    int           `toml:"free_days"`    // that cost nothing
	Penalty     float64       `toml:"penalty"`      // percent of what was reached, for each day begun
	MostPenalty float64       `toml:"most_penalty"` // percent; 0: 100
	ClosedAfter int           `toml:"closed_after"` // days, behind which nothing counts; 0: never
	// Exercises are those that are due at another time.
	Exercises map[string]moment `toml:"exercises"`

	zone *time.Location
}

// bonus is what fast code earns.
type bonus struct {
	Exercise string  `toml:"exercise"` // "": each
	Below    float64 `toml:"below"`    // the share of the limit that its time must be under, 0.5
	Points   float64 `toml:"points"`   // the most that is earned by one exercise counts, not the sum
}

// student is what is said of one.
type student struct {
	ID        string        `toml:"id"`        // as in the results, or the number, the address or the login
	Extension time.Duration `toml:"extension"` // more time
	HandedIn  moment        `toml:"handed_in"` // goes before what the platform says
	Excused   []string      `toml:"excused"`   // exercises that do not count for this one
	Adjust    float64       `toml:"adjust"`    // points, at the end
	Comment   string        `toml:"comment"`   // why
}

// moment is a time as TOML has it: one that was written without a zone says so by the name of its location, which
// time.Time alone would lose when it is decoded.
type moment struct{ time.Time }

// UnmarshalTOML takes a time.
func (m *moment) UnmarshalTOML(v any) error {
	t, ok := v.(time.Time)
	if !ok {
		return errors.New("this should be a time without quotes, such as 2026-10-01T23:59:00+02:00")
	}
	m.Time = t
	return nil
}

// Work is what a student has done, as it was graded.
type Work struct {
	ID        string
	Known     []string // what else the student goes by
	HandedIn  string   // RFC 3339, without a zone where the platform names none; "" if it is not known
	Late      bool     // the platform says so
	Exercises []Exercise
}

// Exercise is what one exercise has earned.
type Exercise struct {
	Name       string
	Score, Max float64
	Speed      float64 // the time of the code as a share of its limit, the worst of all; 0 if it is not known
}

// Grade is what counts.
type Grade struct {
	Points float64  `json:"points"`
	Max    float64  `json:"max"` // without bonus
	How    []string `json:"how"` // how it came about, a line for each step
	// Ask is what a person should decide, because the policy cannot: what is not known is never to the student's loss.
	Ask []string `json:"ask,omitempty"`
}

// counts reports whether an exercise counts for anybody.
func (p *Policy) counts(exercise string) bool {
	return len(p.Exercises.Count) == 0 || slices.Contains(p.Exercises.Count, exercise)
}

// entry is what is said of a student; nil for nothing.
func (p *Policy) entry(w Work) *student {
	for i, s := range p.Students {
		if s.ID == w.ID || slices.Contains(w.Known, s.ID) {
			return &p.Students[i]
		}
	}
	return nil
}
