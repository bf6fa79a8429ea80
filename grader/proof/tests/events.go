package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// shown is how many packages and how many tests are listed.
const shown = 8

// event is one of test2json's.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

// took is how long a package or a test took.
type took struct {
	name    string
	seconds float64
}

// run is what is known of a package that has not ended yet.
type run struct {
	said   []event // that go test would print if the package failed
	tests  []took
	failed []string // tests, each before those that it is a part of
	cached bool
}

// report copies what is to be seen, and reports whether there were packages and all of them passed.
func report(in io.Reader, out io.Writer) (passed bool, err error) {
	running := map[string]*run{}
	var packages, tests []took
	var again []string // how to repeat what failed
	failed, ended := false, 0
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			switch {
			case json.Unmarshal(line, &e) != nil || e.Action == "":
				out.Write(line) // go itself says it
			case e.Package == "":
				io.WriteString(out, e.Output) // of a build
			default:
				r := running[e.Package]
				if r == nil {
					r = &run{}
					running[e.Package] = r
				}
				if !r.take(e) {
					break
				}
				delete(running, e.Package)
				ended++
				failed = failed || e.Action == "fail"
				r.print(out, e.Action == "fail")
				again = append(again, r.again(e.Package)...)
				if !r.cached && e.Elapsed > 0 {
					packages, tests = append(packages, took{e.Package, e.Elapsed}), append(tests, r.tests...)
				}
			}
		}
		if err == io.EOF {
			break
		} else if err != nil {
			return false, err
		}
	}
	for name := range running {
		fmt.Fprintf(out, "FAIL\t%s did not end\n", name)
	}
	if len(again) > 0 {
		fmt.Fprintf(out, "\nTo repeat what failed:\n    %s\n", strings.Join(again, "\n    "))
	}
	longest(out, "packages", packages)
	longest(out, "tests", tests)
	return ended > 0 && !failed && len(running) == 0, nil
}

// take keeps an event; it reports whether the package has ended.
func (r *run) take(e event) (ended bool) {
	switch e.Action {
	case "output":
		r.said = append(r.said, e)
		r.cached = r.cached || e.Test == "" && strings.HasSuffix(e.Output, "\t(cached)\n")
	case "pass", "skip", "fail":
		if e.Test == "" {
			return true
		}
		if e.Action == "fail" {
			r.failed = append(r.failed, e.Test)
		} else { // what it has said is of no interest
			r.said = slices.DeleteFunc(r.said, func(s event) bool { return s.Test == e.Test })
		}
		if !strings.Contains(e.Test, "/") {
			r.tests = append(r.tests, took{e.Package + " " + e.Test, e.Elapsed})
		}
	}
	return false
}

// print prints the package's last line, or all that it has said where it failed.
func (r *run) print(out io.Writer, all bool) {
	for _, e := range r.said {
		last := strings.HasPrefix(e.Output, "ok  \t") || strings.HasPrefix(e.Output, "?   \t")
		if all && !strings.HasPrefix(e.Output, "=== ") || last && e.Test == "" {
			io.WriteString(out, e.Output)
		}
	}
}

// again are the commands that repeat the package's tests that failed: where a part of one has, that part alone.
func (r *run) again(importPath string) (commands []string) {
	_, folder, _ := strings.Cut(importPath, "/")
	for i, test := range r.failed {
		if slices.ContainsFunc(r.failed[:i], func(part string) bool { return strings.HasPrefix(part, test+"/") }) {
			continue
		}
		var pattern []string
		for name := range strings.SplitSeq(test, "/") {
			pattern = append(pattern, "^"+regexp.QuoteMeta(name)+"$")
		}
		commands = append(commands, fmt.Sprintf("go test ./%s -run '%s'", folder, strings.Join(pattern, "/")))
	}
	return commands
}

func longest(out io.Writer, what string, all []took) {
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b took) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), strings.Compare(a.name, b.name))
	})
	fmt.Fprintf(out, "\nThe %s that took longest, in seconds:\n", what)
	for _, t := range all[:min(shown, len(all))] {
		fmt.Fprintf(out, "%8.1f  %s\n", t.seconds, t.name)
	}
}
