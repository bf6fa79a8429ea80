package report

import (
	"bytes"
	"io"

	"cudalab/grader/suite/verdict"
)

// First writes the first error of a report that comes of no other, and the verdict, for a screen of so many lines. What
// does not fit is left out from the end: first where the line is called from, then which check it is. It writes nothing
// of a report without errors.
func First(w io.Writer, r verdict.Report, lines int, o Options) error {
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			if !f.Root() {
				continue
			}
			f.Picture = ""
			alone := f
			alone.Related = nil
			text := first(r, o, &c, f)
			for _, shorter := range []func() []byte{
				func() []byte { return first(r, o, &c, alone) },
				func() []byte { return first(r, o, nil, alone) },
			} {
				if bytes.Count(text, []byte("\n")) <= lines {
					break
				}
				text = shorter()
			}
			_, err := w.Write(text)
			return err
		}
	}
	return nil
}

// first is an error with the verdict; of is its check, nil to leave that out.
func first(r verdict.Report, o Options, of *verdict.Check, f verdict.Finding) []byte {
	p := newPrinter(r, o)
	if of != nil {
		c := *of
		c.Findings, c.Measurements = nil, nil
		p.check(c, false)
	}
	p.finding(f)
	p.line(p.verdict() + others(r))
	return p.text.Bytes()
}

// others is how many errors there are beside the first.
func others(r verdict.Report) string {
	n := -1
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			if f.Root() {
				n++
			}
		}
	}
	if n < 1 {
		return ""
	}
	return ", and " + verdict.Count(n, "more error", "more errors")
}
