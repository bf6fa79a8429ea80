package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// Whatever a student's code does, its check ends, with the words and at the line of the command line; and the next one
// is as if nothing had been.
func TestEveryBadEndIsToldAsOnTheCommandLine(t *testing.T) {
	if !*ends {
		t.Skip("with -ends, after `make browser`")
	}
	c, err := course.Open("")
	require.NoError(t, err)
	e, err := c.Find("async-pipeline")
	require.NoError(t, err)
	solution, err := os.ReadFile(filepath.Join(c.Root, e.SolutionFolder(), e.Package+".go"))
	require.NoError(t, err)
	const first = "	for i, batch := range batches {\n		if err := enqueue"
	require.Contains(t, string(solution), first)
	p := page(t, c.Root)
	precompiled := check.Precompile(context.Background(), c.Root, []course.Exercise{e}, nil)
	// Three ends come otherwise in a browser. Its Go sees at once that a wait can never end, which on the command line
	// nobody waits for longer than five seconds; memory runs out anywhere in the loop; and of an endless recursion
	// WebAssembly keeps the last calls alone.
	otherwise := map[string]string{"a deadlock": "timeout", "what eats memory": "host-memory",
		"an endless recursion": "endless-recursion"}
	for _, end := range []struct{ name, rule, before, behind string }{
		{"a compiler error", "compile", "	x := 1\n", ""},
		{"a panic", "panic", "	var b *contract.Batch\n	_ = b.N\n", ""},
		{"an endless loop", "timeout", "	for n := 0; ; {\n		n++\n	}\n", ""},
		{"an endless recursion", "endless-recursion", "	_ = down(1)\n",
			"\nfunc down(n int) int {\n	return 1 + down(n+1)\n}\n"},
		{"a deadlock", "deadlock", "	<-make(chan int)\n", ""},
		{"what eats memory", "host-memory", "	var all [][]byte\n	for {\n		b := make([]byte, 1<<20)\n		for i := range b " +
			"{\n			b[i] = 1\n		}\n		all = append(all, b)\n	}\n", ""},
		{"a flood of output", "", "	for i := range 5000 {\n		fmt.Println(\"printed again and again\", i)\n	}\n", ""},
		{"the solution", "", "", ""},
	} {
		t.Run(end.name, func(t *testing.T) {
			code := strings.Replace(string(solution), first, end.before+first, 1) + end.behind
			rule, differs := otherwise[end.name]
			if !differs {
				r := requireSame(t, p, c.Root, e, precompiled, code)
				if end.rule != "" {
					require.Contains(t, inLines(r, 24, 80), end.rule)
				}
				return
			}
			want, got := both(t, p, c.Root, e, precompiled, code)
			require.Contains(t, inLines(want, 24, 80), rule)
			require.Contains(t, inLines(got, 24, 80), end.rule)
		})
	}
}

// inLines are the rules of findings in some lines of the code.
func inLines(r verdict.Report, from, to int) (rules []string) {
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			if from <= f.Line && f.Line <= to {
				rules = append(rules, f.Rule)
			}
		}
	}
	return rules
}
