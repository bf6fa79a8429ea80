package policy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Grade is the grade for a student's work.
func (p *Policy) Grade(w Work) *Grade {
	t := &tally{Policy: p, student: p.entry(w), earned: map[string]float64{}}
	if t.student == nil {
		t.student = &student{}
	}
	t.exercises(w)
	t.bonuses(w)
	t.late(w)
	t.adjust()
	t.scale()
	t.grade.Points = round(max(0, t.grade.Points))
	t.say("Grade: %s of %s.", number(t.grade.Points), number(t.grade.Max))
	return &t.grade
}

// tally is one Grade under way.
type tally struct {
	*Policy
	student *student
	grade   Grade
	counted []Exercise
	earned  map[string]float64 // by exercise, with its bonus
}

func (t *tally) say(format string, a ...any) {
	t.grade.How = append(t.grade.How, fmt.Sprintf(format, a...))
}

func (t *tally) ask(format string, a ...any) {
	if asked := fmt.Sprintf(format, a...); !slices.Contains(t.grade.Ask, asked) {
		t.grade.Ask = append(t.grade.Ask, asked)
	}
}

// exercises adds up what counts.
func (t *tally) exercises(w Work) {
	for _, e := range w.Exercises {
		switch {
		case !t.counts(e.Name):
		case slices.Contains(t.student.Excused, e.Name):
			t.say("%s: excused, does not count.", e.Name)
		default:
			t.counted = append(t.counted, e)
		}
	}
	dropped := map[string]bool{}
	for range min(t.Exercises.DropLowest, len(t.counted)-1) {
		worst := -1
		for i, e := range t.counted {
			if !dropped[e.Name] && (worst < 0 || e.share() < t.counted[worst].share()) {
				worst = i
			}
		}
		dropped[t.counted[worst].Name] = true
	}
	for _, e := range t.counted {
		if dropped[e.Name] {
			t.say("%s: %s of %s points, left out as one of the lowest.", e.Name, number(e.Score), number(e.Max))
			continue
		}
		weight, weighted := t.Exercises.Weights[e.Name]
		line := fmt.Sprintf("%s: %s of %s points", e.Name, number(e.Score), number(e.Max))
		if weighted {
			line += fmt.Sprintf(", times %s: %s of %s", number(weight), number(weight*e.Score), number(weight*e.Max))
		} else {
			weight = 1
		}
		t.say("%s.", line)
		t.grade.Points += weight * e.Score
		t.earned[e.Name] += weight * e.Score
		t.grade.Max += weight * e.Max
	}
	t.counted = slices.DeleteFunc(t.counted, func(e Exercise) bool { return dropped[e.Name] })
	t.say("Sum: %s of %s.", number(t.grade.Points), number(t.grade.Max))
}

func (e Exercise) share() float64 {
	if e.Max == 0 {
		return 0
	}
	return e.Score / e.Max
}

// bonuses adds the best one of each exercise, where all of it was right.
func (t *tally) bonuses(Work) {
	for _, e := range t.counted {
		best := bonus{}
		for _, b := range t.Bonuses {
			if (b.Exercise == "" || b.Exercise == e.Name) && e.Score == e.Max && e.Speed > 0 && e.Speed < b.Below &&
				b.Points > best.Points {
				best = b
			}
		}
		if best.Points > 0 {
			t.grade.Points += best.Points
			t.earned[e.Name] += best.Points
			t.say("Bonus for speed in %s: +%s, since its time is %s of the limit, below %s.", e.Name, number(best.Points),
				number(round(e.Speed)), number(best.Below))
		}
	}
}

func (t *tally) adjust() {
	if t.student.Adjust == 0 {
		return
	}
	t.grade.Points += t.student.Adjust
	t.say("Adjusted by %s: %s", signed(t.student.Adjust), sentence(t.student.Comment))
}

func (t *tally) scale() {
	if t.Scale == 0 || t.grade.Max == 0 {
		return
	}
	t.say("On a scale to %s: %s × %s / %s.", number(t.Scale), number(t.grade.Points), number(t.Scale), number(t.grade.Max))
	t.grade.Points *= t.Scale / t.grade.Max
	t.grade.Max = t.Scale
}

func round(v float64) float64 { return math.Round(100*v) / 100 }

// number is a figure with at most two decimals.
func number(v float64) string { return strconv.FormatFloat(round(v), 'f', -1, 64) }

func signed(v float64) string {
	if v > 0 {
		return "+" + number(v)
	}
	return "−" + number(-v)
}

func sentence(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}
