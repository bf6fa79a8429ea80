package classpage

import (
	"cmp"
	"maps"
	"slices"

	"cudalab/grader/class"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/suite/verdict"
)

// mostFindings is how many kinds of findings are shown.
const mostFindings = 20

// commonFinding is one kind of finding in one exercise, with the example that most students share.
type commonFinding struct {
	Exercise, Rule string
	Severity       verdict.Severity
	Students       int
	Check          string // the name of the example's
	Example        verdict.Finding
	Place          string
}

// kind is what findings are counted by.
type kind struct {
	exercise, rule string
	severity       verdict.Severity
}

// tally is who has a kind of finding, and with which words.
type tally struct {
	students int
	words    map[string]int
	examples map[string]commonFinding
}

// commonFindings counts each kind once for each student. Those about code that was not run are among the build
// problems.
func commonFindings(c *class.Class) (shown []commonFinding, rest int) {
	found := map[kind]*tally{}
	for _, s := range c.Students {
		seen := map[kind]bool{}
		for i, r := range s.Exercises {
			for _, check := range asked(c.Exercises[i], r) {
				for _, f := range check.Findings {
					if f.Follows != nil {
						continue
					}
					k := kind{r.Exercise, f.Rule, f.Severity}
					if !seen[k] {
						seen[k] = true
						addTo(found, k, check, f)
					}
				}
			}
		}
	}
	var all []commonFinding
	for _, k := range slices.SortedFunc(maps.Keys(found), func(a, b kind) int {
		return cmp.Or(found[b].students-found[a].students, cmp.Compare(a.exercise, b.exercise), cmp.Compare(a.rule, b.rule),
			cmp.Compare(a.severity, b.severity))
	}) {
		all = append(all, found[k].commonest())
	}
	shown = all[:min(len(all), mostFindings)]
	return shown, len(all) - len(shown)
}

// asked are the checks that the course asks, without the one that stands for building.
func asked(e class.Exercise, r verdict.Report) []verdict.Check {
	return slices.DeleteFunc(slices.Clone(r.Checks), func(c verdict.Check) bool {
		return !slices.ContainsFunc(e.Checks, func(k class.Check) bool { return k.ID == c.ID })
	})
}

func addTo(found map[kind]*tally, k kind, check verdict.Check, f verdict.Finding) {
	t := found[k]
	if t == nil {
		t = &tally{words: map[string]int{}, examples: map[string]commonFinding{}}
		found[k] = t
	}
	t.students++
	t.words[f.Message]++
	if _, known := t.examples[f.Message]; !known {
		t.examples[f.Message] = commonFinding{Exercise: k.exercise, Rule: k.rule, Severity: k.severity, Check: check.Name,
			Example: f,
			Place:   gradebook.Place(f.File, f.Line)}
	}
}

// commonest is the example whose words most students share.
func (t *tally) commonest() commonFinding {
	words := slices.SortedFunc(maps.Keys(t.words), func(a, b string) int {
		return cmp.Or(t.words[b]-t.words[a], cmp.Compare(a, b))
	})
	example := t.examples[words[0]]
	example.Students = t.students
	f := &example.Example
	for _, text := range []*string{&f.Message, &f.Why, &f.Fix, &f.Picture, &example.Place} {
		*text = gradebook.Clean(*text)
	}
	return example
}

// buildProblem is code that could not be run at all.
type buildProblem struct {
	ID, Link, Exercise string
	What               string // "does not compile"
	Place, Message     string // of the first finding
	More               int    // findings
}

func buildProblems(c *class.Class) []buildProblem {
	var all []buildProblem
	for _, s := range c.Students {
		for _, r := range s.Exercises {
			if r.Status != verdict.BuildFailed && r.Status != verdict.Refused {
				continue
			}
			b := buildProblem{ID: gradebook.Clean(s.ID), Link: link(c, &s), Exercise: r.Exercise, What: gradebook.Word(r.Status),
				More: -1}
			for _, check := range r.Checks {
				for _, f := range check.Findings {
					if b.More++; b.More == 0 {
						b.Place, b.Message = gradebook.Clean(gradebook.Place(f.File, f.Line)), gradebook.Clean(f.Message)
					}
				}
			}
			all = append(all, b)
		}
	}
	return all
}
