package intake

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// unit is what makes one submission, before it has been looked into.
type unit struct {
	name   string // to make the ID of
	from   string // what it is called in SUBMISSIONS
	id     string
	notes  []string
	entry  entry   // an archive, or what takes its place and cannot be used
	inside listing // of a folder; nil for an entry
	folder bool
}

// sorted is what SUBMISSIONS turns out to hold.
type sorted struct {
	units []*unit
	notes []string
}

// sorter tells a class from a single submission.
type sorter struct {
	packages []string
}

// moodleName is how Moodle calls the folder, or with folders switched off every file, of a participant.
var moodleName = regexp.MustCompile(`^(.+_\d+)_assignsubmission_(?:file|onlinetext)_(.*)$`)

// gradescopeNames are the files in which a Gradescope export tells who handed in what.
var gradescopeNames = []string{"submission_metadata.yml", "submission_metadata.yaml"}

// sort finds the submissions in a source.
func (s sorter) sort(src *source) sorted {
	l, name := src.list, src.name
	one := func(name string, l listing) sorted {
		return sorted{units: []*unit{{name: name, from: name, inside: l, folder: true}}}
	}
	for {
		kids := l.children()
		wrapped := len(kids) == 1 && kids[0].folder
		switch {
		case s.export(kids):
			return s.class(l, kids)
		case s.single(l, kids):
			return one(name, l)
		case wrapped && s.holdsClass(kids[0]):
			l, name = kids[0].inside, kids[0].name
		case src.archive && (wrapped || len(kids) == 0 && len(l) > 0):
			// What is in a student's archive is often in a folder there.
			return one(name, l)
		default:
			return s.class(l, kids)
		}
	}
}

// holdsClass reports whether a class is in a folder, be it within folders that only wrap it.
func (s sorter) holdsClass(c *child) bool {
	below := c.inside.children()
	switch {
	case s.export(below):
		return true
	case s.single(c.inside, below):
		return false
	case len(below) == 1 && below[0].folder:
		return s.holdsClass(below[0])
	}
	return s.shared(below)
}

// export reports whether this is what Gradescope or Moodle hands out.
func (s sorter) export(kids []*child) bool {
	return slices.ContainsFunc(kids, func(c *child) bool {
		return moodleName.MatchString(c.name) || !c.folder && slices.Contains(gradescopeNames, c.name)
	})
}

// single reports whether a folder is one submission, rather than a folder of them.
func (s sorter) single(l listing, kids []*child) bool {
	for _, c := range kids {
		switch pkg := s.pkg(c.name); {
		case !c.folder:
		case strings.EqualFold(c.name, exercisesFolder) && s.goFile(c.inside, ""):
			return true
		case pkg != "" && slices.ContainsFunc(c.inside, func(e entry) bool { return e.path == pkg+".go" }):
			return true
		}
	}
	if s.shared(kids) {
		return false
	}
	return s.goFile(l, ".") || slices.ContainsFunc(l, func(e entry) bool { return e.path == gitFolder }) ||
		slices.ContainsFunc(kids, func(c *child) bool { return c.folder && s.pkg(c.name) != "" && s.goFile(c.inside, ".") })
}

// shared reports whether several entries hold the same exercise, or may: then they are several students'.
func (s sorter) shared(kids []*child) bool {
	archives := 0
	holders := map[string]bool{}
	for _, c := range kids {
		switch {
		case s.pkg(trimArchive(c.name)) != "":
		case !c.folder && isArchive(c.name):
			archives++
		case c.folder:
			held := map[string]bool{}
			for _, e := range c.inside {
				if p := s.pkg(strings.TrimSuffix(path.Base(e.path), ".go")); p != "" && path.Ext(e.path) == ".go" {
					held[p] = true
				}
			}
			for p := range held {
				if holders[p] {
					return true
				}
				holders[p] = true
			}
		}
	}
	return archives > 1
}

// goFile reports whether there is a .go file in a listing; with dir ".", directly in it.
func (s sorter) goFile(l listing, dir string) bool {
	return slices.ContainsFunc(l, func(e entry) bool {
		return e.kind == regular && path.Ext(e.path) == ".go" && (dir == "" || path.Dir(e.path) == dir)
	})
}

// pkg is the exercise whose package a name is, however it is written: "slab", "02_Slab", "async-pipeline". "" if none.
func (s sorter) pkg(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
	name = strings.TrimLeft(name, "0123456789")
	if slices.Contains(s.packages, name) {
		return name
	}
	return ""
}

// class makes a unit of every folder and archive.
func (s sorter) class(l listing, kids []*child) sorted {
	var out sorted
	for _, e := range l {
		if e.path == "" && e.fault != "" {
			out.notes = append(out.notes, string(e.fault))
		}
	}
	names := submitters(kids)
	moodle := map[string]*unit{}
	var stray []string
	for _, c := range kids {
		if m := moodleName.FindStringSubmatch(c.name); m != nil {
			u := moodle[m[1]]
			if u == nil {
				u = &unit{name: m[1], from: m[1], folder: true}
				moodle[m[1]] = u
				out.units = append(out.units, u)
			}
			if c.folder {
				u.inside = append(u.inside, c.inside...)
			} else {
				c.entry.path = cmp.Or(m[2], c.name)
				u.inside = append(u.inside, c.entry)
			}
			continue
		}
		u := &unit{name: c.name, from: c.name, folder: c.folder, inside: c.inside, entry: c.entry}
		switch {
		case c.folder:
		case c.entry.kind == special || isArchive(c.name) || unreadableArchive(c.name) != "":
			u.name = trimArchive(c.name)
			u.name = strings.TrimSuffix(u.name, unreadableArchive(u.name))
		default:
			if !slices.Contains(gradescopeNames, c.name) {
				stray = append(stray, c.name)
			}
			continue
		}
		if who := names[u.name]; who != "" {
			u.name = who + "_" + strings.TrimPrefix(u.name, "submission_")
		}
		out.units = append(out.units, u)
	}
	if len(stray) > 0 {
		out.notes = append(out.notes, "Left aside, because a submission is a folder or an archive: "+listed(stray)+".")
	}
	return out
}
