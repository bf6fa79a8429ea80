// Package junit writes a class's results as JUnit XML, which continuous integration systems show: a test suite for each
// student and exercise, a test case for each check. There is no standard; what is written is what Jenkins, GitLab and the
// GitHub actions for it read alike.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/class"
	"cudalab/grader/report/gradebook"
	"cudalab/grader/suite"
)

// Times are 0: what was measured is no part of the results.
const noTime = "0"

type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	counts
	Suites []testSuite `xml:"testsuite"`
}

type counts struct {
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr"`
}

func (n *counts) add(o counts) {
	n.Tests += o.Tests
	n.Failures += o.Failures
	n.Errors += o.Errors
	n.Skipped += o.Skipped
}

type testSuite struct {
	Name string `xml:"name,attr"`
	counts
	Properties []property `xml:"properties>property"`
	Cases      []testCase `xml:"testcase"`
	Output     string     `xml:"system-out,omitempty"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testCase struct {
	Name      string   `xml:"name,attr"`
	ClassName string   `xml:"classname,attr"`
	Time      string   `xml:"time,attr"`
	File      string   `xml:"file,attr,omitempty"`
	Line      int      `xml:"line,attr,omitempty"`
	Failure   *problem `xml:"failure"`
	Error     *problem `xml:"error"`
	Skipped   *skipped `xml:"skipped"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type skipped struct {
	Message string `xml:"message,attr"`
}

// Write writes the results of all students.
func Write(w io.Writer, c *class.Class) error {
	all := suites{Name: "cudalab", counts: counts{Time: noTime}}
	for i := range c.Students {
		for _, s := range student(c, &c.Students[i]) {
			all.add(s.counts)
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

// student is a suite for each exercise; without a grade there is one that says so.
func student(c *class.Class, s *class.Student) []testSuite {
	if s.Status != class.Graded {
		text := gradebook.Clean(s.Problem)
		only := testCase{Name: "grading", ClassName: s.ID, Time: noTime, Error: &problem{Message: firstLine(text), Type: string(s.Status), Text: text}}
		return []testSuite{newSuite(c, s.ID, []testCase{only})}
	}
	tests := gradebook.Tests(c, s)
	var all []testSuite
	for i, e := range c.Exercises {
		var cases []testCase
		for _, t := range tests {
			if t.Exercise == e.Name {
				cases = append(cases, newCase(s.ID, t))
			}
		}
		r := newSuite(c, s.ID+": "+e.Name, cases)
		r.Output = gradebook.Clean(s.Exercises[i].Output)
		all = append(all, r)
	}
	return all
}

func newSuite(c *class.Class, name string, cases []testCase) testSuite {
	s := testSuite{Name: gradebook.Clean(name), counts: counts{Tests: len(cases), Time: noTime}, Cases: cases, Properties: []property{
		{"seed", strconv.FormatUint(c.Seed, 10)}, {"device", c.Device.Name}, {"driver", c.Device.Driver},
		{"cudalab", c.Versions.Cudalab}, {"course", c.Versions.Course}, {"go", c.Versions.Go},
	}}
	s.Properties = slices.DeleteFunc(s.Properties, func(p property) bool { return p.Value == "" })
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

// newCase is one check. Not to have begun is no failure, and neither is what could not be asked because of another check.
func newCase(id string, t gradebook.Test) testCase {
	k := testCase{Name: t.ID + ": " + t.Name, ClassName: gradebook.Clean(id) + "." + t.Exercise, Time: noTime, File: t.File, Line: t.Line}
	switch t.Status {
	case suite.Passed:
	case suite.Skipped, suite.NotStarted:
		k.Skipped = &skipped{t.Text}
	case suite.Errored:
		k.Error = &problem{Message: firstLine(t.Text), Type: string(t.Status), Text: t.Text}
	default:
		k.Failure = &problem{Message: firstLine(t.Text), Type: string(t.Status), Text: t.Text}
	}
	return k
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
