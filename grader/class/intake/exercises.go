package intake

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// exercisesFolder is where the course keeps the exercises.
const exercisesFolder = "exercises"

// courseRooms are the course's folders that hold Go files which are not the student's, some in packages of the same
// names as the exercises.
var courseRooms = []string{"solutions", "grader", "native", "kernels", "cmd", "lessons"}

// exercise is one exercise of a submission.
type exercise struct {
	pkg   string
	dir   string // in the submission; "." is its root
	files []file
}

// file is one file of an exercise and the name it gets.
type file struct {
	name string
	entry
}

// candidate is a folder that may be an exercise.
type candidate struct {
	dir    string
	files  []entry
	depth  int
	home   bool // in exercises/
	byName bool // by the folder's name, rather than by what its files say
}

func (a candidate) compare(b candidate) int {
	first := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return -1
		}
		return 1
	}
	return cmp.Or(first(a.home, b.home), cmp.Compare(a.depth, b.depth), first(a.byName, b.byName))
}

// find chooses the folder of each exercise. Its error is a fault.
func (c *contents) find(l listing) ([]exercise, error) {
	folders := map[string][]entry{}
	courses := map[string]bool{} // folders that hold a folder exercises
	for _, e := range l {
		dir := path.Dir(e.path)
		if hidden(e.path) && e.counted() {
			c.ledger.leave(e, "it is hidden: its name, or its folder's, begins with a dot")
		}
		if hidden(e.path) {
			continue
		}
		if e.kind == regular && !isArchive(e.path) && unreadableArchive(e.path) == "" {
			folders[dir] = append(folders[dir], e)
		}
		for d := dir; d != "."; d = path.Dir(d) {
			if strings.EqualFold(path.Base(d), exercisesFolder) {
				courses[path.Dir(d)] = true
			}
		}
	}
	candidates, err := c.candidates(folders, courses)
	if err != nil {
		return nil, err
	}
	var found []exercise
	considered := map[string]bool{}
	for _, pkg := range c.packages {
		for _, option := range candidates[pkg] {
			for _, e := range option.files {
				considered[e.path] = true
			}
		}
		if chosen, ok := c.choose(pkg, candidates[pkg]); ok {
			found = append(found, chosen)
		}
	}
	c.noteExtras(folders, courses, considered, found)
	switch {
	case len(found) > 0:
		c.notes.list = append(c.notes.list, c.lost...)
	case len(c.lost) > 0:
		return nil, fault(strings.Join(c.lost, " "))
	default:
		return nil, faultf("It holds no exercise: there is no folder with .go files that is called %s, and no .go file of "+
			"such a package. Hand in the exercises' folders as they are in the course.", oneOf(c.packages))
	}
	return found, nil
}

func oneOf(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// candidates are the folders that each package may be in.
func (c *contents) candidates(folders map[string][]entry, courses map[string]bool) (map[string][]candidate, error) {
	out := map[string][]candidate{}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		files := folders[dir]
		sources := slices.ContainsFunc(files, func(e entry) bool { return isSource(e.path) })
		if inCourseRoom(dir, courses) {
			for _, e := range files {
				c.ledger.leave(e, "it is the course's, not the student's")
			}
			continue
		}
		if !sources {
			continue
		}
		base := candidate{dir: dir, depth: depth(dir, files[0].nesting), home: strings.EqualFold(path.Base(path.Dir(dir)),
			exercisesFolder)}
		if pkg := packageNamed(c.packages, trimArchive(path.Base(dir))); pkg != "" {
			base.files, base.byName = files, true
			out[pkg] = append(out[pkg], base)
			continue
		}
		byPackage, others, err := c.clauses(files)
		if err != nil {
			return nil, err
		}
		for pkg, own := range byPackage {
			base.files = append(slices.Clone(own), others...)
			out[pkg] = append(out[pkg], base)
		}
	}
	return out, nil
}

// isSource reports whether a file is one that an exercise is built from.
func isSource(name string) bool {
	return isGo(name) && !strings.HasSuffix(strings.ToLower(name), "_test.go") && !strings.HasPrefix(path.Base(name), "_")
}

// inCourseRoom reports whether a folder is in the course, but is not the student's.
func inCourseRoom(dir string, courses map[string]bool) bool {
	for d := dir; d != "."; d = path.Dir(d) {
		if courses[path.Dir(d)] && slices.ContainsFunc(courseRooms, func(r string) bool {
			return strings.EqualFold(r,
				path.Base(d))
		}) {
			return true
		}
	}
	return false
}

// clauses sorts the files of a folder by the packages that they say they are of. Others are no Go files.
func (c *contents) clauses(files []entry) (byPackage map[string][]entry, others []entry, err error) {
	byPackage = map[string][]entry{}
	sources := map[string]bool{}
	for _, e := range files {
		if !isGo(e.path) {
			others = append(others, e)
			continue
		}
		head, err := c.load(e, maxClause)
		if err != nil {
			return nil, nil, err
		}
		pkg := cmp.Or(clauseOf(head), path.Base(e.path[:len(e.path)-len(".go")]))
		if slices.Contains(c.packages, pkg) {
			byPackage[pkg] = append(byPackage[pkg], e)
			sources[pkg] = sources[pkg] || isSource(e.path)
		}
	}
	for pkg := range byPackage {
		if !sources[pkg] {
			delete(byPackage, pkg)
		}
	}
	return byPackage, others, nil
}

// choose takes the candidate that is meant, if that can be told.
func (c *contents) choose(pkg string, options []candidate) (exercise, bool) {
	options = c.latest(pkg, options)
	if len(options) == 0 {
		return exercise{}, false
	}
	slices.SortFunc(options, func(a, b candidate) int { return cmp.Or(a.compare(b), cmp.Compare(a.dir, b.dir)) })
	var rest []string
	for _, o := range options[1:] {
		rest = append(rest, o.dir)
	}
	if len(options) > 1 && options[0].compare(options[1]) == 0 {
		c.unsure(pkg, options, "it cannot be told which folder is meant")
		c.lose("%s was not graded, because it cannot be told which folder is meant: %s or %s. Hand in one.",
			pkg, show(options[0].dir), show(options[1].dir))
		return exercise{}, false
	}
	x := exercise{pkg: pkg, dir: options[0].dir}
	if len(rest) > 0 {
		c.notes.addf("%s is graded as it is in %s; it was also found in %s, which was left aside.", pkg, place(x.dir),
			listed(rest))
	}
	for _, o := range options[1:] {
		for _, e := range o.files {
			c.ledger.leave(e, fmt.Sprintf("%s is graded as it is in %s", pkg, place(x.dir)))
		}
	}
	names := map[string]string{}
	files := slices.SortedFunc(slices.Values(options[0].files), func(a, b entry) int {
		return cmp.Compare(a.path,
			b.path)
	})
	for _, e := range files {
		name := portable(path.Base(e.path))
		if isGo(name) {
			name = name[:len(name)-len(".go")] + ".go" // whatever a system has made of it
		}
		other, taken := names[fold(name)]
		switch {
		case taken && path.Ext(name) != ".go":
			c.notes.add(extra, e.path)
			continue
		case taken:
			c.unsure(pkg, options[:1], "two files cannot be told apart")
			c.lose("%s was not graded, because two of its files cannot be told apart on every system: %s and %s. Rename one.",
				pkg, show(other), show(path.Base(e.path)))
			return exercise{}, false
		}
		names[fold(name)] = path.Base(e.path)
		x.files = append(x.files, file{name, e})
	}
	slices.SortFunc(x.files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	if said := redeclared(pkg, x.files); said != "" {
		c.lose("%s", said)
	}
	return x, true
}

// version is how Microsoft Teams names what was handed in at one time: "Submitted files", the student, the assignment,
// "Version 2".
//
// Source: the README.md files of lwchkg/teams_assignment_explorer and
// rtotheb2000/Microsoft-Teams-Retrieve-Assignments-Hand-In.
var version = regexp.MustCompile(`^(?i:version) (\d{1,6})$`)

// latest leaves earlier versions of a folder aside.
func (c *contents) latest(pkg string, options []candidate) []candidate {
	split := func(dir string) (of string, n int) {
		parts := strings.Split(dir, "/")
		for i, part := range parts {
			if m := version.FindStringSubmatch(part); m != nil {
				n, _ = strconv.Atoi(m[1])
				parts[i] = ""
				return strings.Join(parts, "/"), n
			}
		}
		return dir, 0
	}
	newest := map[string]int{}
	for _, o := range options {
		of, n := split(o.dir)
		newest[of] = max(newest[of], n)
	}
	return slices.DeleteFunc(options, func(o candidate) bool {
		of, n := split(o.dir)
		if n == newest[of] {
			return false
		}
		c.notes.addf("%s is graded as it is in version %d; left aside: %s.", pkg, newest[of], show(o.dir))
		for _, e := range o.files {
			c.ledger.leave(e, "a later version counts")
		}
		return true
	})
}

// unsure leaves the files of candidates aside, because it cannot be told what is meant.
func (c *contents) unsure(pkg string, options []candidate, why string) {
	c.unclear[pkg] = true
	for _, o := range options {
		for _, e := range o.files {
			c.ledger.leave(e, why)
		}
	}
}

func place(dir string) string {
	if dir == "." {
		return "the outermost folder"
	}
	return show(dir)
}

// noteExtras names what belongs to no exercise. A course has many such files, which are not the student's.
func (c *contents) noteExtras(folders map[string][]entry, courses map[string]bool, considered map[string]bool,
	found []exercise) {
	for dir, files := range folders {
		ofCourse := courses["."]
		for d := dir; d != "."; d = path.Dir(d) {
			ofCourse = ofCourse || courses[d]
		}
		below := slices.ContainsFunc(found, func(x exercise) bool { return strings.HasPrefix(dir, x.dir+"/") })
		if ofCourse && !below {
			continue
		}
		for _, e := range files {
			if !considered[e.path] {
				c.notes.add(extra, e.path)
			}
		}
	}
}

// copy writes exercises to a folder of their own. Its error is a fault, or one of this machine.
func (c *contents) copy(exercises []exercise, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for _, x := range exercises {
		to := filepath.Join(dir, x.pkg)
		if err := os.Mkdir(to, 0o700); err != nil {
			return err
		}
		goFiles, others := allowance{files: maxFiles + 1}, allowance{files: maxFiles}
		for _, f := range x.files {
			a := &others
			if isGo(f.name) {
				a = &goFiles
			}
			if a.files == 0 || a.size > maxSize {
				c.notes.add(overBounds, f.path)
				c.ledger.leave(f.entry, "an exercise may have no more or larger files")
				continue
			}
			text, err := c.load(f.entry, maxFileSize+1)
			if err != nil {
				return err
			}
			c.ledger[f.entry.from] = File{Path: f.entry.from, Exercise: x.pkg}
			a.files--
			a.size += len(text)
			if err := os.WriteFile(filepath.Join(to, f.name), text, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// allowance is what an exercise may still bring.
type allowance struct {
	files int
	size  int // bytes so far
}
