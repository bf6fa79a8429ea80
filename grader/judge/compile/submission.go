package compile

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"cudalab/grader/suite/gaps"
)

// Bounds on a folder, far above what any exercise needs.
const (
	maxFiles    = 64
	maxFileSize = 1 << 20 // bytes
	maxSize     = 4 << 20 // bytes of all files
)

// submission is a student's folder as it was read, once: what is checked is what is compiled.
type submission struct {
	Exercise
	api      *api
	set      *token.FileSet
	files    []*file
	refusals []Refusal
	errors   []CompileError
	notes    []string
	starts   bool       // some of it runs when the program starts
	err      error      // why nothing can be said of it
	apart    bool       // it is too much for one program with the others
	lent     []string   // functions that it lacks; see lend
	gaps     []gaps.Gap // theirs
	added    []Addition
}

// bad reports whether anything keeps it out of a runner.
func (s *submission) bad() bool { return len(s.refusals) > 0 || len(s.errors) > 0 || s.err != nil }

// file is a Go file that belongs to the exercise.
type file struct {
	name    string // in the folder
	path    string // the folder as it was given, and the name
	text    []byte
	syntax  *ast.File
	raw     []int             // where its raw strings begin
	imports map[string]string // from the name in this file to the import path
}

// foreign are the kinds of file that go build would hand to other compilers, or link.
var foreign = []string{
	".s", ".S", ".sx", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".m", ".mm", ".f", ".F", ".for", ".f90",
	".swig", ".swigcxx", ".syso", ".a", ".o", ".so", ".dll", ".dylib",
}

// goodName is what Go's tools take without quoting. A name that begins with a dot or an underscore is not Go's to see.
var goodName = regexp.MustCompile(`^[\pL\pN][\pL\pN_. -]*\.go$`)

// read reads the folder and holds it to the policy.
func read(e Exercise, api *api) *submission {
	s := &submission{Exercise: e, api: api, set: token.NewFileSet()}
	if info, err := os.Stat(s.Dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		s.err = &EnvironmentError{
			Problem: fmt.Sprintf("The exercise's files should be in %s, but there is no such folder.", s.Dir),
			Fix:     "Name the folder that holds the exercise's .go files.",
		}
		return s
	}
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		s.err = fmt.Errorf("reading the exercise's folder: %w", err)
		return s
	}
	size := 0
	for _, e := range entries {
		f, err := s.admit(e)
		switch {
		case err != nil:
			s.err = err
			return s
		case f == nil:
			continue
		case len(s.files) == maxFiles:
			s.refuse("", token.Position{}, tooManyFiles())
			return s
		case size+len(f.text) > maxSize:
			s.refuse(f.name, token.Position{}, tooLarge(f.name, maxSize))
			return s
		}
		size += len(f.text)
		s.files = append(s.files, f)
	}
	if len(s.files) == 0 && len(s.refusals) == 0 {
		s.refuse("", token.Position{}, noFiles(s.Dir, s.Package))
		return s
	}
	for _, f := range s.files {
		s.parse(f)
	}
	for _, f := range s.files {
		if f.syntax != nil {
			s.checkFile(f)
		}
	}
	s.checkStart()
	slices.SortStableFunc(s.refusals, func(a, b Refusal) int {
		if a.File != b.File {
			return strings.Compare(a.File, b.File)
		}
		return a.Line - b.Line
	})
	if !s.bad() {
		s.lendMissing()
	}
	return s
}

// admit reads one entry of the folder if it belongs to the exercise; otherwise it is nil.
func (s *submission) admit(e fs.DirEntry) (*file, error) {
	name, ext := e.Name(), filepath.Ext(e.Name())
	switch {
	case e.IsDir():
		return nil, nil
	case name == "go.mod":
		s.notes = append(s.notes, "go.mod was left aside: an exercise is a package of the course's module.")
		return nil, nil
	case slices.Contains(foreign, ext):
		s.refuse(name, token.Position{}, foreignFile(name))
		return nil, nil
	case ext != ".go" || name[0] == '.' || name[0] == '_':
		return nil, nil
	case strings.HasSuffix(name, "_test.go"):
		s.notes = append(s.notes, name+" is a test of your own: it was left aside.")
		return nil, nil
	case !e.Type().IsRegular():
		s.refuse(name, token.Position{}, irregularFile(name))
		return nil, nil
	case !goodName.MatchString(name) || strings.HasPrefix(name, "cgo-"):
		s.refuse(name, token.Position{}, badName(name))
		return nil, nil
	case !forEveryPlatform(name):
		s.refuse(name, token.Position{}, platformName(name))
		return nil, nil
	}
	path := filepath.Join(s.Dir, name)
	text, err := readBounded(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the exercise: %w", err)
	case len(text) > maxFileSize:
		s.refuse(name, token.Position{}, tooLarge(name, maxFileSize))
	case !utf8.Valid(text):
		s.refuse(name, token.Position{Line: invalidLine(text), Column: 1}, badEncoding(name))
	default:
		return &file{name: name, path: path, text: text}, nil
	}
	return nil, nil
}

// readBounded reads one byte more than a file may have, at most.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFileSize+1))
}

func invalidLine(text []byte) int {
	line := 1
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		text = text[size:]
	}
	return line
}

// forEveryPlatform reports whether a file's name is free of suffixes such as _linux or _arm64, by asking Go's own
// rules about a platform that does not exist.
func forEveryPlatform(name string) bool {
	nowhere := build.Context{
		GOOS: "nowhere", GOARCH: "nothing", Compiler: "gc",
		OpenFile: func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("package p\n")), nil },
	}
	match, err := nowhere.MatchFile("", name)
	return match && err == nil
}

// parse leaves the file's syntax in place, or what keeps it from having one.
func (s *submission) parse(f *file) {
	syntax, err := parser.ParseFile(s.set, f.path, f.text, parser.ParseComments|parser.AllErrors)
	if err == nil {
		f.syntax = syntax
		f.imports = importNames(syntax)
		ast.Inspect(syntax, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && l.Value[0] == '`' {
				f.raw = append(f.raw, s.set.PositionFor(l.Pos(), false).Offset)
			}
			return true
		})
		return
	}
	list, ok := err.(scanner.ErrorList)
	if !ok {
		s.errors = append(s.errors, CompileError{File: f.path, Line: 1, Message: err.Error()})
		return
	}
	for i, e := range list {
		// One slip makes the parser stumble several times; those behind the first three are rarely news.
		if i == 3 {
			break
		}
		before := f.text[:e.Pos.Offset] // the line that Pos names is the one that a line directive makes of it
		s.errors = append(s.errors, CompileError{
			File: f.path, Line: 1 + bytes.Count(before, []byte("\n")), Col: len(before) - bytes.LastIndexByte(before, '\n'),
			Message: "syntax error: " + e.Msg, Plain: plainSyntax(e.Msg),
		})
	}
}
