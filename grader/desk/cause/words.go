package cause

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/mend"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
	"cudalab/lessons"
)

// nothing is what there is to say of a result for which nothing is looked for; "" for one whose cause can be.
func nothing(root string, e course.Exercise, r check.Result) string {
	again := fmt.Sprintf("`cudalab check %s`", e.Name)
	switch r.Report.Status {
	case verdict.Passed:
		return fmt.Sprintf("Every check of %s passes: there is nothing to look for.", e.Name)
	case verdict.NotStarted:
		return fmt.Sprintf("Nothing of %s is written yet, so there is nothing to look for. `cudalab lesson %[1]s` is where "+
			"to begin.", e.Name)
	case verdict.BuildFailed:
		return fmt.Sprintf("Your code does not compile yet: %s says where. A cause can be looked for when it runs.", again)
	case verdict.Refused:
		return fmt.Sprintf("Your code uses what an exercise may not use: %s says where. A cause can be looked for when it "+
			"runs.", again)
	case verdict.Errored:
		return r.Report.Message
	}
	if r.Report.Unfinished() && (r.Report.Completed == nil || len(r.Report.Completed.Fails) == 0) {
		return fmt.Sprintf("Nothing is wrong with what is written so far, so there is nothing to look for: TODO(%s) is "+
			"next, and `cudalab hint %s` helps with it.", gapID(r.Report), e.Name)
	}
	if onlySlow(r, e) && r.Report.Device.Kind != "sim" { // by a clock that is chance nothing can be tried
		return tooSlow(root, e)
	}
	return ""
}

// onlySlow reports whether time is all that a check has failed by.
func onlySlow(r check.Result, e course.Exercise) bool {
	failed := func(timed bool) bool {
		return slices.ContainsFunc(r.Report.Checks, func(c verdict.Check) bool {
			return c.Status == verdict.Failed && e.Suite.IsTimed(c.ID) == timed
		})
	}
	return failed(true) && !failed(false)
}

// gapID is the first gap that is left.
func gapID(r verdict.Report) string {
	if r.Gap == nil {
		return ""
	}
	return r.Gap.ID
}

func tooSlow(root string, e course.Exercise) string {
	text := "Your code is right and too slow, and no single change was found that is enough for that: "
	if e.HasSolution(root) {
		return text + "`cudalab bench " + e.Name + "` shows what takes the time."
	}
	return text + "`cudalab hint " + e.Name + "` helps."
}

// notFound is what there is to say where the search has found nothing to tell.
func notFound(root string, e course.Exercise, r check.Result) string {
	if onlySlow(r, e) {
		return tooSlow(root, e)
	}
	text := "No single small change was found that is enough. That says nothing against your code: the cause may be in " +
		"two places, or take more than a line."
	switch {
	case r.Report.Completed != nil:
		text += " Changes were tried in what is written so far: if the rest is to work in another way than the " +
			"solution's, there may be no mistake in it."
	case r.Report.Gap != nil:
		text += fmt.Sprintf(" Changes were tried in what is written so far: what TODO(%s) is to do may be it, too.",
			r.Report.Gap.ID)
	case r.Report.Status == verdict.Timeout:
		text += " It does not come to an end: begin with the loop that the check names."
	case !e.HasSolution(root):
		text += " There are no solutions in this copy of the course to compare with, so only small slips were tried."
	}
	return text + fmt.Sprintf(" `cudalab hint %s` helps with what the check found.", e.Name)
}

func (a *Answer) say(text string) { a.Parts = append(a.Parts, Part{Text: text}) }

func (a *Answer) show(lines ...string) {
	a.Parts = append(a.Parts, Part{Text: strings.Join(lines, "\n"), Code: true})
}

// tell tells so many steps of a cause, of those that there may be.
func (a *Answer) tell(cause *mend.Cause, steps, most int) {
	a.say(cause.Where())
	if line := strings.TrimSpace(lineOf(cause.Place)); line != "" {
		a.show(fmt.Sprintf("%d │ %s", cause.Place.Line, line))
	}
	question := cause.Question()
	if question == "" { // of changes that do not agree in what they are there is no more to say
		a.say("Several changes there are enough, and they are not alike: there is no more to say than the place.")
		return
	}
	if steps >= 2 {
		a.say(question)
	}
	if steps >= 3 {
		a.say(cause.Difference())
	}
	if steps >= lessons.AllSteps {
		for _, h := range cause.Hunks() {
			a.show(append(signed("- ", h.Was), signed("+ ", h.Now)...)...)
		}
	}
	switch {
	case steps < min(most, lessons.AllSteps-1):
		a.say("Ask again for the next step.")
	case steps < most:
		a.say("The next step is the change itself. It comes when you have changed your code, and ask again.")
	}
}

func signed(sign string, lines []string) (all []string) {
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			all = append(all, sign+strings.ReplaceAll(line, "\t", "    "))
		}
	}
	return all
}

func indented(code string) (lines []string) {
	for line := range strings.SplitSeq(code, "\n") {
		lines = append(lines, "  "+line)
	}
	return lines
}

// lineOf is the text of the line of a place; "" where it cannot be had.
func lineOf(at verdict.Place) string {
	text, _ := os.ReadFile(at.File)
	lines := strings.Split(string(text), "\n")
	if at.Line < 1 || at.Line > len(lines) {
		return ""
	}
	return lines[at.Line-1]
}
