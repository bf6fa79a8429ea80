package lsp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/desk/hints"
	"cudalab/grader/desk/progress"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// The commands that code actions stand for.
const (
	hintCommand    = "cudalab.hint"
	pictureCommand = "cudalab.picture"
	whyCommand     = "cudalab.why"
)

var commands = []string{hintCommand, pictureCommand, whyCommand}

const quickFix = "quickfix"

// commandArgument is what a command is about.
type commandArgument struct {
	URI  string `json:"uri"`
	TODO string `json:"todo,omitempty"` // the gap; "" where a finding is meant
	Rule string `json:"rule,omitempty"` // the finding
	Line int    `json:"line,omitempty"` // its line, from 1
}

// codeActions are what can be done about the notices and gaps on some lines.
func (s *server) codeActions(p codeActionParams) any {
	actions := []codeAction{}
	e, path := s.lookUp(p.TextDocument.URI)
	only := p.Context.Only
	if e == nil || len(only) > 0 && !slices.Contains(only, quickFix) && !slices.Contains(only, "") {
		return actions
	}
	add := func(title, name string, about commandArgument, of []diagnostic) {
		about.URI = p.TextDocument.URI
		actions = append(actions, codeAction{title, quickFix, of, command{title, name, []commandArgument{about}}})
	}
	for _, g := range on(e.gaps, path, p.Range) {
		add("Next hint for TODO("+g.todo+")", hintCommand, commandArgument{TODO: g.todo}, nil)
	}
	var found []diagnostic
	for _, n := range on(e.notices, path, p.Range) {
		if n.Severity == verdict.Unwritten {
			continue // that is one of the gaps
		}
		d := s.diagnose(n)
		found = append(found, d)
		add("Next hint for "+n.Rule, hintCommand, commandArgument{Rule: n.Rule, Line: n.at.Start.Line + 1}, []diagnostic{d})
	}
	if len(found) > 0 && e.Exercise.Why > 0 && e.report.Status != verdict.Passed {
		add("Look for the line in "+e.Name+" where one change is enough", whyCommand, commandArgument{}, found)
	}
	if len(found) > 0 {
		add("Open the picture of "+e.Name, pictureCommand, commandArgument{}, found)
	}
	if s.client.Capabilities.TextDocument.CodeAction.LiteralSupport == nil {
		bare := []command{}
		for _, a := range actions {
			bare = append(bare, a.Command)
		}
		return bare
	}
	return actions
}

// execute carries a command out beside all else.
func (s *server) execute(m *incoming) (any, bool, *responseError) {
	p, err := params[executeCommandParams](m)
	if err != nil {
		return nil, true, err
	}
	if len(p.Arguments) != 1 || !slices.Contains(commands, p.Command) {
		return nil, true, &responseError{codeInvalidParams, fmt.Sprintf("there is no command %s with %d arguments", p.Command,
			len(p.Arguments))}
	}
	about := p.Arguments[0]
	e, path := s.lookUp(about.URI)
	if e == nil {
		return nil, true, &responseError{codeInvalidParams, about.URI + " is no file of an exercise"}
	}
	if p.Command == hintCommand {
		s.carryOut(m.ID, func(ctx context.Context) (func(), error) {
			text, err := hint(ctx, e.course, e.Exercise, path, about)
			return func() { s.say(messageInfo, text) }, err
		})
		return nil, false, nil
	}
	if p.Command == whyCommand {
		done := s.progress("Trying changes of " + e.Name)
		s.carryOut(m.ID, func(ctx context.Context) (func(), error) {
			text, err := s.Why(ctx, e.course, e.Exercise)
			s.later <- func() { done("") }
			return func() { s.say(messageInfo, text) }, err
		})
		return nil, false, nil
	}
	if e.report == nil {
		return nil, true, &responseError{codeRequestFailed, e.Name + " has not been checked yet"}
	}
	r := *e.report
	done := s.progress("Drawing " + e.Name)
	s.carryOut(m.ID, func(ctx context.Context) (func(), error) {
		file, err := s.Picture(ctx, e.course, e.Exercise, r)
		s.later <- func() { done("") }
		return func() { s.open(file) }, err
	})
	return nil, false, nil
}

// hint is the next hint for a gap or a finding, or why there is none.
func hint(ctx context.Context, c *course.Course, e course.Exercise, path string, about commandArgument) (string,
	error) {
	var h hints.Hint
	var err error
	if about.Rule == "" {
		h, err = hints.Next(ctx, c.Root, e, about.TODO)
	} else {
		h, err = hints.About(ctx, c.Root, e, progress.Finding{Rule: about.Rule, File: filepath.Base(path), Line: about.Line})
	}
	unknown, nothing := (*hints.NoTODO)(nil), (*hints.Nothing)(nil)
	switch {
	case errors.As(err, &unknown):
		return unknown.Error() + ".", nil
	case errors.As(err, &nothing):
		return nothing.Error(), nil
	case err != nil:
		return "", err
	}
	return strings.TrimSpace(strings.ReplaceAll(h.Markdown(e.Name), "### ", "")), nil
}

// open shows a page to the student: in the browser, where the client can, else by its name.
func (s *server) open(file string) {
	byName := func() { s.say(messageInfo, "The picture is in "+file+": open it in a browser.") }
	if !s.client.Capabilities.Window.ShowDocument.Support {
		byName()
		return
	}
	s.ask("window/showDocument", showDocumentParams{uriOf(file), true}, func(m *incoming) {
		if shown, err := result[showDocumentResult](m); err != nil || !shown.Success {
			byName()
		}
	})
}
