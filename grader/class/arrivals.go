package class

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"cudalab/grader/class/intake"
	"cudalab/grader/class/roster"
)

// arrivals is who has handed in, and what a person should look at. The journal keeps those of each run; the last count.
type arrivals struct {
	From      map[string]arrival `json:"from"` // every submission that was there, by ID, whatever is graded of them
	Attention []Attention        `json:"attention,omitempty"`
	Absent    []Person           `json:"absent,omitempty"`
}

// arrival is who handed a submission in, and when.
type arrival struct {
	People   []Person      `json:"people,omitempty"`
	HandedIn intake.Moment `json:"handed_in,omitzero"`
}

// receive finds out who has handed in, with the roster if there is one.
func receive(in *intake.Intake, entries []roster.Entry) *arrivals {
	a := &arrivals{From: map[string]arrival{}}
	for _, text := range in.Attention() {
		a.ask("", text)
	}
	var later []Attention
	for _, s := range in.Submissions() {
		a.From[s.ID] = arrival{s.People, s.HandedIn}
		for _, text := range s.Attention {
			if len(s.Unread) > 0 {
				a.ask(s.ID, text)
			} else {
				later = append(later, Attention{s.ID, text})
			}
		}
	}
	a.Attention = append(a.Attention, later...)
	if len(entries) == 0 {
		return a
	}
	joined := roster.Join(entries, in.Submissions())
	for id, people := range joined.People {
		a.From[id] = arrival{people, a.From[id].HandedIn}
	}
	for _, asked := range joined.Asked {
		a.ask(asked.ID, asked.Text)
	}
	a.Absent = joined.Absent
	return a
}

func (a *arrivals) ask(id, text string) { a.Attention = append(a.Attention, Attention{id, text}) }

// identify says of a result whose it is, and whether its submission is gone.
func (a *arrivals) identify(s Student) Student {
	if a == nil { // an older journal does not tell
		return s
	}
	from, here := a.From[s.ID]
	s.Withdrawn = !here
	if here {
		s.People, s.HandedIn = from.People, from.HandedIn
	}
	return s
}

// withdrawn asks a person about results whose submissions are gone.
func (a *arrivals) withdrawn(results map[string]Student) (asked []Attention) {
	if a == nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(results)) {
		if _, here := a.From[id]; !here {
			asked = append(asked, Attention{id, "Graded before, but no longer among the submissions. The earlier result is " +
				"kept and is marked as withdrawn."})
		}
	}
	return asked
}

// add puts what another part of the class has seen to this one's. Each has seen the whole class, unless it was changed
// meanwhile.
func (a *arrivals) add(other *arrivals) {
	maps.Copy(a.From, other.From)
	for _, asked := range other.Attention {
		if !slices.Contains(a.Attention, asked) {
			a.Attention = append(a.Attention, asked)
		}
	}
	for _, p := range other.Absent {
		if !slices.Contains(a.Absent, p) {
			a.Absent = append(a.Absent, p)
		}
	}
}

// unread gives the exercises that could not be read their reports, and takes the grade away: nobody can say yet what it
// is.
func (s submission) unread(student *Student) {
	if len(s.Unread) == 0 || student.Status != Graded {
		return
	}
	student.Status, student.Score = Unread, 0
	student.Problem = cmp.Or(s.Problem, s.Unclear)
}

// fullDisk is the error of somebody whose disk is full, in words that say which.
func fullDisk(results string, err error) error {
	if err == nil || !intake.Full(err) {
		return err
	}
	return &UsageError{fmt.Sprintf("The disk is full: nothing more can be written to %s. Free some space there and go on "+
		"with --resume: what was finished is kept, and nothing is done twice.", results)}
}
