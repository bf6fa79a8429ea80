package report

import (
	"fmt"
	"strings"

	"cudalab/grader/suite/verdict"
)

// verdicts are what a status is called on a terminal, and what it means where the report itself says no more.
var verdicts = map[verdict.Status]struct{ name, meaning string }{
	verdict.Passed:      {"PASSED", ""},
	verdict.Failed:      {"FAILED", ""},
	verdict.NotStarted:  {"NOT STARTED", ""},
	verdict.BuildFailed: {"DOES NOT COMPILE", "Nothing was run."},
	verdict.Refused:     {"REFUSED", "The code uses what exercises may not use; nothing was run."},
	verdict.Timeout:     {"TIMEOUT", "Your code did not return in time and was stopped."},
	verdict.Crashed:     {"CRASHED", "Your code ended before it was done."},
	verdict.Unread:      {"UNREAD", "What was handed in could not be read; a person has to look."},
	verdict.Errored:     {"ERROR", "This is cudalab's fault or the machine's, not your code's."},
}

// verdict is the status and the score.
func (p *printer) verdict() string {
	r := p.report
	said, known := verdicts[r.Status]
	if !known {
		said.name = strings.ToUpper(string(r.Status))
	}
	style := p.palette.bad
	switch {
	case r.Status == verdict.Passed:
		style = p.palette.good
	case r.Status == verdict.NotStarted:
		style = p.palette.odd
	case r.Unfinished():
		said.name, style = "UNFINISHED", p.palette.odd
	}
	text := style(said.name)
	if r.Status != verdict.Errored && r.MaxScore > 0 {
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
	if r.Status == verdict.Failed && !r.Unfinished() || r.Status == verdict.Timeout || r.Status == verdict.Crashed {
		p.line(p.palette.dim(fmt.Sprintf("The workloads were drawn from seed %d.", r.Seed)))
	}
	if r.Next != "" {
		p.block(0, "Next: ", r.Next, p.palette.bold)
	}
}
