// Package sarif writes reports in the Static Analysis Results Interchange Format, version 2.1.0, which GitHub's code
// scanning and editors show beside the source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/. All reports of a check
// make one run. The same reports give the same bytes.
package sarif

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"cudalab/grader/judge/visible"
	"cudalab/grader/suite/verdict"
)

const schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// sourceRoot is the name that readers know for the folder that paths are relative to.
const sourceRoot = "%SRCROOT%"

// levels are what the format calls severities.
var levels = map[verdict.Severity]string{verdict.Error: "error", verdict.Remark: "warning", verdict.Unwritten: "note",
	verdict.Consequence: "note", verdict.Suspected: "note"}

// Input is a report with what it takes to place what it says.
type Input struct {
	Report verdict.Report
	Main   string // the exercise's file, which stands for no line in particular
}

// Write writes one log of all reports.
func Write(w io.Writer, reports []Input) error {
	r := run{Tool: tool{Driver: driver{Name: "cudalab", Rules: []rule{}}}, ColumnKind: "utf16CodeUnits",
		Results: []result{}}
	known := map[string]int{}
	done := invocation{ExecutionSuccessful: true}
	for _, in := range reports {
		r.Tool.Driver.Version = in.Report.Cudalab
		if in.Report.Status == verdict.Errored {
			done.ExecutionSuccessful = false
			done.Notifications = append(done.Notifications, notification{Level: "error", Message: message{said(in.Report.Message,
				in.Report.Next)}})
			continue
		}
		for _, f := range in.Report.Notices(in.Main) {
			at, found := known[f.Rule]
			if !found {
				at = len(r.Tool.Driver.Rules)
				known[f.Rule] = at
				r.Tool.Driver.Rules = append(r.Tool.Driver.Rules, ruleOf(f))
			}
			r.Results = append(r.Results, resultOf(f, at, in.Report.Exercise))
		}
	}
	r.Invocations = []invocation{done}
	return visible.WriteJSON(w, log{Schema: schema, Version: "2.1.0", Runs: []run{r}})
}

// ruleOf describes a rule by the first finding that names it: why CUDA has the rule, and what mends it there.
func ruleOf(f verdict.Finding) rule {
	r := rule{ID: f.Rule, Default: configuration{levels[f.Severity]}}
	why := f.Why
	if f.Severity == verdict.Unwritten {
		why = "A gap is still to be written: `cudalab hint` helps with it."
	}
	if why != "" {
		r.Short = &message{why}
	}
	if help := said(why, f.Fix); help != "" {
		r.Help = &message{help}
	}
	return r
}

func resultOf(f verdict.Finding, ruleIndex int, exercise string) result {
	r := result{RuleID: f.Rule, RuleIndex: ruleIndex, Level: levels[f.Severity], Message: message{said(f.Message, f.Fix)},
		Locations: []location{placed(f.File, f.Line)}, Properties: properties{exercise}}
	for _, other := range f.Related {
		if other.File == "" {
			continue
		}
		l := placed(other.File, max(other.Line, 1))
		l.ID, l.Message = len(r.Related)+1, &message{other.Message}
		r.Related = append(r.Related, l)
	}
	return r
}

// said is text with what mends it behind.
func said(text, fix string) string {
	if fix == "" {
		return text
	}
	return strings.TrimSpace(text + "\nFix: " + fix)
}

// placed is a line as a whole. Columns are left out: a finding's are bytes, the format's are characters, and readers
// show the line anyway.
func placed(file string, line int) location {
	at := artifact{URI: (&url.URL{Path: filepath.ToSlash(file)}).String(), Base: sourceRoot}
	if filepath.IsAbs(file) {
		path := filepath.ToSlash(file)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path
		}
		at = artifact{URI: (&url.URL{Scheme: "file", Path: path}).String()}
	}
	return location{Physical: physical{Artifact: at, Region: region{StartLine: line}}}
}
