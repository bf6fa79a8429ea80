package guarded

import (
	"fmt"
	"go/ast"
	"strings"

	"cudalab/grader/proof/corpus"
)

// spoilt begins the names of programs with spoilt calls.
const spoilt = "wrong/every "

// ways are those in which a single call is spoilt that belong to no lesson.
var ways = []string{"panics", "leaks", "answers wrong", "waits"}

// Spoilt is the solution of an exercise with a wrong program for every exported function and way in which calls of it
// can be spoilt: "wrong/every waits: Pool.Alloc".
func Spoilt(root, exercisePackage string) (*Program, []unguarded, error) {
	solution, err := corpus.Find(root, exercisePackage, string(corpus.Solution))
	if err != nil {
		return nil, nil, err
	}
	needs := "package p\nimport \"cudalab/native/cuda\"\nimport \"errors\"" // of what spoils a call
	l, err := newLoader(root, exercisePackage, []string{solution.Text, needs})
	if err != nil {
		return nil, nil, err
	}
	right, err := l.load(solution)
	if err != nil {
		return nil, nil, err
	}
	var wrong []corpus.Program
	for _, f := range right.functions() {
		for _, way := range ways {
			wrong = append(wrong, corpus.Program{Kind: corpus.Wrong, Name: "every " + way + ": " + f.name,
				Text: right.spoilt(f.name, way)})
		}
	}
	return l.combine(solution, wrong)
}

// spoilt is the program's text with a function that begins with what spoils it.
func (p *program) spoilt(function, way string) string {
	f := p.find(function).node.(*ast.FuncDecl)
	variables, answers := p.answers(f, `errors.New("as a test")`)
	begin := map[string]string{
		"panics":        `panic("as a test")`,
		"leaks":         `cuda.EventCreate()`,
		"answers wrong": fmt.Sprintf("%sif len(\"always\") > 0 {\nreturn %s\n}", variables, answers),
		"waits":         p.wait(f),
	}[way]
	at := p.set.Position(f.Body.Lbrace).Offset + 1
	text := p.Text[:at] + "\n" + begin + "\n" + p.Text[at:]
	end := p.set.Position(p.file.Name.End()).Offset
	for name, path := range map[string]string{"cuda.": "cudalab/native/cuda", "errors.": "errors"} {
		if strings.Contains(begin, name) && !strings.Contains(text, fmt.Sprintf("%q", path)) {
			text = text[:end] + fmt.Sprintf("\nimport %q\n", path) + text[end:]
		}
	}
	return text
}

// wait has a function wait for the device. It answers the error of that, so that nothing is wrong where it may wait.
func (p *program) wait(f *ast.FuncDecl) string {
	const call = "cuda.DeviceSynchronize()"
	variables, answers := p.answers(f, "failed")
	if !strings.HasSuffix(answers, "failed") {
		return call
	}
	return fmt.Sprintf("if failed := %s; failed != nil {\n%sreturn %s\n}", call, variables, answers)
}

// answers are what a function answers with an error, which is failed: nothing of use. The variables are for that.
func (p *program) answers(f *ast.FuncDecl, failed string) (variables, answers string) {
	var all []string
	if f.Type.Results != nil {
		for i, field := range f.Type.Results.List {
			for range max(len(field.Names), 1) {
				t := p.text(field.Type)
				name := fmt.Sprintf("answer%d%d", i, len(all))
				switch {
				case t == "error":
					name = failed
				case isInteger(p.info.TypeOf(field.Type)): // which might be 0
					variables += fmt.Sprintf("var %s %s = 0x2badbad\n", name, t)
				default:
					variables += fmt.Sprintf("var %s %s\n", name, t)
				}
				all = append(all, name)
			}
		}
	}
	return variables, strings.Join(all, ", ")
}
