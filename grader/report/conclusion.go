package report

import (
	"fmt"
	"strings"

	"cudalab/grader/suite"
)

// verdicts are what a status is called on a terminal, and what it means where the report itself says no more.
var verdicts = map[suite.Status]struct{ name, meaning string }{
	suite.Passed:      {"PASSED", ""},
	suite.Failed:      {"FAILED", ""},
	suite.NotStarted:  {"NOT STARTED", ""},
	suite.BuildFailed: {"DOES NOT COMPILE", "Nothing was run."},
	suite.Refused:     {"REFUSED", "The code uses what exercises may not use; nothing was run."},
	suite.Timeout:     {"TIMEOUT", "Your code did not return in time and was stopped."},
	suite.Crashed:     {"CRASHED", "Your code ended before it was done."},
	suite.Unread:      {"UNREAD", "What was handed in could not be read; a person has to look."},
	suite.Errored:     {"ERROR", "This is cudalab's fault or the machine's, not your code's."},
}

// verdict is the status and the score.
func (p *printer) verdict() string {
	r := p.report
	verdict, known := verdicts[r.Status]
	if !known {
		verdict.name = strings.ToUpper(string(r.Status))
	}
	style := p.palette.bad
	switch {
	case r.Status == suite.Passed:
		style = p.palette.good
	case r.Status == suite.NotStarted:
		style = p.palette.odd
	case r.Unfinished():
		verdict.name, style = "UNFINISHED", p.palette.odd
	}
	text := style(verdict.name)
	if r.Status != suite.Errored && r.MaxScore > 0 {
		text += fmt.Sprintf("  %s of %s points", points(r.Score), points(r.MaxScore))
	}
	return text
}

// conclusion is the last word: the status, the score, how to see the same again, what to do next.
func (p *printer) conclusion() {
	r := p.report
	p.line("")
	p.line(p.verdict())
	message := r.Message
	if message == "" {
		message = verdicts[r.Status].meaning
	}
	if message != "" {
		p.block(0, "", message, plain)
	}
	if r.Status == suite.Failed && !r.Unfinished() || r.Status == suite.Timeout || r.Status == suite.Crashed {
		p.line(p.palette.dim(fmt.Sprintf("The workloads were drawn from seed %d.", r.Seed)))
	}
	if r.Next != "" {
		p.block(0, "Next: ", r.Next, p.palette.bold)
	}
}
