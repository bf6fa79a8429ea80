package platforms_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/platforms"
	"cudalab/grader/suite/verdict"
)

func writeJUnit(t *testing.T, c *class.Class) []byte {
	t.Helper()
	var out, again bytes.Buffer
	require.NoError(t, platforms.JUnit(&out, c, junitTimings))
	require.NoError(t, platforms.JUnit(&again, c, junitTimings))
	require.Equal(t, out.String(), again.String())
	return out.Bytes()
}

// junitTimings say that everybody's first exercise took 1.234 s.
func junitTimings(id string) class.Timings {
	if id == "carl" { // lost
		return class.Timings{}
	}
	return class.Timings{ID: id, Exercises: []verdict.Report{{Exercise: "async-pipeline", DurationMS: 1234}}}
}

// junitElement is what may be where.
type junitElement struct {
	attributes, children []string
	required             []string // attributes
}

var junitCounts = []string{"name", "tests", "failures", "errors", "skipped", "time"}

// junitDocument are the elements that readers of JUnit XML have in common.
var junitDocument = map[string]junitElement{
	"testsuites": {attributes: junitCounts, required: junitCounts, children: []string{"testsuite"}},
	"testsuite": {attributes: junitCounts, required: junitCounts, children: []string{"properties", "testcase",
		"system-out"}},
	"properties": {children: []string{"property"}},
	"property":   {attributes: []string{"name", "value"}, required: []string{"name", "value"}},
	"testcase": {attributes: []string{"name", "classname", "time", "file", "line"}, required: []string{"name", "classname",
		"time"},
		children: []string{"failure", "error", "skipped", "system-out"}},
	"failure":    {attributes: []string{"message", "type"}, required: []string{"message", "type"}},
	"error":      {attributes: []string{"message", "type"}, required: []string{"message", "type"}},
	"skipped":    {attributes: []string{"message"}},
	"system-out": {},
}

// validateJUnit checks every element and attribute, and that the counts are those of the test cases.
func validateJUnit(t *testing.T, text []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	var open []string
	var said, seen []map[string]int // of the open suites
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			name := e.Name.Local
			kind, known := junitDocument[name]
			require.True(t, known, "the element %s is not documented", name)
			if len(open) == 0 {
				require.Equal(t, "testsuites", name)
			} else {
				require.Contains(t, junitDocument[open[len(open)-1]].children, name)
			}
			open = append(open, name)
			values := map[string]string{}
			for _, a := range e.Attr {
				require.Contains(t, kind.attributes, a.Name.Local)
				values[a.Name.Local] = a.Value
			}
			for _, r := range kind.required {
				require.Contains(t, values, r, name)
			}
			if slices.Contains(kind.attributes, "time") {
				_, err := strconv.ParseFloat(values["time"], 64)
				require.NoError(t, err)
			}
			switch name {
			case "testsuites", "testsuite":
				n := map[string]int{}
				for _, k := range junitCounts[1:5] {
					n[k], err = strconv.Atoi(values[k])
					require.NoError(t, err)
				}
				said, seen = append(said, n), append(seen, map[string]int{"tests": 0, "failures": 0, "errors": 0, "skipped": 0})
			case "testcase", "failure", "error", "skipped":
				for _, n := range seen {
					n[map[string]string{"testcase": "tests", "failure": "failures", "error": "errors", "skipped": "skipped"}[name]]++
				}
			}
		case xml.EndElement:
			open = open[:len(open)-1]
			if e.Name.Local == "testsuite" || e.Name.Local == "testsuites" {
				last := len(said) - 1
				require.Equal(t, said[last], seen[last])
				said, seen = said[:last], seen[:last]
			}
		}
	}
	require.Empty(t, open)
}

func TestJUnitDocuments(t *testing.T) {
	for _, c := range []*class.Class{reporttest.Sample(), reporttest.Partial(), reporttest.Hostile(), reporttest.Large(30),
		reporttest.Class()} {
		validateJUnit(t, writeJUnit(t, c))
	}
}

func TestJUnitGolden(t *testing.T) {
	reporttest.Golden(t, "junit.xml", writeJUnit(t, reporttest.Sample()))
}

// What students write may neither end an element nor be a character that XML does not have.
func TestJUnitHostileTextsStayText(t *testing.T) {
	var all struct {
		Suites []struct {
			Cases []struct {
				Failure *struct {
					Text string `xml:",chardata"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(writeJUnit(t, reporttest.Hostile()), &all))
	first := all.Suites[0].Cases[1].Failure
	require.NotNil(t, first)
	require.Contains(t, first.Text, reporttest.HostileTexts[0])
}
