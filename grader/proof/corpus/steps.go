package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"cudalab/grader/suite/gaps"
)

// The files of a lesson's corpus that are about its gaps, where there is any with several in a function: see Step.
const (
	gapsFile = "gaps.diff"
	cutsFile = "cuts.txt"
)

// step is one gap of a skeleton, as students fill it who go from one to the next: the gaps before it are filled as in
// the solution, those behind it are open. How the solution's code parts into gaps where a function has several is said
// in cuts.txt, a line for each: the gap, and the line of the solution that is the first behind its code. The mistakes
// are in gaps.diff, an edit from filled/1c for the gap 1c:
//
//	-- gap/1c-bytes-for-elements --
//	from filled/1c
//	// Takes elements for bytes.
//
//	-	data, err := cuda.MallocAsync(4*int64(batch.N), stream)
//	+	data, err := cuda.MallocAsync(int64(batch.N), stream) // want: out-of-bounds
//
// One that cannot be seen as long as the gaps behind it are open says why: //cudalab:unseen because … One that is no
// more than remarked on by then says why as well: //cudalab:remark because …
type step struct {
	Gap, Next string  // "1c", "1d"; Next is "" for the last one
	Right     Program // with the gap filled as in the solution; for the last one that is the solution
	Wrong     Program // with a mistake in it
	Unseen    string  // why the mistake cannot be seen; "" where it can
	Remark    string  // why its finding is a remark; "" where it is an error
}

// Steps are an exercise's gaps, in the course at root. The error is fs.ErrNotExist where there is no gaps.diff.
func Steps(root, exercisePackage string) ([]step, error) {
	course := os.DirFS(root)
	programs, err := whole(course, exercisePackage)
	if err != nil {
		return nil, err
	}
	file := path.Join(Folder(exercisePackage), gapsFile)
	text, err := fs.ReadFile(course, file)
	if err != nil {
		return nil, err
	}
	solution, skeleton := programs[0].Text, programs[1].Text
	cuts, err := readCuts(course, path.Join(Folder(exercisePackage), cutsFile))
	if err != nil {
		return nil, err
	}
	ids := gaps.Of([]byte(skeleton))
	steps, right := make([]step, len(ids)), make([]Program, len(ids))
	for i, id := range ids {
		text, err := fillUpTo(skeleton, solution, id, cuts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", exercisePackage, err)
		}
		right[i] = Program{Kind: filled, Name: id, Text: text}
		steps[i] = step{Gap: id, Right: right[i]}
		if i > 0 {
			steps[i-1].Next = id
		}
	}
	edits, err := parse(file, string(text))
	if err != nil {
		return nil, err
	}
	wrong, err := applyAll(edits, right)
	if err != nil {
		return nil, err
	}
	return steps, mistaken(file, steps, wrong)
}

// mistaken gives each step its mistake. Its error tells of every one that is not right.
func mistaken(file string, steps []step, wrong []Program) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(file+": "+format, args...)) }
	for _, p := range wrong {
		id, _, _ := strings.Cut(p.Name, "-")
		i := slices.IndexFunc(steps, func(s step) bool { return s.Gap == id })
		switch {
		case p.Kind != gap || i < 0:
			fault("%s is no mistake in a gap: its name is gap/1a-, of a gap that there is, and what it does", p)
			continue
		case steps[i].Wrong.Text != "":
			fault("%s and %s are mistakes in the same gap: keep one", steps[i].Wrong, p)
			continue
		}
		steps[i].Wrong, steps[i].Unseen, steps[i].Remark = p, strings.Join(p.directive("unseen"), " "),
			strings.Join(p.directive("remark"), " ")
		if (steps[i].Unseen == "") == (len(p.Expect().Wants) == 0) {
			fault("%s has to say what is wanted, or //cudalab:unseen and why nothing can be", p)
		}
	}
	for _, s := range steps {
		if s.Wrong.Text == "" {
			fault("there is no mistake in the gap %s: write one, gap/%[1]s-…", s.Gap)
		}
	}
	return errors.Join(faults...)
}

func readCuts(course fs.FS, file string) (map[string]string, error) {
	cuts := map[string]string{}
	text, err := fs.ReadFile(course, file)
	if errors.Is(err, fs.ErrNotExist) {
		return cuts, nil // no function has several gaps
	}
	for line := range strings.Lines(string(text)) {
		id, first, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			return nil, fmt.Errorf("%s: %q is no gap with the first line behind its code", file, strings.TrimSpace(line))
		}
		cuts[id] = first
	}
	return cuts, err
}
