package compile

import (
	"regexp"
	"strings"
	"sync"
)

// syntaxWords put the parser's commonest messages in plain words.
var syntaxWords = sync.OnceValue(func() []syntaxWord {
	return []syntaxWord{
		{regexp.MustCompile(`^missing ',' before newline in (.+)`),
			"A list that goes on over several lines needs a comma behind its last line as well."},
		{regexp.MustCompile(`^missing ',' in (.+)`),
			"A comma or a closing bracket is missing here or just before."},
		{regexp.MustCompile(`found 'EOF'|found EOF`),
			"The file ends too early: a closing brace or parenthesis is missing somewhere above. gofmt's indentation shows " +
				"where."},
		{regexp.MustCompile(`expected statement, found 'else'|found 'else'|expected .* found newline|unexpected newline`),
			"In Go an opening brace stands on the line of its if, for or func, and else on the line of the brace before it."},
		{regexp.MustCompile(`^curly quotation mark`),
			"These are quotation marks for print, as word processors and web pages write them. Go takes only \" and `."},
		{regexp.MustCompile(`^invalid line number`),
			"A comment that begins with //line is an instruction to the compiler. Put a space behind the slashes."},
		{regexp.MustCompile(`^illegal character`), "This character has no meaning in Go outside of a text or a comment."},
		{regexp.MustCompile(`not terminated`), "A text or a comment begins here that is never closed."},
		{regexp.MustCompile(`^(expected declaration|non-declaration statement)`),
			"Outside of functions there can only be declarations. A closing brace too many just above is the usual reason."},
		{regexp.MustCompile(`^imports must appear before`), "Imports belong at the top, straight after the package line."},
		{regexp.MustCompile(`^expected 'package'`), "A Go file begins with its package line."},
		{regexp.MustCompile(`^expected ';'`),
			"Something stands here that cannot follow what is before it: an operator, a comma or a brace is missing or " +
				"too many."},
		{regexp.MustCompile(`^expected '[)\]}]'`), "A bracket that was opened before is not closed here."},
		{regexp.MustCompile(`^expected operand`), "A value is missing here: an operator or a bracket has nothing behind it."},
		{regexp.MustCompile(`^(cannot use .* as value|missing condition|expected boolean)`),
			"A condition that is true or false is needed here; == compares, = assigns."},
	}
})

type syntaxWord struct {
	pattern *regexp.Regexp
	words   string
}

// plainSyntax are plain words for a message of the parser, or "".
func plainSyntax(message string) string {
	for _, s := range syntaxWords() {
		if s.pattern.MatchString(strings.TrimSpace(message)) {
			return s.words
		}
	}
	return ""
}
