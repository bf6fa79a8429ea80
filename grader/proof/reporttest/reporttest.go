// Package reporttest has classes for the tests of the formats that results are written in: every status that there is,
// hostile texts, and a large class.
package reporttest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"cudalab/grader/class"
	"cudalab/grader/suite/verdict"
)

var device = verdict.Device{Kind: "gpu", Name: "NVIDIA H200", Driver: "13.0"}

var exercises = []class.Exercise{
	{Name: "async-pipeline", Package: "asyncpipeline", Title: "A pipeline that never waits", MaxScore: 45,
		Checks: []class.Check{
			{ID: "arguments", Name: "refuses bad arguments before any CUDA call", MaxPoints: 10},
			{ID: "order", Name: "every use is ordered after its allocation", MaxPoints: 20},
			{ID: "speed", Name: "as fast as overlapping batches allow", MaxPoints: 15}}},
	{Name: "slab", Package: "slab", Title: "A block in a few nanoseconds", MaxScore: 55, Checks: []class.Check{
		{ID: "blocks", Name: "blocks never overlap", MaxPoints: 30},
		{ID: "cost", Name: "costs the same among many blocks", MaxPoints: 25}}},
}

// Race is a finding with all that a finding can have.
var Race = verdict.Finding{
	Rule: "free-before-use", Severity: verdict.Error,
	Message: "FreeAsync on streams[1] frees what the launch of reduce on streams[0] reads.",
	Why:     "FreeAsync waits only for earlier work on its own stream.",
	Fix:     "Record an event on streams[0] and make streams[1] wait for it.",
	File:    "asyncpipeline/asyncpipeline.go", Line: 41,
	Related: []verdict.Related{{File: "asyncpipeline/asyncpipeline.go", Line: 44, Message: "used here, on streams[0]"}},
	Picture: "streams[0]   reduce\n               └┄┄┄┄┄┐  missing\nstreams[1]       FreeAsync\n",
}

var remark = verdict.Finding{Rule: "needless-wait", Severity: verdict.Remark, Message: "This wait orders nothing.",
	Fix:  "Leave it out.",
	File: "slab/slab.go", Line: 7}

// Class is an empty class.
func Class() *class.Class {
	return &class.Class{Schema: class.SchemaVersion, Seed: 42, Device: device, Exercises: exercises,
		Versions: class.Versions{Cudalab: "v1.2.3", Course: "0123456789abcdef", Go: "go1.26.8"}}
}

// Sample is a class in which there is a student for every way that a submission can end.
func Sample() *class.Class {
	c := Class()
	c.Students = []class.Student{
		student("ada", report(c, 0, verdict.Passed), with(report(c, 1, verdict.Passed), 1, remark)),
		student("bob", with(fail(report(c, 0, verdict.Passed), 1, Race), 0), report(c, 1, verdict.NotStarted)),
		student("carl", unbuilt(c, 0, verdict.BuildFailed, "compile", "declared and not used: y"),
			unbuilt(c, 1, verdict.Refused, "import", `The import of "os" is refused.`)),
		student("dora", unbuilt(c, 0, verdict.BuildFailed, "compile", "undefined: z"), report(c, 1, verdict.Passed)),
		student("emil", stopped(c, 0, verdict.Timeout), stopped(c, 1, verdict.Crashed)),
		student("zoë", report(c, 0, verdict.NotStarted), report(c, 1, verdict.NotStarted)),
		{Schema: class.SchemaVersion, ID: "lost", Status: class.Errored, MaxScore: 100, Notes: []string{},
			Problem: "Not graded, by no fault of the submission's: the GPU is lost."},
		student("torn", report(c, 0, verdict.NotStarted), report(c, 1, verdict.NotStarted)),
	}
	torn := &c.Students[len(c.Students)-1]
	torn.Problem, torn.Notes = "The archive is damaged.", []string{"Left aside: notes.txt."}
	return c
}

// Partial is a class with one student, who has a part of the points of a check.
func Partial() *class.Class {
	c := Class()
	r := report(c, 0, verdict.Passed)
	r.Checks[2].Points, r.Score = 12.5, 42.5
	c.Students = []class.Student{student("ada", r, report(c, 1, verdict.Passed))}
	return c
}

// HostileTexts are what nobody would write who means well: each format has characters that end or begin something.
var HostileTexts = []string{
	`</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `]]>`, `&amp;&#0;<!--`,
	`'; DROP TABLE grades; --`, "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "＝1", "a,b\"c\r\nd",
	"\x00\x01\x1b[31mred\x7f", "\ufffe\uffff\u202e\u2028", "\xff\xfe\xc3",
	"::set-output name=x::y", "{{.}}", "%s%!", "../../etc/passwd", "javascript:alert(1)", strings.Repeat("ä", 100_000),
}

// Hostile is a class in which everything that students have a hand in is one of the hostile texts.
func Hostile() *class.Class {
	c := Class()
	for i, text := range HostileTexts {
		f := verdict.Finding{Rule: "panic", Severity: verdict.Error, Message: text, Why: text, Fix: text, File: text, Line: 1,
			Picture: text,
			Related: []verdict.Related{{File: text, Line: 2, Message: text}}}
		r := fail(report(c, 0, verdict.Passed), 1, f)
		r.Message, r.Output = text, text
		s := student(text, r, unbuilt(c, 1, verdict.BuildFailed, "compile", text))
		s.Notes = []string{text}
		c.Students = append(c.Students, s)
		lost := class.Student{Schema: class.SchemaVersion, ID: fmt.Sprintf("%d%s", i, text), Status: class.Errored,
			Problem: text, MaxScore: 100}
		c.Students = append(c.Students, lost)
	}
	return c
}

// Large is a class of so many students in six exercises of eight checks, drawn from a fixed seed.
func Large(students int) *class.Class {
	c := Class()
	c.Exercises = nil
	for i := range 6 {
		e := class.Exercise{Name: fmt.Sprintf("exercise-%d", i+1), Package: fmt.Sprintf("exercise%d", i+1),
			Title: "Halves of halves", MaxScore: 100}
		for j, id := range []string{"arguments", "results", "placement", "order", "blocks", "coalescing", "cleanup",
			"speed"} {
			e.Checks = append(e.Checks, class.Check{ID: id, Name: "what the check asks, in words", MaxPoints: []float64{10,
				15}[j%2]})
		}
		c.Exercises = append(c.Exercises, e)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range students {
		var reports []verdict.Report
		ability := r.Float64()
		for j := range c.Exercises {
			reports = append(reports, draw(c, j, ability, r))
		}
		c.Students = append(c.Students, student(fmt.Sprintf("student-%03d", i+1), reports...))
	}
	return c
}

func draw(c *class.Class, exercise int, ability float64, r *rand.Rand) verdict.Report {
	switch v := r.Float64(); {
	case v < 0.05:
		return report(c, exercise, verdict.NotStarted)
	case v < 0.08:
		return unbuilt(c, exercise, verdict.BuildFailed, "compile", "declared and not used: x")
	case v < 0.1:
		return stopped(c, exercise, verdict.Timeout)
	}
	d := report(c, exercise, verdict.Passed)
	for i := range d.Checks {
		if r.Float64() > 0.6+0.6*ability {
			f := Race
			f.Rule = fmt.Sprintf("rule-%d", r.IntN(30))
			f.Line = 1 + r.IntN(90)
			d = fail(d, i, f)
		}
	}
	return d
}

// report is one in which every check has passed, or of what was not handed in.
func report(c *class.Class, exercise int, status verdict.Status) verdict.Report {
	e := c.Exercises[exercise]
	r := verdict.Report{Schema: verdict.SchemaVersion, Exercise: e.Name, Device: c.Device, Status: status,
		MaxScore: e.MaxScore, Seed: c.Seed,
		Checks: []verdict.Check{}}
	if status != verdict.Passed {
		r.Message = "Not handed in: the submission has no folder " + e.Package + " with Go files."
		return r
	}
	r.Score = e.MaxScore
	for _, k := range e.Checks {
		r.Checks = append(r.Checks, verdict.Check{ID: k.ID, Name: k.Name, Status: verdict.Passed, Points: k.MaxPoints,
			MaxPoints: k.MaxPoints,
			Message:   "As it should be.", Findings: []verdict.Finding{}, Measurements: []verdict.Measurement{}})
	}
	return r
}

// fail makes a check fail for what was found.
func fail(r verdict.Report, check int, fs ...verdict.Finding) verdict.Report {
	k := &r.Checks[check]
	r.Score -= k.Points
	r.Status, k.Status, k.Points, k.Message, k.Findings = verdict.Failed, verdict.Failed, 0, "", fs
	return r
}

// with adds findings to a check; a report without a timed part has its last check skipped.
func with(r verdict.Report, check int, fs ...verdict.Finding) verdict.Report {
	r.Checks[check].Findings = append(r.Checks[check].Findings, fs...)
	if r.Status == verdict.Failed {
		last := &r.Checks[len(r.Checks)-1]
		r.Score -= last.Points
		last.Status, last.Points, last.Message = verdict.Skipped, 0, "Time is measured once everything above has passed."
	}
	return r
}

func unbuilt(c *class.Class, exercise int, status verdict.Status, rule, message string) verdict.Report {
	r := report(c, exercise, status)
	r.Message = ""
	pkg := c.Exercises[exercise].Package
	r.Checks = []verdict.Check{{ID: "build", Name: "compiles", Status: verdict.Failed,
		Measurements: []verdict.Measurement{},
		Findings: []verdict.Finding{{Rule: rule, Severity: verdict.Error, Message: message, Fix: "Leave it out.",
			File: pkg + "/" + pkg + ".go", Line: 3}}}}
	return r
}

// stopped is a report of which the first check says how the code ended.
func stopped(c *class.Class, exercise int, status verdict.Status) verdict.Report {
	r := report(c, exercise, verdict.Passed)
	for i := range r.Checks {
		k := &r.Checks[i]
		k.Status, k.Points, k.Message = verdict.Skipped, 0, "Could not be asked: see above how your code ended."
	}
	r.Checks[0].Status, r.Checks[0].Message = verdict.Failed, ""
	r.Checks[0].Findings = []verdict.Finding{{Rule: string(status), Severity: verdict.Error,
		Message: "Your code did not return.", Fix: "Look at the loop."}}
	r.Status, r.Score = status, 0
	return r
}

func student(id string, reports ...verdict.Report) class.Student {
	s := class.Student{Schema: class.SchemaVersion, ID: id, Status: class.Graded, Notes: []string{}, Digest: "0",
		Exercises: reports}
	for _, r := range reports {
		s.Score += r.Score
		s.MaxScore += r.MaxScore
	}
	return s
}
