package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"cudalab/grader/class"
	"cudalab/grader/report"
	pagelook "cudalab/grader/report/look"
	"cudalab/grader/suite/verdict"
)

// quietFor is how long a grading that is not watched on a terminal says nothing of its progress.
const quietFor = 10 * time.Second

// progressView shows how far a grading has come: on a terminal one line that is written over and over, elsewhere a line
// now and then.
type progressView struct {
	screen
	open bool      // the line on the terminal has no end yet
	said time.Time // when a line was last written elsewhere
}

func newProgressView(s screen) *progressView { return &progressView{screen: s, said: time.Now()} }

func (v *progressView) progress(p class.Progress) {
	line := fmt.Sprintf("%d of %d graded, %d passed", p.Done, p.Total, p.Passed)
	if p.Pages {
		line = fmt.Sprintf("%d of %d students' pages", p.Done, p.Total)
	}
	if p.Errors > 0 {
		line += fmt.Sprintf(", %d could not be graded", p.Errors)
	}
	if p.Done < p.Total {
		line += ", about " + about(p.Left) + " left"
	}
	switch {
	case v.width > 0:
		fmt.Fprint(v, "\r\x1b[K"+report.Wrap(line, v.width-1)[0])
		v.open = true
	case p.Done == p.Total || time.Since(v.said) > quietFor:
		fmt.Fprintln(v, line)
		v.said = time.Now()
	}
}

// say writes a sentence that stays.
func (v *progressView) say(sentence string) {
	v.close()
	fmt.Fprintln(v, sentence)
}

// close ends the line that is written over.
func (v *progressView) close() {
	if v.open {
		fmt.Fprintln(v)
		v.open = false
	}
}

// about is a time in words, no more exact than it is known.
func about(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", max(1, int(d.Round(time.Second)/time.Second)))
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute)/time.Minute))
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// summarise says what came of a class and where it is. Submissions without a grade make for a status of their own.
func summarise(w io.Writer, c *class.Class, dir string) error {
	width := 0
	for _, e := range c.Exercises {
		width = max(width, len(e.Name))
	}
	errors, unread, passed, decided := 0, 0, make([]int, len(c.Exercises)), make([]int, len(c.Exercises))
	for _, s := range c.Students {
		switch s.Status {
		case class.Errored:
			errors++
		case class.Unread:
			unread++
		}
		for i, r := range s.Exercises {
			if r.Status == verdict.Passed {
				passed[i]++
			}
			if r.Status != verdict.Errored && r.Status != verdict.Unread {
				decided[i]++
			}
		}
	}
	graded := len(c.Students) - errors - unread
	var b strings.Builder
	fmt.Fprintf(&b, "Graded: %d of %d submissions, on %s, seed %d.\n\n", graded, len(c.Students), c.Device.Name, c.Seed)
	for i, e := range c.Exercises {
		fmt.Fprintf(&b, "  %-*s  %*d of %d passed\n", width, e.Name, len(fmt.Sprint(len(c.Students))), passed[i], decided[i])
	}
	if n := len(c.Attention); n > 0 {
		begins := map[bool]string{true: "report.html begins with it", false: "report.html begins with them"}[n == 1]
		fmt.Fprintf(&b, "\nA person has to look at %s before the grades go out; %s.\n", pagelook.Plural(n, "thing"), begins)
	}
	if n := len(c.Absent); n > 0 {
		fmt.Fprintf(&b, "\nOn the roster, but nothing came from them: %d.\n", n)
	}
	fmt.Fprintf(&b, "\nResults: %s\n", filepath.ToSlash(dir))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if errors > 0 {
		return &exitError{exitFault,
			fmt.Sprintf("%d of %d submissions could not be graded, by no fault of theirs; their results say why. "+
				"Try them again with --resume.", errors, len(c.Students))}
	}
	return nil
}

// showPlan says what would be graded: first what a person has to look at, then who was found where.
func showPlan(w io.Writer, p *class.Plan) {
	if len(p.Attention) > 0 {
		fmt.Fprintf(w, "A person has to look at:\n")
		for _, a := range p.Attention {
			who := ""
			if a.ID != "" {
				who = a.ID + ": "
			}
			fmt.Fprintf(w, "  %s%s\n", who, a.Text)
		}
		fmt.Fprintln(w)
	}
	if len(p.Absent) > 0 {
		fmt.Fprintf(w, "On the roster, but nothing came from them (%d):\n", len(p.Absent))
		for _, who := range p.Absent {
			fmt.Fprintf(w, "  %s\n", person(who))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "Read as %s:\n\n", p.Form)
	width := 0
	for _, s := range p.Submissions {
		width = max(width, len([]rune(s.ID)))
	}
	for _, s := range p.Submissions {
		line := func(text string) { fmt.Fprintf(w, "%*s  %s\n", width, "", text) }
		what := strings.Join(s.Packages, ", ")
		if s.Problem != "" {
			what = s.Problem
		}
		fmt.Fprintf(w, "%-*s  %s\n", width, s.ID, what)
		if s.From != s.ID {
			line("from " + report.Harmless(s.From))
		}
		for _, who := range p.People[s.ID] {
			if text := person(who); text != "" && text != s.ID {
				line("by " + text)
			}
		}
		if s.HandedIn.Late {
			line("late")
		}
		for _, note := range s.Notes {
			line(note)
		}
	}
	if len(p.Aside) > 0 {
		fmt.Fprintf(w, "\nIn no submission:\n")
		for _, f := range p.Aside {
			fmt.Fprintf(w, "  %s: %s\n", report.Harmless(f.Path), f.Why)
		}
	}
	on := p.Device.Name
	if len(p.GPUs) > 1 {
		on = fmt.Sprintf("%d GPUs (%s)", len(p.GPUs), p.Device.Name)
	}
	fmt.Fprintf(w, "\nGo files: %d were handed in, %d are graded, %d are left aside.\n", p.Files.Go, p.Files.Graded,
		p.Files.Go-p.Files.Graded)
	fmt.Fprintf(w, "Submissions: %d, on %s, %d at one time; about %s if all code takes as long as the solutions.\n",
		len(p.Submissions), on, p.Jobs, about(p.Estimate))
}

// person is what is known of somebody, in one line.
func person(p class.Person) string {
	var known []string
	for _, text := range []string{p.Name, p.SID, p.Login, p.Email, p.Section} {
		if text != "" {
			known = append(known, report.Harmless(text))
		}
	}
	return strings.Join(known, ", ")
}
