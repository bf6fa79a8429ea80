package class

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/class/policy"
	"cudalab/grader/suite/verdict"
)

// speedChecks are those whose figures a bonus for speed goes by.
var speedChecks = []string{"speed", "cost"}

// grader gives students the grades that a policy makes of their results. The journal knows nothing of policies: another
// one makes other grades of the same results.
type grader struct {
	policy    *policy.Policy // nil: the points are the grade
	dir       string         // the folder of results
	exercises []Exercise
	earlier   map[string][]Student // results that others have taken the place of, by ID, the first ones first
}

// readPolicy reads the policy for a class with these exercises; nil where none was asked for.
func readPolicy(file string, exercises []Exercise) (*policy.Policy, error) {
	if file == "" {
		return nil, nil
	}
	known := policy.Course{}
	for _, e := range exercises {
		known[e.Name] = []string{}
		for _, c := range e.Checks {
			known[e.Name] = append(known[e.Name], c.ID)
		}
	}
	p, err := policy.Read(file, known)
	if err != nil {
		return nil, &UsageError{err.Error()}
	}
	return p, nil
}

// class gives everyone of a class their grade.
func (g grader) class(c *Class) {
	if g.policy == nil {
		return
	}
	c.Hidden = g.policy.Hidden
	graded, about := 0, map[string][]string{}
	var asked []string
	for i := range c.Students {
		c.Students[i] = g.student(c.Students[i])
		grade := c.Students[i].Grade
		if grade == nil {
			continue
		}
		graded++
		for _, ask := range grade.Ask {
			if about[ask] == nil {
				asked = append(asked, ask)
			}
			about[ask] = append(about[ask], c.Students[i].ID)
		}
	}
	for _, ask := range asked {
		c.Attention = append(c.Attention, together(ask, about[ask], graded)...)
	}
}

// several is how many students the same has to be asked of to be asked once.
const several = 4

// together is what a person is asked of students: of each, or where the same is so of several, once.
func together(ask string, ids []string, graded int) (asked []Attention) {
	switch {
	case len(ids) == graded && graded > 1:
		return []Attention{{"", fmt.Sprintf("Of all %d who were graded: %s", graded, ask)}}
	case len(ids) >= several:
		who := strings.Join(ids[:min(len(ids), 10)], ", ")
		if len(ids) > 10 {
			who += fmt.Sprintf(" and %d more", len(ids)-10)
		}
		return []Attention{{"", fmt.Sprintf("Of %d of %d who were graded, %s: %s", len(ids), graded, who, ask)}}
	}
	for _, id := range ids {
		asked = append(asked, Attention{id, ask})
	}
	return asked
}

// student is a result with its grade, or where the best of several counts, that one with its.
func (g grader) student(s Student) Student {
	if g.policy == nil || s.Status != Graded {
		return s
	}
	latest := g.grade(s, g.speeds(s.ID))
	switch g.policy.Attempt {
	case policy.Best:
	case policy.InTime:
		return g.inTime(s, latest)
	default:
		s.Grade = latest
		return s
	}
	best, grade, attempts := s, latest, 1
	for _, e := range g.attempts(s) {
		attempts++
		e.People, e.HandedIn, e.Withdrawn = s.People, s.HandedIn, s.Withdrawn
		if old := g.grade(e, nil); old.Points > grade.Points {
			best, grade = e, old
		}
	}
	if attempts > 1 {
		grade.How = append([]string{fmt.Sprintf("The best of %d attempts that were graded counts: the one with the "+
			"digest %s.", attempts, best.Digest)},
			grade.How...)
	}
	best.Grade = grade
	return best
}

// inTime is the last result of what somebody handed in before the deadline, or where none was, the last of all.
func (g grader) inTime(s Student, latest *policy.Grade) Student {
	if s.Grade = latest; g.policy.InTime(g.work(s, nil)) {
		return s
	}
	for _, e := range g.attempts(s) {
		if e.HandedIn.Time == "" || !g.policy.InTime(g.work(e, nil)) {
			continue
		}
		e.People, e.Withdrawn = s.People, s.Withdrawn
		e.Grade = g.grade(e, nil)
		e.Grade.How = append([]string{fmt.Sprintf("The last attempt before the deadline counts, handed in %s: the one with "+
			"the digest %s. What came %s does not.",
			e.HandedIn.Time, e.Digest, s.HandedIn.Time)}, e.Grade.How...)
		return e
	}
	return s
}

// attempts are the earlier results of other files than a student's last, each time the last one of the same files.
func (g grader) attempts(last Student) []Student {
	var found []Student
	seen := map[string]bool{last.Digest: true}
	for i := len(g.earlier[last.ID]) - 1; i >= 0; i-- {
		e := g.earlier[last.ID][i]
		if e.Status == Graded && !seen[e.Digest] {
			found = append(found, e)
			seen[e.Digest] = true
		}
	}
	return found
}

func (g grader) grade(s Student, speeds map[string]float64) *policy.Grade {
	return g.policy.Grade(g.work(s, speeds))
}

// work is what a policy is told of a result.
func (g grader) work(s Student, speeds map[string]float64) policy.Work {
	w := policy.Work{ID: s.ID, HandedIn: s.HandedIn.Time, Late: s.HandedIn.Late}
	for _, p := range s.People {
		for _, known := range []string{p.SID, p.Email, p.Login} {
			if known != "" {
				w.Known = append(w.Known, known)
			}
		}
	}
	for i, e := range g.exercises {
		r, _ := s.Report(i)
		w.Exercises = append(w.Exercises, policy.Exercise{Name: e.Name, Score: r.Score, Max: e.MaxScore,
			Speed: speeds[e.Name]})
	}
	return w
}

// speeds are the times of a student's code as shares of their limits, by exercise. Of an interval the lower end is
// taken: what is in doubt is the student's. Where the timings are lost there are none.
func (g grader) speeds(id string) map[string]float64 {
	if len(g.policy.Bonuses) == 0 {
		return nil
	}
	var t Timings
	text, err := os.ReadFile(filepath.Join(g.dir, timingsDir, id+".json"))
	if err != nil || json.Unmarshal(text, &t) != nil {
		return nil
	}
	speeds := map[string]float64{}
	for _, r := range t.Exercises {
		for _, c := range r.Checks {
			if !slices.Contains(speedChecks, c.ID) || c.Status != verdict.Passed {
				continue
			}
			for _, m := range c.Measurements {
				if m.Limit > 0 {
					speeds[r.Exercise] = max(speeds[r.Exercise], m.Low/m.Limit)
				}
			}
		}
	}
	return speeds
}

// Shown is a report as its student may see it: of hidden checks nothing but the points.
func (c *Class) Shown(r verdict.Report) verdict.Report {
	if r.Likely != nil && c.IsHidden(r.Exercise, r.Likely.Check) {
		r.Likely = nil
	}
	r.Checks = slices.Clone(r.Checks)
	for i, k := range r.Checks {
		if c.IsHidden(r.Exercise, k.ID) {
			r.Checks[i] = verdict.Check{ID: HiddenID, Name: HiddenName, Status: k.Status, Points: k.Points,
				MaxPoints: k.MaxPoints,
				Findings:  []verdict.Finding{}, Measurements: []verdict.Measurement{}}
		}
	}
	return r
}

// IsHidden reports whether students are not told about a check.
func (c *Class) IsHidden(exercise, check string) bool {
	return slices.Contains(c.Hidden, exercise+"."+check)
}

// What a hidden check is called where students see it.
const (
	HiddenID   = "hidden"
	HiddenName = "a check that is not shown"
)

// Final is what counts: the grade that a policy makes, else the points; ok is false where there is none.
func (s *Student) Final() (points, most float64, ok bool) {
	switch {
	case s.Status != Graded:
		return 0, s.MaxScore, false
	case s.Grade != nil:
		return s.Grade.Points, s.Grade.Max, true
	}
	return s.Score, s.MaxScore, true
}

// How says how the grade came about, a line for each step; nothing where no policy was in force.
func (s *Student) How() []string {
	if s.Grade == nil {
		return nil
	}
	return s.Grade.How
}
