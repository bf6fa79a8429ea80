package similar

import (
	"slices"
	"strings"
)

// givenGram is how many tokens in a row make something that everybody was given.
const givenGram = 8

// A passage that more than a fifth of the class have, and more than commonLeast, is shown once with all who have it:
// twelve programs make 66 pairs, which somebody may still look through one by one.
const (
	commonPart  = 5
	commonLeast = 12
)

// A turn of phrase, too short to be shown so, is commonplace where more than this many have it, and more than a fifth
// of the class.
const phraseLeast = 20

// Base is the code that is nobody's own.
type Base struct {
	packages map[string]string // that it imports, by the names that they are called by
	grams    map[uint64]origin
}

// Source is code that is nobody's own: Go files, and texts in Markdown with Go in them.
type Source struct{ Files, Markdown []string }

// NewBase is the base of one exercise: what everybody was given, as the skeleton and the hints, and the solution.
func NewBase(everybodys, solutions Source) *Base {
	b := &Base{packages: map[string]string{}, grams: map[uint64]origin{}}
	for _, f := range slices.Concat(everybodys.Files, solutions.Files) {
		r := newReader(f, nil)
		for ok := true; ok; {
			_, _, ok = r.next()
		}
		for name, from := range r.packages {
			b.packages[name] = from
		}
	}
	b.add(solutions, solution)
	b.add(everybodys, given)
	return b
}

func (b *Base) add(s Source, from origin) {
	pieces := s.Files
	for _, text := range s.Markdown {
		pieces = append(pieces, fenced(text)...)
	}
	for _, piece := range pieces {
		t := tokenise(Program{Files: []File{{Text: piece}}}, b.packages)
		eachGram(t.symbols, givenGram, func(_ int, gram uint64) { b.grams[gram] = from })
	}
}

// markIn marks what of the texts is the base's.
func (b *Base) markIn(texts []*text) {
	if b == nil {
		return
	}
	for _, t := range texts {
		for _, from := range []origin{given, solution} {
			t.mark(givenGram, from, func(gram uint64) bool { return b.grams[gram] == from })
		}
	}
}

// markCommon marks what of their own more than so many of the texts have.
func markCommon(texts []*text, most int) {
	if len(texts) <= most {
		return
	}
	in, last := map[uint64]int{}, map[uint64]int{}
	for i, t := range texts {
		eachGram(t.symbols, gramLength, func(_ int, gram uint64) {
			if before, seen := last[gram]; !seen || before != i {
				last[gram] = i
				in[gram]++
			}
		})
	}
	for _, t := range texts {
		t.mark(gramLength, common, func(gram uint64) bool { return in[gram] > most })
	}
}

// mark says where the tokens of some grams are from, unless they are from elsewhere already.
func (t *text) mark(length int, from origin, is func(gram uint64) bool) {
	until := 0 // tokens before it are marked
	eachGram(t.symbols, length, func(at int, gram uint64) {
		if !is(gram) {
			return
		}
		for i := max(at, until); i < at+length; i++ {
			if t.from[i] == own {
				t.from[i] = from
			}
		}
		until = at + length
	})
}

// count is how many of the tokens are from somewhere.
func (t *text) count(from origin) int {
	n := 0
	for i, sym := range t.symbols {
		if sym != 0 && t.from[i] == from {
			n++
		}
	}
	return n
}

func (t *text) ownLines() map[place]bool {
	lines := map[place]bool{}
	for i, sym := range t.symbols {
		if sym != 0 && (t.from[i] == own || t.from[i] == common) {
			lines[place{t.files[i], t.lines[i]}] = true
		}
	}
	return lines
}

// fenced are the pieces of Go in a text of Markdown.
func fenced(markdown string) []string {
	var pieces []string
	var piece []string
	inside := false
	for line := range strings.Lines(markdown) {
		trimmed := strings.TrimSpace(line)
		switch {
		case inside && strings.HasPrefix(trimmed, "```"):
			pieces, piece, inside = append(pieces, strings.Join(piece, "")), nil, false
		case inside:
			piece = append(piece, line)
		case strings.HasPrefix(trimmed, "```go"):
			inside = true
		}
	}
	return pieces
}
