package run

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

// A locator finds the student's lines in a call stack.
type locator struct {
	pkg  string                   // the import path of the code under test
	name func(file string) string // from the path the compiler saw to what the student calls it
}

// places are the student's frames, innermost first.
func (l locator) places(site trace.Site) []suite.Place {
	var places []suite.Place
	for _, f := range site {
		if name, ok := strings.CutPrefix(f.Func, l.pkg+"."); ok {
			places = append(places, suite.Place{File: l.name(f.File), Line: f.Line, Func: name})
		}
	}
	return places
}

// ours reports whether a call stack ends in cudalab's own code rather than in the code under test or, called by it, in
// the standard library's: package cuda answers errors to whatever it is given, so a panic there is never the student's.
func (l locator) ours(site trace.Site) bool {
	for _, f := range site {
		if strings.HasPrefix(f.Func, "cudalab/") {
			return !strings.HasPrefix(f.Func, l.pkg+".")
		}
	}
	return false
}

// at gives a finding the position of a call stack.
func (l locator) at(f suite.Finding, site trace.Site) suite.Finding {
	return (&suite.Evidence{Place: l.places}).At(f, site)
}

// crash is what a dying Go program says on standard error.
type crash struct {
	headline string // "stack overflow"
	stacks   []goroutine
}

type goroutine struct {
	state string // "running", "chan receive"
	site  trace.Site
}

// parseCrash reads the Go runtime's last words: a line that begins with "panic:" or "fatal error:" and the stacks
// behind it. What it does not know it leaves out.
func parseCrash(stderr []byte) crash {
	var c crash
	var current *goroutine
	var function string
	lines := bufio.NewScanner(bytes.NewReader(stderr))
	lines.Buffer(make([]byte, 0, 1<<16), 1<<20)
	for lines.Scan() {
		line := lines.Text()
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
	if i < 0 {
		return trace.Frame{}, false
	}
	n, err := strconv.Atoi(place[i+1:])
	return trace.Frame{Func: function, File: place[:i], Line: n}, err == nil
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

// ours reports whether a Go program ended by a panic or fatal error with which the student's code has nothing to do.
// Where the driver crashed, or the runtime gave no stacks, nobody can tell.
func (c crash) ours(l locator) bool {
	if c.headline == "" || strings.HasPrefix(c.headline, "SIG") || len(c.stacks) == 0 {
		return false
	}
	_, inside := c.in(l)
	return !inside
}
