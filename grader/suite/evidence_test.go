package suite_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Functions that call each other without end are told once, and who called them first as well.
func TestAStackIsToldWithoutRepetition(t *testing.T) {
	at := func(function string, line int) verdict.Place {
		return verdict.Place{File: "a.go", Line: line, Func: function}
	}
	places := []verdict.Place{at("odd", 9)}
	for range 50 {
		places = append(places, at("even", 5), at("odd", 10))
	}
	places = append(places, at("Run", 2))
	e := &suite.Evidence{Place: func(trace.Site) []verdict.Place { return places }}
	f := e.At(verdict.Finding{}, nil)
	require.Equal(t, 9, f.Line)
	require.Equal(t, []verdict.Related{
		{File: "a.go", Line: 5, Message: "called from even, again and again"},
		{File: "a.go", Line: 10, Message: "called from odd, again and again"},
		{File: "a.go", Line: 2, Message: "called from Run"},
	}, f.Related)
}
