package run

import (
	"bytes"
	"strconv"
	"strings"

	"cudalab/native/trace"
)

// crash is what a dying Go program says on standard error.
type crash struct {
	cut      bool   // it was longer than what is kept
	headline string // "stack overflow"
	stacks   []goroutine
}

type goroutine struct {
	state string // "running", "chan receive"
	site  trace.Site
}

// lastWords are those of a process that crashed. Whose doing it was tells what came by the way that only Go writes
// to. The headline does not come by it, so it is told from the stack or, for want of better, found among what the
// student's code has printed: what that says of itself it says to itself.
func (run *caseRun) lastWords() crash {
	c := parseCrash(run.crash)
	switch {
	case c.headline != "":
	case bytes.Contains(run.crash, []byte("\nruntime.newstack(")):
		c.headline = "stack overflow"
	default:
		c.headline = headlineIn(run.child.Stderr)
	}
	return c
}

// parseCrash reads the Go runtime's last words: a line that begins with "panic:" or "fatal error:" and the stacks
// behind it. What it does not know it leaves out.
func parseCrash(stderr []byte) crash {
	c := crash{cut: len(stderr) >= maxCrash}
	var current *goroutine
	var function string
	for line := range strings.Lines(string(stderr)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case c.headline == "" && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")):
			_, c.headline, _ = strings.Cut(line, ": ")
		case c.headline == "" && strings.HasPrefix(line, "SIG") && !strings.HasPrefix(line, "SIGQUIT"):
			c.headline = line
		case strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, "]:"):
			_, state, _ := strings.Cut(strings.TrimSuffix(line, "]:"), "[")
			state, _, _ = strings.Cut(state, ",")
			c.stacks = append(c.stacks, goroutine{state: state})
			current = &c.stacks[len(c.stacks)-1]
		case current == nil:
		case strings.HasPrefix(line, "\t"):
			if f, ok := parseFrame(function, line[1:]); ok {
				current.site = append(current.site, f)
			}
		case line == "":
			current = nil
		default:
			function = line
		}
	}
	return c
}

// parseFrame joins "pkg.(*T).Method(0x1, ...)" and "/path/file.go:41 +0x1d".
func parseFrame(function, place string) (trace.Frame, bool) {
	if i := strings.LastIndexByte(function, '('); i > 0 {
		function = function[:i]
	}
	place, _, _ = strings.Cut(place, " ")
	i := strings.LastIndexByte(place, ':')
	if i <= 0 {
		return trace.Frame{}, false
	}
	n, err := strconv.Atoi(place[i+1:])
	return trace.Frame{Func: function, File: place[:i], Line: n}, err == nil
}

// ours reports whether a Go program ended by a panic or fatal error with which the student's code has nothing to do.
// Where the driver crashed, or the runtime gave no stacks, or more than is kept, nobody can tell.
func (c crash) ours(l locator) bool {
	if c.cut || strings.HasPrefix(c.headline, "SIG") || len(c.stacks) == 0 {
		return false
	}
	_, inside := c.in(l)
	return !inside
}

// in is the first goroutine that is inside the student's code.
func (c crash) in(l locator) (goroutine, bool) {
	for _, g := range c.stacks {
		if len(l.places(g.site)) > 0 {
			return g, true
		}
	}
	return goroutine{}, false
}

// where is the innermost function of ours.
func (c crash) where() string {
	for _, g := range c.stacks {
		for _, f := range g.site {
			if strings.HasPrefix(f.Func, "cudalab/") {
				return f.Func
			}
		}
	}
	return "Go's runtime"
}

// headlineIn is the last line of an output that could be the headline of a crash.
func headlineIn(stderr []byte) (headline string) {
	for line := range strings.Lines(string(stderr)) {
		for _, begin := range []string{"panic: ", "fatal error: "} {
			if text, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), begin); ok {
				headline = text
			}
		}
	}
	return headline
}
