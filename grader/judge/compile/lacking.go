package compile

import (
	"fmt"
	"go/ast"
	"slices"

	"cudalab/grader/suite/gaps"
)

// lentEnd ends the names that are lent to a student's package, so that none of the student's own is in the way; its
// letter is on no keyboard.
const lentEnd = "\u01c3"

// lendMissing lends a submission the skeleton's functions in the place of those that the contract has by now and the
// submission has not, so that what there is can be judged.
func (s *submission) lendMissing() {
	declared := map[string]bool{}
	for _, f := range s.files {
		for _, d := range f.syntax.Decls {
			collect(d, declared)
		}
	}
	called := s.called()
	missing := slices.DeleteFunc(slices.Clone(called), func(name string) bool { _, ok := declared[name]; return ok })
	for _, name := range missing {
		if len(missing) == len(called) {
			continue
		}
		lacks, made := name+" is not in the files", s.typeOf(name)
		if _, has := declared[made]; made != "" && has {
			lacks = fmt.Sprintf("%s, which makes the %s, is not in the files", name, made)
		} else if made != "" {
			lacks = fmt.Sprintf("%s, with %s and its methods, is not in the files", made, name)
		}
		s.lend(name, lacks, nil)
	}
}

// called are the student's functions that the runner calls.
func (s *submission) called() (names []string) {
	for _, m := range ofTheExercise.FindAllStringSubmatch(s.Exercise.Main, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// lend lends a submission the skeleton's function of a name, and with it the type that it makes: it does nothing but
// answer its first gap. Lacks says why; at, where not nil, is the error at what the submission has in its place. It is
// not lent where the skeleton has no gap there, or where nothing of the student's would be left to judge.
func (s *submission) lend(name, lacks string, at *CompileError) bool {
	open := gaps.Within(s.Skeleton, name)
	if len(open) == 0 || len(s.lent)+1 >= len(s.called()) {
		return false
	}
	p := newPlaceholder(s.Skeleton)
	if p == nil {
		return false
	}
	if made := s.typeOf(name); made != "" {
		open = append(open, p.wholeType(made)...)
	}
	p.function(name)
	s.lent = append(s.lent, name)
	s.add(p, name, open, lacks, at)
	return true
}

// lendMethod lends the skeleton's method to the student's own type, which lacks it.
func (s *submission) lendMethod(e CompileError) bool {
	open := gaps.Within(s.Skeleton, s.typeOf(e.function)+"."+e.method)
	p := newPlaceholder(s.Skeleton)
	if len(open) == 0 || p == nil || !s.bears(e.of) {
		return false
	}
	p.method(s.typeOf(e.function)+"."+e.method, e.of)
	s.add(p, e.method, open, notInFiles(e), nil)
	return true
}

// bears reports whether a type of the student's may be given a method: an interface may not, nor a name for another
// type.
func (s *submission) bears(name string) bool {
	for _, f := range s.files {
		if t := typeSpec(f.syntax, name); t != nil {
			_, isStruct := t.Type.(*ast.StructType)
			return isStruct && t.TypeParams == nil && !t.Assign.IsValid()
		}
	}
	return false
}

// add adds what is lent to the files, and the gaps that it comes to.
func (s *submission) add(p *placeholder, name string, open []gaps.Gap, lacks string, at *CompileError) {
	for i := range open {
		open[i].Line, open[i].Lacks = 0, lacks
		if at != nil {
			open[i].File, open[i].Line = at.File, at.Line
		}
	}
	f := &file{name: "lent-" + name + ".go", text: p.text()}
	for slices.ContainsFunc(s.files, func(other *file) bool { return other.name == f.name }) {
		f.name = "lent-" + f.name
	}
	f.path = f.name
	s.parse(f)
	s.files, s.gaps = append(s.files, f), append(s.gaps, open...)
}

// main is the expression that makes the suite, with what is lent.
func (s *submission) main() string {
	return ofTheExercise.ReplaceAllStringFunc(s.Exercise.Main, func(call string) string {
		if slices.Contains(s.lent, call[len("exercise."):]) {
			return call + lentEnd
		}
		return call
	})
}

// lendInstead lends functions and methods to submissions in which nothing is wrong but that some of the contract's are
// missing or have other signatures. It reports whether the runner is to be made once more.
func (b *builder) lendInstead(submissions []*submission) (lent bool, err error) {
	for _, s := range submissions {
		if len(s.errors) == 0 {
			continue
		}
		if slices.ContainsFunc(s.errors, func(e CompileError) bool { return !s.lendFor(e) }) {
			s.gaps = nil
			continue
		}
		s.errors, b.done[s], lent = nil, false, true
		if err := b.work.add(s); err != nil {
			return false, err
		}
	}
	return lent, nil
}

// lendFor lends what an error is about, if it is about something that the contract asks for.
func (s *submission) lendFor(e CompileError) bool {
	switch p := newPlaceholder(s.Skeleton); {
	case p == nil || e.function == "":
		return false
	case e.lacks:
		return s.lendMethod(e) || s.lend(e.function, notInFiles(e), &e)
	case e.method != "":
		return s.lend(e.function, p.shouldBe(s.typeOf(e.function)+"."+e.method), &e)
	default:
		return s.lend(e.function, p.shouldBe(e.function), &e)
	}
}

func notInFiles(e CompileError) string {
	return fmt.Sprintf("The method %s of %s is not in the files", e.method, e.of)
}
