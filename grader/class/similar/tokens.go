package similar

import (
	"go/doc"
	"go/scanner"
	"go/token"
	"hash/fnv"
	"path"
	"strconv"
)

// maxTokens bounds one program: the longest exercise has 5,000. What lies behind is not compared.
const maxTokens = 50_000

// text is a program as its tokens.
type text struct {
	symbols []uint64 // each token with names and literals taken out; 0 ends a file
	lines   []int32
	files   []int32
	from    []origin // by token
	own     int      // tokens that are the author's own and not commonplace
	grams   []placed // that are for the greater part its own, by gram
	prints  []uint64 // the fingerprints, each once
	cut     bool     // longer than maxTokens
}

// origin is where a token is from.
type origin uint8

const (
	own      origin = iota // the author's, as far as can be told
	given                  // everybody was given it
	solution               // the solution has it, and nothing that was given
	common                 // more of the class have it than copies are compared one by one
)

// What stands for tokens that an author may change at will.
var (
	anyName   = symbol("a name")
	anyNumber = symbol("a number")
	anyString = symbol("a string")
)

func symbol(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return max(h.Sum64(), 1)
}

// tokenise reads a program, also one that does not compile. Packages are what its files import, by the names that they
// are called by, beside those that a file imports itself.
func tokenise(p Program, packages map[string]string) *text {
	t := &text{}
	for i, f := range p.Files {
		t.add(f.Text, int32(i), packages)
	}
	t.from = make([]origin, len(t.symbols))
	return t
}

func (t *text) add(source string, file int32, packages map[string]string) {
	r := newReader(source, packages)
	for len(t.symbols) < maxTokens {
		sym, line, ok := r.next()
		if !ok {
			t.end(file, line)
			return
		}
		t.symbols, t.lines, t.files = append(t.symbols, sym), append(t.lines, int32(line)), append(t.files, file)
	}
	t.cut = true
	t.end(file, 0)
}

func (t *text) end(file int32, line int) {
	t.symbols, t.lines, t.files = append(t.symbols, 0), append(t.lines, int32(line)), append(t.files, file)
}

// reader reads the symbols of a file. The package clause, imports, comments and semicolons are none.
type reader struct {
	scan     scanner.Scanner
	file     *token.File
	packages map[string]string // import paths by the names that they are called by
	back     []read            // that were read too early
}

type read struct {
	tok  token.Token
	lit  string
	line int
}

func newReader(source string, packages map[string]string) *reader {
	r := &reader{packages: map[string]string{}}
	for name, from := range packages {
		r.packages[name] = from
	}
	set := token.NewFileSet()
	r.file = set.AddFile("", set.Base(), len(source))
	r.scan.Init(r.file, []byte(source), func(token.Position, string) {}, 0)
	return r
}

func (r *reader) read() read {
	if n := len(r.back); n > 0 {
		last := r.back[n-1]
		r.back = r.back[:n-1]
		return last
	}
	pos, tok, lit := r.scan.Scan()
	return read{tok, lit, r.file.Line(pos)}
}

func (r *reader) next() (sym uint64, line int, ok bool) {
	for {
		t := r.read()
		switch {
		case t.tok == token.EOF:
			return 0, t.line, false
		case t.tok == token.SEMICOLON:
		case t.tok == token.PACKAGE:
			r.read()
		case t.tok == token.IMPORT:
			r.imports()
		case t.tok == token.IDENT:
			return r.name(t), t.line, true
		case t.tok == token.STRING:
			return anyString, t.line, true
		case t.tok.IsLiteral():
			return anyNumber, t.line, true
		case t.tok == token.DEFINE:
			return symbol(token.ASSIGN.String()), t.line, true // var x T and x := T{} are told apart by their other words
		default:
			return symbol(t.tok.String()), t.line, true
		}
	}
}

// name is the symbol of an identifier: what the language or a package calls so stays, whatever the package is called
// here; all other names are alike.
func (r *reader) name(t read) uint64 {
	from, imported := r.packages[t.lit]
	if !imported {
		if doc.IsPredeclared(t.lit) {
			return symbol(t.lit)
		}
		return anyName
	}
	dot := r.read()
	if dot.tok != token.PERIOD {
		r.back = append(r.back, dot)
		return anyName
	}
	member := r.read()
	if member.tok != token.IDENT {
		r.back = append(r.back, member, dot)
		return anyName
	}
	return symbol(from + "." + member.lit)
}

// imports reads what follows the word import.
func (r *reader) imports() {
	called, open := "", false
	for {
		t := r.read()
		switch t.tok {
		case token.LPAREN:
			open = true
		case token.IDENT, token.PERIOD:
			called = t.lit
		case token.STRING:
			from, err := strconv.Unquote(t.lit)
			if err != nil {
				return
			}
			if called == "" {
				called = path.Base(from)
			}
			r.packages[called] = from
			called = ""
		case token.SEMICOLON:
			if !open {
				return
			}
		case token.EOF:
			r.back = append(r.back, t)
			return
		default:
			return
		}
	}
}
