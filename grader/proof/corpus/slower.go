package corpus

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Slower is a program that does something more than the solution does, in proportion to a constant extra that is not
// yet in its text. Whoever says how much that is has a program of a known slowness, to hold a timed check to.
type Slower struct {
	Program
	Check string
	Limit float64 // where the check fails
	// an extra that slows down by enough to be measured, from which those for other slowdowns are worked out
	Probe    int
	Function string // the one that is timed, where the check times several
	More     string // in words: what there is more of
}

// slowerFile is where an exercise's programs of this kind are, relative to the course's root. They are written like the
// other edits, with a comment on what there is more of and a directive:
//
//	-- slower/share --
//	from solution
//	// longer kernels
//	//cudalab:slower speed 1.5 35000 Share
func slowerFile(exercisePackage string) string {
	return path.Join("grader/suites", exercisePackage, "testdata/slower.diff")
}

// SlowerPrograms are an exercise's, in the course at root; none where nothing of it is timed.
func SlowerPrograms(root, exercisePackage string) (all []Slower, err error) {
	course, file := os.DirFS(root), slowerFile(exercisePackage)
	text, err := fs.ReadFile(course, file)
	if os.IsNotExist(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	bases, err := whole(course, exercisePackage)
	if err != nil {
		return nil, err
	}
	edits, err := parse(file, string(text))
	if err != nil {
		return nil, err
	}
	programs, err := applyAll(edits, bases)
	if err != nil {
		return nil, err
	}
	for i, p := range programs {
		s := Slower{Program: p, More: strings.TrimPrefix(edits[i].head[0], "// ")}
		n, _ := fmt.Sscan(strings.Join(p.directive("slower"), " "), &s.Check, &s.Limit, &s.Probe, &s.Function)
		if p.Kind != slower || n < 3 {
			return nil,
				edits[i].fault(`%s is to be called slower/… and to say //cudalab:slower, the check, its limit and an extra`, p)
		}
		all = append(all, s)
	}
	return all, nil
}
