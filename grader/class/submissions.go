package class

import (
	"maps"
	"slices"
	"strings"

	"cudalab/grader/class/intake"
	"cudalab/grader/class/policy"
)

// open reads all submissions into private folders below temp; found are those of the shard.
func open(o Options, temp string, rules *policy.Policy) (in *intake.Intake, found []submission, err error) {
	read := intake.Options{Temp: temp}
	if rules != nil && rules.Attempt == policy.InTime {
		read.Counts = func(who []string, at string) bool { return rules.InTime(policy.Work{Known: who, HandedIn: at}) }
	}
	if in, err = intake.Open(o.Submissions, packages(o), read); err != nil {
		return nil, nil, &UsageError{err.Error()}
	}
	for _, note := range in.Notes() {
		o.say("%s", note)
	}
	for i, s := range in.Submissions() {
		if o.Shard.Of > 0 && i%o.Shard.Of != o.Shard.Index-1 {
			continue
		}
		digest, err := digestOf(s)
		if err != nil {
			in.Close()
			return nil, nil, err
		}
		found = append(found, submission{s, digest})
	}
	return in, found, nil
}

func packages(o Options) []string {
	var names []string
	for _, e := range o.Exercises {
		names = append(names, e.Package)
	}
	return names
}

// submission is one with the digest of its files.
type submission struct {
	intake.Submission
	digest string
}

// todo are the submissions to be graded now: those without a result, with one that was no grade, or with one of other
// files; with Options.Only those named, whatever they have.
func (g *grading) todo(submissions []submission) ([]submission, error) {
	for _, id := range g.Only {
		if !slices.ContainsFunc(submissions, func(s submission) bool { return s.ID == id }) {
			return nil, usagef("There is no submission of %q in %s.%s", id, g.Submissions, like(id, submissions))
		}
	}
	var todo []submission
	var changed []string
	handed := map[string]bool{}
	for _, s := range submissions {
		handed[s.ID] = true
		old, known := g.results[s.ID]
		other := known && old.Status != Errored && old.Digest != s.digest
		switch {
		case len(g.Only) > 0 && !slices.Contains(g.Only, s.ID):
			continue
		case len(g.Only) > 0 || !known || old.Status == Errored || g.again(old):
			todo = append(todo, s)
		case other:
			changed = append(changed, s.ID)
			todo = append(todo, s)
		}
	}
	if len(changed) > 0 {
		g.say("Changed since they were graded, and graded again: %s.", strings.Join(changed, ", "))
	}
	var gone []string
	for _, id := range slices.Sorted(maps.Keys(g.results)) {
		if !handed[id] {
			gone = append(gone, id)
		}
	}
	if len(gone) > 0 {
		g.say("No longer among the submissions: %s. Their results are kept, marked as withdrawn.", strings.Join(gone, ", "))
	}
	if kept := len(submissions) - len(todo); kept > 0 && len(g.Only) == 0 {
		g.say("Graded before: %d of %d submissions.", kept, len(submissions))
	}
	return todo, nil
}

// like names submissions that may have been meant.
func like(id string, submissions []submission) string {
	var near []string
	for _, s := range submissions {
		if strings.Contains(strings.ToLower(s.ID), strings.ToLower(id)) && len(near) < 5 {
			near = append(near, s.ID)
		}
	}
	if len(near) == 0 {
		return ""
	}
	return " Did you mean " + strings.Join(near, ", ") + "?"
}
