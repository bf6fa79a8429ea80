package lsp

import (
	"os"
	"path/filepath"
	"strings"

	"cudalab/grader/suite/verdict"
)

const source = "cudalab"

var severities = map[verdict.Severity]int{verdict.Error: severityError, verdict.Remark: severityWarning,
	verdict.Unwritten:   severityInformation,
	verdict.Consequence: severityInformation,
	verdict.Suspected:   severityInformation}

// publish has the client show an exercise's notices, and nothing in files that have none any more.
func (s *server) publish(e *exercise) {
	byPath := map[string][]diagnostic{}
	var order []string
	for path := range e.published {
		byPath[path] = []diagnostic{}
		order = append(order, path)
	}
	for _, n := range e.notices {
		if _, known := byPath[n.path]; !known {
			order = append(order, n.path)
		}
		byPath[n.path] = append(byPath[n.path], s.diagnose(n))
	}
	clear(e.published)
	for _, path := range order {
		s.notify("textDocument/publishDiagnostics", publishDiagnosticsParams{s.uri(path), byPath[path]})
		if len(byPath[path]) > 0 {
			e.published[path] = true
		}
	}
	if main := e.main(); byPath[main] == nil { // also a pass is shown, so that a client knows of it
		s.notify("textDocument/publishDiagnostics", publishDiagnosticsParams{s.uri(main), []diagnostic{}})
	}
}

// uri is what the client calls a file.
func (s *server) uri(path string) string {
	if uri, known := s.uris[path]; known {
		return uri
	}
	return uriOf(path)
}

func (s *server) diagnose(n notice) diagnostic {
	d := diagnostic{Range: n.at, Severity: severities[n.Severity], Code: n.Rule, Source: source, Message: n.Message}
	for _, other := range n.Related {
		path, err := filepath.Abs(other.File)
		if other.File == "" || err != nil || !s.client.Capabilities.TextDocument.PublishDiagnostics.RelatedInformation {
			continue
		}
		text, _ := os.ReadFile(path) // one that is gone has one empty line
		d.Related = append(d.Related, relatedInformation{location{s.uri(path), span(string(text), other.Line, 0)},
			other.Message})
	}
	return d
}

// hover says of the notices on a line what the diagnostics do not: why, what mends it, and how it came about.
func (s *server) hover(p hoverParams) any {
	e, path := s.lookUp(p.TextDocument.URI)
	if e == nil {
		return nil
	}
	found := on(e.notices, path, textRange{p.Position, p.Position})
	if len(found) == 0 {
		return nil
	}
	kind := plainTextKind
	for _, known := range s.client.Capabilities.TextDocument.Hover.ContentFormat {
		if known == markdownKind {
			kind = markdownKind
		}
	}
	var parts []string
	for _, n := range found {
		parts = append(parts, explain(n, kind == markdownKind))
	}
	between := "\n\n"
	if kind == markdownKind {
		between = "\n\n---\n\n"
	}
	return hover{markupContent{kind, strings.Join(parts, between)}, found[0].at}
}

// explain is a notice in paragraphs.
func explain(n notice, markdown bool) string {
	strong, text := func(t string) string { return t }, func(t string) string { return t }
	if markdown {
		strong, text = func(t string) string { return "**" + t + "**" }, plain
	}
	parts := []string{strong(n.Rule)}
	if n.Severity == verdict.Unwritten {
		parts = append(parts, text(n.Message))
	}
	if n.Why != "" {
		parts = append(parts, strong("Why:")+" "+text(n.Why))
	}
	if n.Fix != "" {
		parts = append(parts, strong("Fix:")+" "+text(n.Fix))
	}
	for _, other := range n.Related {
		if other.File == "" {
			parts = append(parts, text(other.Message))
		}
	}
	switch picture := strings.TrimRight(n.Picture, "\n"); {
	case picture != "" && markdown:
		parts = append(parts, "```text\n"+picture+"\n```")
	case picture != "":
		parts = append(parts, picture)
	}
	return strings.Join(parts, "\n\n")
}
