package class

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"cudalab/grader/suite/verdict"
)

// maxOutput is how many bytes of what a student's code printed a settled report keeps.
const maxOutput = 16 << 10

// settle makes a report's settled form, which the same code, seed and device always give: without times, without what
// was measured and the sentences that name it in checks that take time, and with files named as they are below dir, the
// submission's folder. The report itself stays as it is.
func settle(r verdict.Report, isTimed func(check string) bool, dir string) verdict.Report {
	r.DurationMS = 0
	r.Device.Note = ""
	short := func(text string) string { return valid(strings.ReplaceAll(text, dir+string(filepath.Separator), "")) }
	r.Message, r.Next = short(r.Message), short(r.Next)
	if r.Gap != nil {
		r.Gap = &verdict.Gap{ID: r.Gap.ID, File: short(r.Gap.File), Line: r.Gap.Line, Text: valid(r.Gap.Text)}
	}
	if r.Likely != nil {
		likely := *r.Likely
		likely.File, likely.Where, likely.Question = short(likely.File), short(likely.Where), valid(likely.Question)
		r.Likely = &likely
	}
	r.Output = settleOutput(short(r.Output), stopped(r))
	r.Checks = slices.Clone(r.Checks)
	if r.Checks == nil {
		r.Checks = []verdict.Check{}
	}
	for i, c := range r.Checks {
		timed := isTimed(c.ID)
		c.Message = short(c.Message)
		if timed && c.Status == verdict.Passed {
			c.Message = "Within the limits."
		}
		c.Measurements = []verdict.Measurement{}
		findings := []verdict.Finding{}
		for _, f := range c.Findings {
			if timed && f.Severity == verdict.Remark { // a remark on a figure near its limit comes and goes
				continue
			}
			f = settleFinding(f)
			f.File, f.Message, f.Why, f.Fix, f.Picture = short(f.File), short(f.Message), short(f.Why), short(f.Fix),
				valid(f.Picture)
			if f.Follows != nil {
				cause := *f.Follows
				cause.File = short(cause.File)
				f.Follows = &cause
			}
			f.Related = slices.Clone(f.Related)
			for j := range f.Related {
				f.Related[j].File, f.Related[j].Message = short(f.Related[j].File), short(f.Related[j].Message)
			}
			findings = append(findings, f)
		}
		c.Findings = findings
		r.Checks[i] = c
	}
	return r
}

// The rules whose findings name what was measured, or where cudalab happened to find code that it stopped.
const (
	ruleSlow    = "too-slow"
	ruleGrows   = "grows"
	ruleMemory  = "host-memory"
	ruleTimeout = "timeout"
)

func settleFinding(f verdict.Finding) verdict.Finding {
	switch f.Rule {
	case ruleSlow:
		f.Message = "Your code should take about the solution's time, but takes longer than the limit allows."
	case ruleGrows:
		f.Message = "An operation should cost about the same among many blocks as among few, but its cost grows with their " +
			"number."
	case ruleMemory:
		f.Message = "Your code should get by with a few MiB of host memory, but took more than the limit allows and was " +
			"stopped."
		f = atLoop(f)
	case ruleTimeout:
		f = atLoop(f)
	}
	return f
}

// stopped reports whether cudalab ended the code at a moment that differs from run to run.
func stopped(r verdict.Report) bool {
	return r.Status == verdict.Timeout || slices.ContainsFunc(r.Checks, func(c verdict.Check) bool {
		return slices.ContainsFunc(c.Findings, func(f verdict.Finding) bool {
			return f.Rule == ruleMemory ||
				f.Rule == ruleTimeout
		})
	})
}

// settleOutput keeps the start of what the code printed: of code that was stopped, how much it had printed is chance,
// and so is where the end begins of output that was cut.
func settleOutput(text string, stopped bool) string {
	switch {
	case text == "":
		return ""
	case stopped:
		return "[The code was stopped while it ran: what it had printed until then is with the timings.]\n"
	case len(text) <= maxOutput:
		return text
	}
	text = text[:maxOutput]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text + "\n[The rest of the output is left out.]\n"
}

// atLoop moves a finding about code that was stopped from the line that happened to be running to the loop around it,
// or to the function where there is none: the outermost in which the student's code was called.
func atLoop(f verdict.Finding) verdict.Finding {
	if n := len(f.Related); n > 0 {
		f.File, f.Line = f.Related[n-1].File, f.Related[n-1].Line
	}
	f.Related = nil
	if f.File == "" {
		return f
	}
	text, err := os.ReadFile(f.File)
	if err != nil {
		return f
	}
	if line, ok := outermost(text, f.Line); ok {
		f.Line = line
	}
	return f
}

// outermost is the line of the outermost loop around a line of a Go file, or else of the function around it.
func outermost(text []byte, line int) (at int, ok bool) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return 0, false
	}
	around := func(n ast.Node) bool {
		return set.Position(n.Pos()).Line <= line && line <= set.Position(n.End()).Line
	}
	loop := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil || !around(n) || loop > 0 {
			return false
		}
		switch n.(type) {
		case *ast.FuncDecl:
			at = set.Position(n.Pos()).Line
		case *ast.ForStmt, *ast.RangeStmt:
			loop = set.Position(n.Pos()).Line
		}
		return true
	})
	if loop > 0 {
		at = loop
	}
	return at, at > 0
}

// missing is the report on an exercise that was not handed in, or of a submission that could not be used.
func missing(e Exercise, s submission, h Header) verdict.Report {
	message, status := s.Problem, verdict.NotStarted
	if slices.Contains(s.Unread, e.Package) {
		message, status = cmp.Or(s.Problem, s.Unclear), verdict.Unread
	}
	if message == "" {
		message = fmt.Sprintf("Not handed in: the submission has no folder %s with Go files.", e.Package)
	}
	return verdict.Report{Schema: verdict.SchemaVersion, Exercise: e.Name, Device: h.Device, Status: status,
		Message:  message,
		MaxScore: e.MaxScore, Seed: h.Seed, Checks: []verdict.Check{}}
}

func sentence(err error) string {
	text := valid(strings.TrimSpace(err.Error()))
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// valid is text as JSON can hold it.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
