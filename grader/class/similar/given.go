package similar

import (
	"strings"
)

// givenGram is how many tokens in a row make something that everybody was given.
const givenGram = 8

// A passage that a part of this size of the class has is commonplace, but not one that fewer than commonLeast have.
const (
	commonPart  = 5
	commonLeast = 20
)

// Base is the code that everybody was given.
type Base struct {
	packages map[string]string // that it imports, by the names that they are called by
	grams    map[uint64]bool
}

// NewBase is the base of one exercise: Go files such as the skeleton and the solution, and texts in Markdown with Go in them.
func NewBase(files, markdown []string) *Base {
	b := &Base{packages: map[string]string{}, grams: map[uint64]bool{}}
	for _, f := range files {
		r := newReader(f, nil)
		for ok := true; ok; {
			_, _, ok = r.next()
		}
		for name, from := range r.packages {
			b.packages[name] = from
		}
		b.add(f)
	}
	for _, text := range markdown {
		for _, code := range fenced(text) {
			b.add(code)
		}
	}
	return b
}

func (b *Base) add(source string) {
	t := tokenise(Program{Files: []File{{Text: source}}}, b.packages)
	eachGram(t.symbols, givenGram, func(_ int, gram uint64) { b.grams[gram] = true })
}

// markIn marks what of the texts is the base's.
func (b *Base) markIn(texts []*text) {
	if b == nil {
		return
	}
	for _, t := range texts {
		t.mark(givenGram, func(gram uint64) bool { return b.grams[gram] })
	}
}

// markCommon marks what more than so many of the texts have.
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
		t.mark(gramLength, func(gram uint64) bool { return in[gram] > most })
	}
}

// mark marks the tokens of the grams that are given.
func (t *text) mark(length int, given func(gram uint64) bool) {
	until := 0 // tokens before it are marked
	eachGram(t.symbols, length, func(at int, gram uint64) {
		if !given(gram) {
			return
		}
		for i := max(at, until); i < at+length; i++ {
			t.given[i] = true
		}
		until = at + length
	})
}

func (t *text) countOwn() {
	t.own = 0
	for i, sym := range t.symbols {
		if sym != 0 && !t.given[i] {
			t.own++
		}
	}
}

func (t *text) ownLines() map[place]bool {
	own := map[place]bool{}
	for i, sym := range t.symbols {
		if sym != 0 && !t.given[i] {
			own[place{t.files[i], t.lines[i]}] = true
		}
	}
	return own
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
