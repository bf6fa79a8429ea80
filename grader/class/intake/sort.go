package intake

import (
	"bytes"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"unicode"
)

// sorter finds where in SUBMISSIONS the students are.
type sorter struct {
	packages []string
	spool    *spool
	counts   func(who []string, at string) bool // see Options
}

// sorted is what SUBMISSIONS turns out to hold.
type sorted struct {
	units     []*unit
	notes     []string
	attention []string
	aside     []File
	form      string // what it was taken for, to follow "Read as "
}

// sort finds the submissions in a source. It descends through folders and archives that do nothing but wrap a class.
func (s *sorter) sort(src *source) (found sorted, err error) {
	l, name := src.list, src.name
	var drafts []File
	defer func() { found.aside = append(found.aside, drafts...) }()
	for {
		kids := l.children()
		if handedIn, rest := teams(kids); handedIn != nil {
			for _, k := range rest {
				drafts = append(drafts, k.notGraded("only what is in \"Submitted files\" has been handed in")...)
			}
			l, name = handedIn.inside, handedIn.name
			continue
		}
		wrapped := len(kids) == 1 && kids[0].holds()
		if s.export(kids) {
			return s.class(l, kids, name, "")
		}
		if one, err := s.single(l, kids); err != nil {
			return sorted{}, err
		} else if one {
			return alone(name, l), nil
		}
		if wrapped {
			class, err := s.holdsClass(kids[0])
			if err != nil {
				return sorted{}, err
			}
			if class {
				name = trimArchive(kids[0].name)
				l = kids[0].inside
				continue
			}
		}
		if src.archive && (wrapped && kids[0].folder || len(kids) == 0 && len(l) > 0) {
			// What is in a student's archive is often in a folder there.
			return alone(name, l), nil
		}
		return s.class(l, kids, name, "")
	}
}

// teams finds the folder with what was handed in, in the library "Student Work" of a class of Microsoft Teams, which
// also has what students are still working at.
func teams(kids []*child) (handedIn *child, rest []*child) {
	for _, k := range kids {
		if k.folder && strings.EqualFold(k.name, "Submitted files") {
			handedIn = k
		} else {
			rest = append(rest, k)
		}
	}
	return handedIn, rest
}

func alone(name string, l listing) sorted {
	u := &unit{name: name, from: name, inside: l, folder: true}
	return sorted{units: []*unit{u}, form: "one submission"}
}

// open looks into a child, be it an archive, and keeps what is there as its inside. What cannot be opened holds nothing
// that could tell anything; its own submission says why. The error is one of this machine.
func (s *sorter) open(c *child, b bounds) error {
	if c.folder || c.opened || !isArchive(c.name) || c.entry.load == nil {
		return nil
	}
	c.opened = true
	r, size, done, err := c.entry.reader()
	if err != nil {
		return machine(err)
	}
	l, err := listArchive(r, size, c.name, b, s.spool)
	if err := machine(err); err != nil {
		return err
	}
	if err != nil {
		done()
		return nil
	}
	c.done = done
	s.spool.closers = append(s.spool.closers, done)
	c.inside = l.within(c.entry.from)
	return nil
}

// close forgets what archives hold that were only looked into, up to a size of the spool.
func (s *sorter) close(kids []*child, size int64) error {
	for _, c := range kids {
		c.shut()
	}
	return s.spool.cut(size)
}

// shut closes an archive that was looked into.
func (c *child) shut() {
	if c.done != nil {
		c.done()
	}
	if c.opened {
		c.opened, c.inside, c.done = false, nil, nil
	}
}

// holdsClass reports whether a class is in a child, be it within folders and archives that only wrap it.
func (s *sorter) holdsClass(c *child) (bool, error) {
	if err := s.open(c, nestedClassBounds); err != nil {
		return false, err
	}
	below := c.inside.children()
	if s.export(below) {
		return true, nil
	}
	if one, err := s.single(c.inside, below); one || err != nil {
		return false, err
	}
	if len(below) == 1 && below[0].holds() {
		return s.holdsClass(below[0])
	}
	if shared, err := s.shared(below); shared || err != nil || s.flat(below) {
		return err == nil, err
	}
	return s.byExercise(below)
}

// draft reports whether a name is one that people give to versions of their own work, rather than a student's: "old",
// "Slab v2".
func (s *sorter) draft(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(trimArchive(name)), func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	})
	for _, word := range words {
		switch stem := strings.TrimRight(word, "0123456789"); {
		case stem == "" && len(word) <= 2, slices.Contains(draftWords, stem), packageNamed(s.packages, word) != "":
		default:
			return false
		}
	}
	return true
}

var draftWords = strings.Fields("my the first second third last latest old older new newer final finished draft " +
	"backup copy current working fixed version ver v rev try attempt submission resubmission part week day lab hw " +
	"homework assignment src code project test tmp temp archive of")

// byExercise reports whether kids are folders or archives of exercises with students in them, rather than the exercises
// of one.
func (s *sorter) byExercise(kids []*child) (bool, error) {
	found := false
	for _, k := range kids {
		switch {
		case !k.holds():
			continue
		case packageNamed(s.packages, trimArchive(k.name)) == "" || goFile(k.inside, "."):
			return false, nil
		case found:
			continue
		}
		class, err := s.holdsClass(k)
		if err != nil {
			return false, err
		}
		found = class
	}
	return found, nil
}

// export reports whether this is what a platform hands out.
func (s *sorter) export(kids []*child) bool {
	return slices.ContainsFunc(kids, isMetadata) || platformOf(kids) != nil
}

// single reports whether a folder is one submission, rather than a folder of them.
func (s *sorter) single(l listing, kids []*child) (bool, error) {
	exercise := func(c *child) (pkg string) {
		if c.folder {
			pkg = packageNamed(s.packages, c.name)
		}
		return pkg
	}
	for _, c := range kids {
		if c.folder && strings.EqualFold(c.name, exercisesFolder) && goFile(c.inside, "") {
			return true, nil
		}
	}
	// A student may be called like an exercise.
	shared, err := s.shared(kids)
	if err != nil || shared || s.flat(kids) {
		return false, err
	}
	return goFile(l, ".") || slices.ContainsFunc(l, func(e entry) bool { return e.path == gitFolder }) ||
		slices.ContainsFunc(kids, func(c *child) bool { return exercise(c) != "" && goFile(c.inside, ".") }), nil
}

// shared reports whether two kids hold the same exercise: then they are two students'. What is named as an exercise is
// none's, and what is named as a version is no further student's.
func (s *sorter) shared(kids []*child) (bool, error) {
	holder := map[string]bool{}
	mark := s.spool.size
	defer s.close(kids, mark)
	for _, c := range kids {
		if !c.holds() || hidden(c.name) || s.draft(c.name) {
			continue
		}
		if err := s.open(c, submissionBounds); err != nil {
			return false, err
		}
		held, err := s.held(c.inside, 1)
		if err != nil {
			return false, err
		}
		for pkg := range held {
			if holder[pkg] {
				return true, nil
			}
			holder[pkg] = true
		}
		if c.opened {
			if err := s.close([]*child{c}, mark); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// held are the exercises that a listing holds, also within archives, by the names of its files, or where those tell
// nothing by the packages that they say they are of.
func (s *sorter) held(l listing, nesting int) (map[string]bool, error) {
	held := map[string]bool{}
	const most = 200 // files that are opened for it
	var unnamed []entry
	for _, e := range l {
		switch pkg := packageNamed(s.packages, strings.TrimSuffix(path.Base(e.path), ".go")); {
		case e.kind != regular || hidden(e.path):
		case isGo(e.path) && pkg != "":
			held[pkg] = true
		case isGo(e.path) && len(unnamed) < most:
			unnamed = append(unnamed, e)
		case isArchive(e.path) && nesting < maxNesting:
			c := &child{name: path.Base(e.path), entry: e}
			if err := s.open(c, submissionBounds); err != nil {
				return nil, err
			}
			inner, err := s.held(c.inside, nesting+1)
			c.shut()
			if err != nil {
				return nil, err
			}
			for pkg := range inner {
				held[pkg] = true
			}
		}
	}
	if len(held) > 0 {
		return held, nil
	}
	for _, e := range unnamed {
		if pkg := s.clause(e); pkg != "" {
			held[pkg] = true
		}
	}
	return held, nil
}

func (s *sorter) clause(e entry) string {
	head, err := e.load(maxClause)
	if err != nil {
		return ""
	}
	if name := clauseOf(head); slices.Contains(s.packages, name) {
		return name
	}
	return ""
}

// maxClause is how much of a file is read to find its package clause, in bytes: before it are only comments.
const maxClause = 64 << 10

// clauseOf is the package that a file says it is of, without what makes it one of tests; "" where it says none.
func clauseOf(head []byte) string {
	f, err := parser.ParseFile(token.NewFileSet(), "", bytes.TrimPrefix(head, []byte("\uFEFF")), parser.PackageClauseOnly)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(f.Name.Name, "_test")
}

// flat reports whether most files and archives among kids are named STUDENT_exercise, by at least two students, and no
// file is named as an exercise alone, as in one student's folder.
func (s *sorter) flat(kids []*child) bool {
	students := map[string]bool{}
	named, all := 0, 0
	for _, c := range kids {
		if c.folder || !c.mayHold() {
			continue
		}
		all++
		if student, _, ok := s.flatName(c); ok {
			named++
			students[student] = true
		} else if isGo(c.name) && packageNamed(s.packages, strings.TrimSuffix(c.name, ".go")) != "" {
			return false
		}
	}
	return len(students) > 1 && 2*named > all
}

// flatName splits the name of a file, archive or folder that is called STUDENT_exercise, with _, - or a space between
// them.
func (s *sorter) flatName(c *child) (student, pkg string, ok bool) {
	stem := c.name
	switch {
	case c.folder:
	case isArchive(c.name) || unreadableArchive(c.name) != "":
		stem = trimArchive(c.name)
		stem = strings.TrimSuffix(stem, unreadableArchive(stem))
	case isGo(c.name):
		stem = c.name[:len(c.name)-len(".go")]
	default:
		return "", "", false
	}
	stem, _ = numbered(stem)
	// The longest end that is an exercise: "ada_stream_pool" is ada's stream-pool.
	for at, r := range stem {
		if at == 0 || !separates(r) {
			continue
		}
		end := stem[at+1:]
		if end == "" || !unicode.IsLetter([]rune(end)[0]) {
			continue
		}
		if pkg := packageNamed(s.packages, end); pkg != "" {
			if student = strings.TrimRightFunc(stem[:at], separates); student != "" {
				return student, pkg, true
			}
		}
	}
	return "", "", false
}

func separates(r rune) bool { return r == '_' || r == '-' || r == ' ' }

// goFile reports whether there is a .go file in a listing; with dir ".", directly in it.
func goFile(l listing, dir string) bool {
	return slices.ContainsFunc(l, func(e entry) bool {
		return e.kind == regular && isGo(e.path) && (dir == "" || path.Dir(e.path) == dir)
	})
}

// isGo reports whether a file is one of Go's, also where a system has written its name in capitals.
func isGo(name string) bool { return strings.EqualFold(path.Ext(name), ".go") }

// packageNamed is the exercise whose package a name is, however it is written: "slab", "02_Slab", "async-pipeline". ""
// if none.
func packageNamed(packages []string, name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
	name = strings.TrimLeft(name, "0123456789")
	if slices.Contains(packages, name) {
		return name
	}
	return ""
}
