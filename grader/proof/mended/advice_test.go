//go:build unix

package mended

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/mend"
	"cudalab/grader/suite/verdict"
)

// called is a call of CUDA's, in advice or in code.
var called = regexp.MustCompile(`\b(?:cuda|kernels)\.([A-Z]\w+)`)

// against is advice not to make the call that follows: it names it for something else.
var against = regexp.MustCompile(
	`(?i)(not|instead of|in place of|leave|without|returned|answered|needs|than) ?(\w+ )?$`)

// advice is what a finding says to do, held against a change that is enough.
type advice struct {
	told, agrees, contradicts bool
}

// adviceOf holds the advice of the first error against the change: it contradicts where it says to make a call that the
// change takes away, or to leave a call out that the change puts in.
func adviceOf(f verdict.Finding, e *mend.Edit) (a advice) {
	was, now := e.Lines()
	before, after := callsIn(strings.Join(was, "\n")), callsIn(strings.Join(now, "\n"))
	gone, put := without(before, after), without(after, before)
	out := strings.Contains(f.Fix, "eave it out") || strings.Contains(f.Fix, "eave the call out")
	for _, at := range called.FindAllStringSubmatchIndex(f.Fix, -1) {
		call := f.Fix[at[2]:at[3]]
		if against.MatchString(f.Fix[:at[0]]) {
			continue
		}
		a.told = true
		a.agrees = a.agrees || slices.Contains(put, call) || slices.Contains(after, call)
		a.contradicts = a.contradicts || slices.Contains(gone, call)
	}
	for _, call := range put {
		if out && strings.Contains(f.Message, "cuda."+call) {
			a.told, a.contradicts = true, true
		}
	}
	a.contradicts = a.contradicts && !a.agrees // of several ways one may be the other's opposite
	return a
}

func callsIn(text string) (all []string) {
	for _, m := range called.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// without are the calls of some that are more often among them than among others.
func without(some, others []string) (left []string) {
	others = slices.Clone(others)
	for _, c := range some {
		if i := slices.Index(others, c); i >= 0 {
			others = slices.Delete(others, i, i+1)
		} else {
			left = append(left, c)
		}
	}
	return left
}

func TestWithout(t *testing.T) {
	require.Equal(t, []string{"A"}, without([]string{"A", "B", "A"}, []string{"A", "B"}))
	require.Empty(t, without([]string{"A"}, []string{"A"}))
	require.True(t, against.MatchString("Use cuda.MemsetAsync instead of "))
	require.False(t, against.MatchString("Record an event first: "))
}
