package cli

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/prove"
	"cudalab/grader/report/chrome"
	"cudalab/grader/report/page"
	"cudalab/grader/report/timeline"
	"cudalab/grader/suites/course"
)

// pictures are the files of --html and --trace.
type pictures struct {
	html  []*os.File // one for each exercise, in their order; none without --html
	trace *os.File   // nil without --trace
	cases chrome.File
}

// openPictures makes the files before anything is checked, so that a name that cannot be written is noticed at once.
func openPictures(html, trace string, exercises []course.Exercise) (*pictures, error) {
	p := &pictures{}
	if trace != "" {
		f, err := os.Create(trace)
		if err != nil {
			return nil, unwritten("trace", err)
		}
		p.trace = f
	}
	if html == "" {
		return p, nil
	}
	for _, e := range exercises {
		f, err := os.Create(pageName(html, e.Name, len(exercises)))
		if err != nil {
			return nil, unwritten("page", err)
		}
		p.html = append(p.html, f)
	}
	return p, nil
}

// pageName is the file of one exercise's page: "out.html", or with several exercises "out-slab.html".
func pageName(html, exercise string, exercises int) string {
	if exercises == 1 {
		return html
	}
	ending := filepath.Ext(html)
	return strings.TrimSuffix(html, ending) + "-" + exercise + ending
}

// wanted reports whether the check has to run for pictures too.
func (p *pictures) wanted() bool { return p.trace != nil || len(p.html) > 0 }

// add takes in the i-th exercise's result and writes its page.
func (p *pictures) add(i int, title string, r check.Result) error {
	if p.trace != nil {
		for _, n := range r.Drawn() {
			p.cases.Add(r.Report.Exercise, timeline.New(n, r.Place))
		}
	}
	if len(p.html) == 0 {
		return nil
	}
	err := finish(p.html[i], func(w io.Writer) error {
		return page.Write(w, page.Input{Title: title, Report: r.Report, Orders: prove.Faults(r), Drawn: r.Drawn(),
			Timed: r.Timed(), Races: r.Races(), Place: r.Place, Read: os.ReadFile})
	})
	return unwritten("page", err)
}

// close writes the trace.
func (p *pictures) close() error {
	if p.trace == nil {
		return nil
	}
	return unwritten("trace", finish(p.trace, p.cases.Write))
}

// unwritten puts the machine's reasons for not writing a file into words; any other is a fault of cudalab's.
func unwritten(what string, err error) error {
	if refused := (*fs.PathError)(nil); errors.As(err, &refused) {
		return usage("the %s cannot be written: %v.", what, err)
	}
	return err
}

// finish writes a file and closes it.
func finish(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriter(f)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
