// Package cudac says in the terms of CUDA C++ what a report says in those of the exercises: cuda.MallocAsync(n, s)
// becomes cudaMallocAsync(&p, n, s). The sentences stay as they are, and so do a student's lines, which are Go.
package cudac

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cudalab/grader/suite/verdict"
)

// Report is a report in CUDA's terms.
func Report(r verdict.Report) verdict.Report {
	r.Message, r.Next = Text(r.Message), Text(r.Next)
	if r.Likely != nil {
		likely := *r.Likely
		likely.Where, likely.Question = Text(likely.Where), Text(likely.Question)
		r.Likely = &likely
	}
	r.Checks = slices.Clone(r.Checks)
	for i := range r.Checks {
		c := &r.Checks[i]
		c.Name, c.Message = Text(c.Name), Text(c.Message)
		c.Findings = slices.Clone(c.Findings)
		for j := range c.Findings {
			f := &c.Findings[j]
			f.Message, f.Why, f.Fix = Text(f.Message), Text(f.Why), Text(f.Fix)
			f.Related = slices.Clone(f.Related)
			for k := range f.Related {
				f.Related[k].Message = Text(f.Related[k].Message)
			}
		}
	}
	return r
}

// A name of the exercises' is qualified, as in cuda.Malloc, or bare, as sentences about a student's own call have it. A
// bare name counts if nothing else is called that: a Free may be an allocator's.
var name = regexp.MustCompile(`\*?\b(cuda|kernels)\.([A-Z]\w*)(\{\})?|\b[A-Z][a-z]+[A-Z]\w+\b`)

// Text is a text in CUDA's terms. What CUDA has no name for stays as it is.
func Text(text string) string {
	var b strings.Builder
	for {
		at := name.FindStringSubmatchIndex(text)
		if at == nil {
			b.WriteString(text)
			return b.String()
		}
		whole := text[at[0]:at[1]]
		b.WriteString(text[:at[0]])
		text = text[at[1]:]
		if preceded(b.String()) { // a method or a field of something
			b.WriteString(whole)
			continue
		}
		said := ""
		switch {
		case at[2] < 0:
			said, text = call(whole, "", text)
		case strings.HasPrefix(whole, "kernels"):
			said, text = launch(name.FindStringSubmatch(whole)[2], text)
		default:
			is := name.FindStringSubmatch(whole)[2]
			if whole == "cuda.Stream{}" {
				said = "0" // the legacy default stream
				break
			}
			if t, ok := types[is]; ok {
				said = t
				break
			}
			said, text = call(is, constant(is), text)
		}
		if said == "" {
			said = whole
		}
		b.WriteString(said)
	}
}

func preceded(text string) bool {
	return strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "..")
}

// call is a call of CUDA, or its name where no arguments follow, and the text behind it. A name that is none of a
// call's is what is given for it.
func call(is, otherwise, behind string) (said, rest string) {
	form, ok := calls[is]
	if !ok {
		return otherwise, behind
	}
	function, parameters, _ := strings.Cut(form, "(")
	args, rest, ok := arguments(behind)
	if !ok {
		return function, behind
	}
	filled := fill(strings.TrimSuffix(parameters, ")"), args)
	return function + "(" + filled + ")", rest
}

// fill puts arguments in the place of $1, $2 and so on. Those that a form does not fit follow each other as they came:
// a sentence may have left some out.
func fill(form string, args []string) string {
	if len(placeholder.FindAllString(form, -1)) > len(args) {
		return strings.Join(args, ", ")
	}
	return placeholder.ReplaceAllStringFunc(form, func(p string) string { return args[p[1]-'1'] })
}

var placeholder = regexp.MustCompile(`\$\d`)

// launch is a kernel's launch, whose first arguments are the grid, the block and the stream; without arguments it is
// its name.
func launch(is, behind string) (said, rest string) {
	first, size := utf8.DecodeRuneInString(is)
	kernel := string(unicode.ToLower(first)) + is[size:]
	args, rest, ok := arguments(behind)
	if !ok {
		return kernel, behind
	}
	if len(args) < 3 {
		return kernel + "(" + strings.Join(args, ", ") + ")", rest
	}
	return kernel + "<<<" + args[0] + ", " + args[1] + ", 0, " + args[2] + ">>>(" + strings.Join(args[3:], ", ") + ")",
		rest
}

// arguments are those of a call, in CUDA's terms, and what is behind its closing parenthesis. It is not ok where none
// opens, or the one that opens is never closed.
func arguments(text string) (args []string, rest string, ok bool) {
	if !strings.HasPrefix(text, "(") {
		return nil, text, false
	}
	depth, begin := 0, 1
	for i, c := range text {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		if depth == 0 || depth == 1 && c == ',' {
			if arg := strings.TrimSpace(text[begin:i]); arg != "" {
				args = append(args, Text(arg))
			}
			begin = i + 1
		}
		if depth == 0 {
			return args, text[begin:], true
		}
	}
	return nil, text, false
}
