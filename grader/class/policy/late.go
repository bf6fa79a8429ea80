package policy

import (
	"fmt"
	"math"
	"time"
)

// InTime reports whether something that somebody handed in at a time, as Work has it, came before the last deadline
// that it could be for. What is not known is in time.
func (p *Policy) InTime(w Work) bool {
	t := &tally{Policy: p, student: p.entry(w)}
	if t.student == nil {
		t.student = &student{}
	}
	at, _, known := t.handedIn(w)
	if p.Deadline == nil || !known {
		return true
	}
	last := p.Deadline.Due.Time
	for _, due := range p.Deadline.Exercises {
		if due.After(last) {
			last = due.Time
		}
	}
	return at.Sub(last.Add(t.student.Extension)) <= p.Deadline.Grace
}

// late takes off what being late costs: of all, or where exercises are due at times of their own, of each.
func (t *tally) late(w Work) {
	d := t.Deadline
	if d == nil {
		return
	}
	if len(d.Exercises) == 0 {
		t.grade.Points -= t.lateFor(w, "", d.Due, t.grade.Points)
		return
	}
	off := 0.0
	for _, e := range t.counted {
		due, own := d.Exercises[e.Name]
		if !own {
			due = d.Due
		}
		off += t.lateFor(w, e.Name+": ", due, t.earned[e.Name])
	}
	t.grade.Points -= off
}

// lateFor is what being late for a deadline takes off from points; what is whose they are, with a colon.
func (t *tally) lateFor(w Work, what string, classDue moment, points float64) (off float64) {
	d := t.Deadline
	due := classDue.Add(t.student.Extension)
	deadline := "the deadline of " + clock(due)
	if t.student.Extension > 0 {
		deadline += fmt.Sprintf(" (%s more than the class, by %s)", span(t.student.Extension), "grading.toml")
	}
	at, from, known := t.handedIn(w)
	switch {
	case !known && w.Late:
		t.say("%sThe platform says that it was late, but not when it came: nothing was taken off.", what)
		t.ask("It was late, as the platform says, but when it came is not known. Write handed_in into grading.toml.")
		return 0
	case !known:
		t.say("%sWhen it was handed in is not known: taken as in time for %s.", what, deadline)
		t.ask("When it was handed in is not known, and it was taken as in time. If it was not, write handed_in into " +
			"grading.toml.")
		return 0
	}
	came := fmt.Sprintf("%sHanded in %s, as %s", what, clock(at.In(due.Location())), from)
	over := at.Sub(due)
	if over <= d.Grace {
		t.say("%s: in time for %s.", came, deadline)
		return 0
	}
	days := int(math.Ceil(over.Hours() / 24))
	if d.ClosedAfter > 0 && days > d.ClosedAfter {
		t.say("%s: %s after %s, and after %d days nothing counts: −%s.", came, span(over), deadline, d.ClosedAfter,
			number(points))
		return points
	}
	paid := max(0, days-d.FreeDays)
	percent := min(float64(paid)*d.Penalty, most(d.MostPenalty))
	off = points * percent / 100
	t.say("%s: %s after %s, which is %s begun, %d of them free: %s %% off, −%s.", came, span(over), deadline,
		plural(days, "day"), min(days, d.FreeDays), number(percent), number(off))
	return off
}

func most(percent float64) float64 {
	if percent == 0 {
		return 100
	}
	return percent
}

// handedIn is when the work came, and who says so.
func (t *tally) handedIn(w Work) (at time.Time, from string, known bool) {
	if !t.student.HandedIn.IsZero() {
		return t.student.HandedIn.Time, "grading.toml says", true
	}
	if at, err := time.Parse(time.RFC3339, w.HandedIn); err == nil {
		return at, "the platform says", true
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.ParseInLocation(layout, w.HandedIn, t.Deadline.location()); err == nil {
			return at, "the platform says", true
		}
	}
	return time.Time{}, "", false
}

// location is the zone of times that name none.
func (d *deadline) location() *time.Location {
	if d.zone != nil {
		return d.zone
	}
	return d.Due.Location()
}

func clock(t time.Time) string { return t.Format("2006-01-02 15:04 -07:00") }

// span is a time in days, hours and minutes.
func span(d time.Duration) string {
	minutes := int(d.Round(time.Minute).Minutes())
	days, hours := minutes/(24*60), minutes/60%24
	switch {
	case days > 0 && hours > 0:
		return plural(days, "day") + " " + plural(hours, "hour")
	case days > 0:
		return plural(days, "day")
	case hours > 0 && minutes%60 > 0:
		return fmt.Sprintf("%s %d min", plural(hours, "hour"), minutes%60)
	case hours > 0:
		return plural(hours, "hour")
	}
	return fmt.Sprintf("%d min", max(1, minutes))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
