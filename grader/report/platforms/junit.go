package platforms

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/class"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/suite/verdict"
)

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	junitCounts
	Suites []junitSuite `xml:"testsuite"`
}

type junitCounts struct {
	Tests    int     `xml:"tests,attr"`
	Failures int     `xml:"failures,attr"`
	Errors   int     `xml:"errors,attr"`
	Skipped  int     `xml:"skipped,attr"`
	Time     seconds `xml:"time,attr"`
}

// seconds is how long something took. Checks have no time of their own: the same cases are run for several of them.
type seconds float64

// MarshalText writes it with milliseconds, and without an exponent.
func (s seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(s), 'f', 3, 64), nil
}

func (n *junitCounts) add(o junitCounts) {
	n.Time += o.Time
	n.Tests += o.Tests
	n.Failures += o.Failures
	n.Errors += o.Errors
	n.Skipped += o.Skipped
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	junitCounts
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	Output     string          `xml:"system-out,omitempty"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	Time      seconds       `xml:"time,attr"`
	File      string        `xml:"file,attr,omitempty"`
	Line      int           `xml:"line,attr,omitempty"`
	Failure   *junitProblem `xml:"failure"`
	Error     *junitProblem `xml:"error"`
	Skipped   *junitSkipped `xml:"skipped"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

// JUnit writes the results of all students as JUnit XML, which continuous integration systems show: a test suite for
// each student and exercise, a test case for each check. There is no standard; what is written is what Jenkins, GitLab
// and the GitHub actions for it read alike, as the Windy Road schema has it, https://github.com/windyroad/JUnit-Schema.
// Timings are a student's, by ID; where they are lost the times are 0.
func JUnit(w io.Writer, c *class.Class, timings func(id string) class.Timings) error {
	all := junitSuites{Name: "cudalab"}
	for i := range c.Students {
		for _, s := range junitStudent(c, &c.Students[i], timings(c.Students[i].ID)) {
			all.add(s.junitCounts)
			all.Suites = append(all.Suites, s)
		}
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

// junitStudent is a suite for each exercise; without a grade there is one that says so.
func junitStudent(c *class.Class, s *class.Student, timings class.Timings) []junitSuite {
	if s.Status != class.Graded {
		text := gradebook.Clean(s.Problem)
		only := junitCase{Name: "grading", ClassName: gradebook.Clean(s.ID), Error: &junitProblem{Message: firstLine(text),
			Type: string(s.Status), Text: text}}
		return []junitSuite{newJUnitSuite(c, s, "", []junitCase{only})}
	}
	tests := gradebook.Tests(c, s)
	var all []junitSuite
	for i, e := range c.Exercises {
		var cases []junitCase
		for _, t := range tests {
			if t.Exercise == e.Name {
				cases = append(cases, newJUnitCase(s.ID, t))
			}
		}
		r := newJUnitSuite(c, s, ": "+e.Name, cases)
		for _, t := range timings.Exercises {
			if t.Exercise == e.Name {
				r.Time = seconds(float64(t.DurationMS) / 1000)
			}
		}
		r.Output = gradebook.Clean(s.Exercises[i].Output)
		all = append(all, r)
	}
	return all
}

func newJUnitSuite(c *class.Class, of *class.Student, name string, cases []junitCase) junitSuite {
	s := junitSuite{Name: gradebook.Clean(of.ID + name), junitCounts: junitCounts{Tests: len(cases)}, Cases: cases,
		Properties: []junitProperty{
			{"seed", strconv.FormatUint(c.Seed, 10)}, {"device", c.Device.Name}, {"driver", c.Device.Driver},
			{"cudalab", c.Versions.Cudalab}, {"course", c.Versions.Course}, {"go", c.Versions.Go}, {"page", of.Page},
		}}
	s.Properties = slices.DeleteFunc(s.Properties, func(p junitProperty) bool { return p.Value == "" })
	for _, k := range cases {
		switch {
		case k.Failure != nil:
			s.Failures++
		case k.Error != nil:
			s.Errors++
		case k.Skipped != nil:
			s.Skipped++
		}
	}
	return s
}

// newJUnitCase is one check. Not to have begun is no failure, and neither is what could not be asked because of another
// check.
func newJUnitCase(id string, t gradebook.Test) junitCase {
	k := junitCase{Name: t.ID + ": " + t.Name, ClassName: gradebook.Clean(id) + "." + t.Exercise, File: t.File,
		Line: t.Line}
	switch t.Status {
	case verdict.Passed:
	case verdict.Skipped, verdict.NotStarted:
		k.Skipped = &junitSkipped{t.Text}
	case verdict.Errored:
		k.Error = &junitProblem{Message: firstLine(t.Text), Type: string(t.Status), Text: t.Text}
	default:
		k.Failure = &junitProblem{Message: firstLine(t.Text), Type: string(t.Status), Text: t.Text}
	}
	return k
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
