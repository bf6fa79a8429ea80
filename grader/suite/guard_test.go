package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
)

// began panics as a student's code may, where the length is known to the compiler as little as there.
func began(at []int) int { return at[len(at)] }

// What looks at a panic on its way, and lets it go on, is not where it began.
func TestAPanicIsToldWhereItBegan(t *testing.T) {
	looked := func(f func()) {
		defer func() { panic(recover()) }()
		f()
	}
	for name, run := range map[string]func(){
		"at once":          func() { began(nil) },
		"looked at":        func() { looked(func() { began(nil) }) },
		"looked at, twice": func() { looked(func() { looked(func() { began(nil) }) }) },
	} {
		var o verdict.Outcome
		guard(&o, func() error { run(); return nil })
		require.Contains(t, o.Panic, "index out of range", name)
		first := o.Stack[0]
		for i := 0; strings.HasPrefix(o.Stack[i].Func, "runtime."); i++ {
			first = o.Stack[i+1]
		}
		require.Equal(t, "cudalab/grader/suite.began", first.Func, name)
	}
}
