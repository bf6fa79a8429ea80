package lsp

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"cudalab/grader/judge/compile"
	"cudalab/grader/suite/verdict"
)

// checking is a check that is running.
type checking struct {
	exercise *exercise
	cancel   context.CancelFunc
	again    bool // its result is out of date: it is to be checked once more
}

// opened checks an exercise that has not been checked since the server started.
func (s *server) opened(p documentParams) {
	e, path := s.lookUp(p.TextDocument.URI)
	if e == nil {
		return
	}
	s.uris[path] = p.TextDocument.URI
	if e.report == nil && !slices.Contains(s.queue, e) && (s.checking == nil || s.checking.exercise != e) {
		s.queue = append(s.queue, e)
		s.check()
	}
}

// saved checks an exercise before all others. A check that is running is ended: of this exercise it is out of date, and
// another one the student does not wait for.
func (s *server) saved(p documentParams) {
	e, _ := s.lookUp(p.TextDocument.URI)
	if e == nil {
		return
	}
	s.queue = slices.DeleteFunc(s.queue, func(other *exercise) bool { return other == e })
	if s.checking != nil {
		s.checking.again = true
		s.checking.cancel()
		if s.checking.exercise != e {
			s.queue = slices.Insert(s.queue, 0, s.checking.exercise)
		}
	}
	s.queue = slices.Insert(s.queue, 0, e)
	s.check()
}

func (s *server) changed(p didChangeParams) {
	if e, path := s.lookUp(p.TextDocument.URI); e != nil {
		for _, c := range p.ContentChanges {
			e.follow(path, c)
		}
	}
}

// check starts the next check, where none is running.
func (s *server) check() {
	if s.checking != nil || len(s.queue) == 0 {
		return
	}
	e := s.queue[0]
	s.queue = s.queue[1:]
	ctx, cancel := context.WithCancel(s.ctx)
	now := &checking{exercise: e, cancel: cancel}
	s.checking = now
	done := s.progress("Checking " + e.Name)
	s.apart(func() func() {
		r, again := s.Check(ctx, e.course, e.Exercise, func() {
			s.apartNote(compile.Preparing())
		})
		return func() {
			cancel()
			s.checking = nil
			if now.again || s.state != running || s.ctx.Err() != nil {
				done("")
			} else {
				done(string(r.Status))
				s.finished(e, r, again)
			}
			s.check()
		}
	})
}

// apartNote has Run write into the client's log, from a goroutine that must not wait for it.
func (s *server) apartNote(text string) {
	select {
	case s.later <- func() { s.note(text) }:
	default:
	}
}

// finished shows what a check came to.
func (s *server) finished(e *exercise, r verdict.Report, again bool) {
	e.place(r)
	s.publish(e)
	s.note(fmt.Sprintf("%s: %s, %g of %g points. %s", e.Name, r.Status, r.Score, r.MaxScore, r.Message))
	if r.Output != "" {
		s.note("Your code printed:\n" + r.Output)
	}
	trouble := ""
	switch {
	case r.Status == verdict.Errored:
		trouble = "cudalab cannot check " + e.Name + ": " + r.Message + " " + r.Next
		if trouble != s.told {
			s.say(messageError, trouble)
		}
	case again:
		s.queue = append(s.queue, e)
	case r.Status != verdict.Passed:
		e.failing = true
	case e.failing:
		e.failing = false
		s.say(messageInfo, e.Name+" has passed.")
	}
	s.told = trouble
}

// progress shows that something goes on, where the client can; what it returns ends that.
func (s *server) progress(title string) (done func(message string)) {
	if !s.client.Capabilities.Window.WorkDoneProgress {
		return func(string) {}
	}
	token := "cudalab-" + strconv.Itoa(s.lastID+1)
	begun, ended := false, false
	s.ask("window/workDoneProgress/create", progressCreateParams{token}, func(m *incoming) {
		if m.Error == nil && !ended {
			begun = true
			s.notify("$/progress", progressParams{token, progressValue{Kind: "begin", Title: title}})
		}
	})
	return func(message string) {
		ended = true
		if begun {
			s.notify("$/progress", progressParams{token, progressValue{Kind: "end", Message: message}})
		}
	}
}
