package compile

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cudalab/grader/machine/child"
)

// output is what Go's tools say about one package. What a student wrote may be in it, raw strings of several lines
// included, which the compiler quotes as they are: nothing but the package that a text is about tells whose it is.
type output struct {
	path string // the package's import path
	text string
}

// outputs takes what go build -json says apart. What is not whole, because of a limit on output, is left out.
func outputs(stdout []byte) (all []output) {
	for line := range bytes.Lines(stdout) {
		var event struct{ ImportPath, Action, Output string }
		if json.Unmarshal(line, &event) != nil || event.Action != "build-output" {
			continue
		}
		i := slices.IndexFunc(all, func(o output) bool { return o.path == event.ImportPath })
		if i < 0 {
			i, all = len(all), append(all, output{path: event.ImportPath})
		}
		all[i].text += event.Output
	}
	return all
}

// diagnostic is one message of the compiler with its place.
type diagnostic struct {
	submission *submission
	file       *file // nil: what the runner's main package says about the submission
	line, col  int
	message    string
}

var (
	diagnosticLine = regexp.MustCompile(`^(\S.*?\.go):(\d+)(?::(\d+))?: (.*)$`)
	relatedLine    = regexp.MustCompile(`^\t(\S.*?\.go):(\d+)(?::\d+)?: (.*)$`)
)

// parse takes apart what the compiler says about one package. Foreign is true if it complains about a file that is
// neither a student's nor an exercise's in the runner's main package.
func (w *workspace) parse(o output) (found []diagnostic, foreign bool) {
	var own *submission // whose package it is; nil: the runner's main package, or one of the course's
	for s := range w.texts {
		if importPath(s) == o.path {
			own = s
		}
	}
	for line := range strings.Lines(folded(o.text, own)) {
		line = strings.TrimRight(line, "\r\n")
		if m := relatedLine.FindStringSubmatch(line); m != nil && len(found) > 0 {
			if p := w.source(m[1]); p.file != nil && p.submission == own {
				line = "\t" + m[3] + " in " + p.file.name + ", line " + m[2]
			}
		}
		if strings.HasPrefix(line, "\t") {
			if last := len(found) - 1; last >= 0 {
				found[last].message = bounded(found[last].message + "\n" + line)
			}
			continue
		}
		m := diagnosticLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		p := w.source(m[1])
		if p.submission == nil || own != nil && (p.submission != own || p.file == nil) {
			foreign = foreign || own == nil // about a student's package only the student's own words name other files
			continue
		}
		d := diagnostic{submission: p.submission, file: p.file, message: bounded(m[4])}
		d.line, _ = strconv.Atoi(m[2])
		d.col, _ = strconv.Atoi(m[3])
		found = append(found, d)
	}
	return found, foreign
}

// source is the file that a tool calls by this path: as it is named in the runner, or as go build shortens it.
func (w *workspace) source(name string) source {
	if s, ok := w.sources[name]; ok {
		return s
	}
	return w.sources[absolute(w.root, name)]
}

// folded is a text of the compiler's about a submission's package in which each message is a line, however many lines
// the strings have that it quotes: the student's raw strings are the only text of theirs in it that could begin a line.
// A text that was cut in the middle of such a string ends before it.
func folded(text string, s *submission) string {
	if s == nil {
		return text
	}
	for _, raw := range s.rawStrings() {
		text = strings.ReplaceAll(text, raw, strconv.Quote(bounded(raw[1:len(raw)-1])))
		first, _, _ := strings.Cut(raw, "\n")
		text, _, _ = strings.Cut(text, first+"\n")
	}
	return text
}

// rawStrings are the submission's strings of several lines, as the compiler quotes them; the longest first.
func (s *submission) rawStrings() (all []string) {
	for _, f := range s.files {
		text := f.text
		for _, at := range f.raw {
			end := bytes.IndexByte(text[at+1:], '`')
			if raw := text[at : at+1+end+1]; end >= 0 && bytes.ContainsRune(raw, '\n') {
				all = append(all, string(raw))
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(all)
}

// Bounds on what is kept of what the compiler says: code can make it say any amount.
const (
	maxMessage = 2 << 10 // bytes
	maxErrors  = 20      // of a submission
)

// bounded is the start of a text.
func bounded(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	text = text[:maxMessage]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text + " …"
}

// absolute undoes the shortening of paths in go build's output, which is relative to where it runs. Where a path only
// begins like that folder's, go build puts a dot for the beginning all the same: /home/ada/course-tmp/a.go becomes
// .-tmp/a.go.
func absolute(root, path string) string {
	rest, dot := strings.CutPrefix(path, ".")
	switch {
	case filepath.IsAbs(path):
	case dot && rest != "" && !os.IsPathSeparator(rest[0]) && rest[0] != '.':
		path = root + rest
	default:
		path = filepath.Join(root, path)
	}
	return filepath.Clean(path)
}

// explain gives every submission what the compiler found in it, with plain words, and turns errors in the runner's main
// package into what they mean: that a function of the student's is not what the contract asks for. It reports whether
// it could make something of at least one.
func (b *builder) explain(found []diagnostic) bool {
	explained := false
	for _, d := range found {
		e := CompileError{Line: d.line, Col: d.col, Message: d.message}
		if d.file != nil {
			e.File = d.file.path
			e.Plain = plain(d.message, d.file, b.api)
		} else if !d.submission.mismatch(&e, b.Root, b.work.mainFrom(d.submission, d.line, d.col)) {
			continue
		}
		explained = true
		same := func(o CompileError) bool { return o.File == e.File && o.Line == e.Line && o.Message == e.Message }
		if s := d.submission; len(s.errors) < maxErrors && !slices.ContainsFunc(s.errors, same) {
			s.errors = append(s.errors, e)
		}
	}
	return explained
}

// good reports whether a tool has done what it was to do.
func good(r child.Result) bool { return r.Reason == child.Exited && r.ExitCode == 0 }
