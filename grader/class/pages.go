package class

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cudalab/grader/judge/check"
	"cudalab/grader/machine/lock"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
	"cudalab/native/trace"
)

// Page is a page for each student, which shows what their code did. Pages are drawn when all is graded, from what
// the journal says and from a run of its own of what failed: no grade depends on them.
type Page struct {
	Folder string // below that of the results: "students"
	// All has everybody get one. Otherwise only the pages that are there already are kept up to date.
	All bool
	// Name is the name of a student's page, without its ending.
	Name  func(id string) (string, error)
	Write func(io.Writer, *Feedback) error
}

// Feedback is what a student's page is made of.
type Feedback struct {
	Class   *Class // of whose other students it tells nothing
	Student Student
	Timings Timings // nothing where they are lost
	// Drawn are what there is to draw of Class.Exercises, by name: their results in another run with the same
	// workloads, whose files are named as the student's reports name them.
	Drawn map[string]Drawn
	Read  func(file string) ([]byte, error) // reads the student's files, by these names
	Lacks string                            // what the page has to do without, and why, in sentences
}

// Drawn is what came of another run.
type Drawn = check.Result

// draw makes the students' pages, with several workers.
func (g *grading) draw(ctx context.Context, submissions []submission) error {
	jobs, err := g.pageJobs(submissions)
	if err != nil || len(jobs) == 0 {
		return err
	}
	w, c := &workers{grading: g, gpus: newGPUs(g.places())}, g.class()
	began, p := time.Now(), Progress{Total: len(jobs), Pages: true}
	var mu sync.Mutex
	var failed error
	next := make(chan pageJob)
	var all sync.WaitGroup
	for range g.jobs(len(jobs)) {
		all.Go(func() {
			for j := range next {
				err := w.page(ctx, c, j)
				mu.Lock()
				failed = errors.Join(failed, err)
				p.Done++
				p.Left = time.Since(began) / time.Duration(p.Done) * time.Duration(p.Total-p.Done)
				if err == nil {
					g.tell(p)
				}
				mu.Unlock()
			}
		})
	}
	for _, j := range jobs {
		select {
		case next <- j:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	all.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return failed
}

// pageJob is a student whose pages are to be made.
type pageJob struct {
	student    Student
	digest     string
	submission *submission // nil: what was graded is no longer there
	pages      []*Page
}

// pageJobs are the pages that are missing, or are not of the results that there are now.
func (g *grading) pageJobs(submissions []submission) ([]pageJob, error) {
	var jobs []pageJob
	for _, s := range g.class().Students {
		if len(g.Only) > 0 && !slices.Contains(g.Only, s.ID) {
			continue
		}
		digest, err := digestOfResult(s)
		if err != nil {
			return nil, err
		}
		j := pageJob{student: s, digest: digest}
		if i := slices.IndexFunc(submissions, func(o submission) bool {
			return o.ID == s.ID &&
				o.digest == s.Digest
		}); i >= 0 {
			j.submission = &submissions[i]
		}
		for i := range g.Pages {
			p := &g.Pages[i]
			path, err := p.file(g.folder.dir, s.ID)
			if err != nil {
				return nil, err
			}
			state, err := stateOf(path, digest)
			if err != nil {
				return nil, err
			}
			if state == noPage && p.All || state == otherPage || state == incompletePage && j.submission != nil {
				j.pages = append(j.pages, p)
			}
		}
		if len(j.pages) > 0 {
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// page makes the pages of one student.
func (w *workers) page(ctx context.Context, c *Class, j pageJob) error {
	f := &Feedback{Class: c, Student: aboutNobodyElse(j.student, c), Timings: ReadTimings(w.folder.dir, j.student.ID),
		Read: func(string) ([]byte, error) { return nil, fs.ErrNotExist }}
	switch {
	case j.submission == nil:
		f.Lacks = "Your files and pictures of what they did are not on this page: what was graded is no longer among the " +
			"submissions."
	case j.submission.Dir != "":
		dir := j.submission.Dir
		f.Read = func(file string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, filepath.FromSlash(file))) }
		if err := w.pictures(ctx, j, f); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			w.say("%s's page has no pictures: %s", j.student.ID, sentence(err))
			f.Lacks = "Pictures of what your code did could not be drawn, which is not the code's fault."
		}
	}
	end := ofResult
	if f.Lacks != "" {
		end = lackingOf
	}
	for _, p := range j.pages {
		path, err := p.file(w.folder.dir, j.student.ID)
		if err != nil {
			return err
		}
		var text bytes.Buffer
		if err := p.Write(&text, f); err != nil {
			return err
		}
		fmt.Fprintf(&text, end, j.digest)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := WriteFile(path, text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// aboutNobodyElse is a student without the notes that name another.
func aboutNobodyElse(s Student, c *Class) Student {
	names := func(text string) bool {
		return slices.ContainsFunc(c.Students, func(o Student) bool {
			if o.ID == s.ID {
				return false
			}
			return strings.Contains(text, o.ID) || slices.ContainsFunc(o.People, func(p Person) bool {
				return p.Name != "" &&
					strings.Contains(text, p.Name)
			})
		})
	}
	s.Notes = slices.DeleteFunc(slices.Clone(s.Notes), names)
	if names(s.Problem) {
		s.Problem = "What was handed in could not be used. Your instructor can tell you why."
	}
	return s
}

// pictures runs what has failed once more, with the same workloads and as confined as before, to see what it does.
// Where code did not end, or there is none to run, there is nothing to see.
func (w *workers) pictures(ctx context.Context, j pageJob, f *Feedback) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("cudalab itself panicked: %v", v)
		}
	}()
	var failed []course.Exercise
	for i, e := range w.Exercises {
		if r, _ := j.student.Report(i); r.Status == verdict.Failed || r.Status == verdict.Crashed {
			failed = append(failed, e)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	gpu, err := w.gpus.take(nil)
	if err != nil {
		return err
	}
	defer func() { w.gpus.give(gpu, j.student.ID, false) }()
	ctx, limit, cancel := withBudget(ctx, w.Timeout)
	defer cancel()
	s := j.submission
	q := w.request
	q.Code, q.GPU, q.Turns = check.Submitted(s.Dir, failed), gpu.name, limit.waiting(lock.On(gpu.name))
	q.NoTiming, q.Given, q.Pictures = true, true, true
	results, err := check.Submission(ctx, q)
	if err != nil {
		return err
	}
	f.Drawn = map[string]Drawn{}
	for i, r := range results {
		if r.Err != nil {
			err = r.Err
			continue
		}
		r.Report = settle(r.Report, failed[i].Suite.IsTimed, filepath.Clean(s.Dir))
		if place := r.Place; place != nil {
			r.Place = func(site trace.Site) []verdict.Place { return below(s.Dir, place(site)) }
		}
		f.Drawn[r.Report.Exercise] = r
	}
	return err
}

// below names places by where their files are in a folder.
func below(dir string, places []verdict.Place) []verdict.Place {
	named := slices.Clone(places)
	for i := range named {
		named[i].File = strings.TrimPrefix(named[i].File, filepath.Clean(dir)+string(filepath.Separator))
	}
	return named
}

// file is where a student's page is.
func (p *Page) file(dir, id string) (string, error) {
	name, err := p.Name(id)
	return filepath.Join(dir, p.Folder, name+".html"), err
}
