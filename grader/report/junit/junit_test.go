package junit_test

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
	"cudalab/grader/report/junit"
	"cudalab/grader/suite/verdict"
)

func write(t *testing.T, c *class.Class) []byte {
	t.Helper()
	var out, again bytes.Buffer
	require.NoError(t, junit.Write(&out, c, timings))
	require.NoError(t, junit.Write(&again, c, timings))
	require.Equal(t, out.String(), again.String())
	return out.Bytes()
}

// timings say that everybody's first exercise took 1.234 s.
func timings(id string) class.Timings {
	if id == "carl" { // lost
		return class.Timings{}
	}
	return class.Timings{ID: id, Exercises: []verdict.Report{{Exercise: "async-pipeline", DurationMS: 1234}}}
}

// element is what may be where.
type element struct {
	attributes, children []string
	required             []string // attributes
}

var counts = []string{"name", "tests", "failures", "errors", "skipped", "time"}

// documented are the elements that readers of JUnit XML have in common.
var documented = map[string]element{
	"testsuites": {attributes: counts, required: counts, children: []string{"testsuite"}},
	"testsuite":  {attributes: counts, required: counts, children: []string{"properties", "testcase", "system-out"}},
	"properties": {children: []string{"property"}},
	"property":   {attributes: []string{"name", "value"}, required: []string{"name", "value"}},
	"testcase": {attributes: []string{"name", "classname", "time", "file", "line"}, required: []string{"name", "classname", "time"},
		children: []string{"failure", "error", "skipped", "system-out"}},
	"failure":    {attributes: []string{"message", "type"}, required: []string{"message", "type"}},
	"error":      {attributes: []string{"message", "type"}, required: []string{"message", "type"}},
	"skipped":    {attributes: []string{"message"}},
	"system-out": {},
}

// validate checks every element and attribute, and that the counts are those of the test cases.
func validate(t *testing.T, text []byte) {
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
			kind, known := documented[name]
			require.True(t, known, "the element %s is not documented", name)
			if len(open) == 0 {
				require.Equal(t, "testsuites", name)
			} else {
				require.Contains(t, documented[open[len(open)-1]].children, name)
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
				for _, k := range counts[1:5] {
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

func TestElementsAreThoseDocumented(t *testing.T) {
	for _, c := range []*class.Class{reporttest.Sample(), reporttest.Partial(), reporttest.Hostile(), reporttest.Large(30), reporttest.Class()} {
		validate(t, write(t, c))
	}
}

func TestAClass(t *testing.T) {
	reporttest.Golden(t, "sample.xml", write(t, reporttest.Sample()))
}

// What students write may neither end an element nor be a character that XML does not have.
func TestHostileTextsStayText(t *testing.T) {
	var all struct {
		Suites []struct {
			Cases []struct {
				Failure *struct {
					Text string `xml:",chardata"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(write(t, reporttest.Hostile()), &all))
	first := all.Suites[0].Cases[1].Failure
	require.NotNil(t, first)
	require.Contains(t, first.Text, reporttest.HostileTexts[0])
}
