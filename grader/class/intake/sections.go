package intake

import (
	"cmp"
	"fmt"
	"slices"
)

// sections are the students of a class whose folders or archives are those of its sections, or of its exercises, each
// with students in it. It is ok if every one is.
func (s *sorter) sections(kids []*child) (all sorted, ok bool, err error) {
	mark := s.spool.size
	byExercise, err := s.byExercise(kids)
	if err != nil {
		return all, false, err
	}
	holders, doubtful, err := s.holders(kids, byExercise)
	if err != nil {
		return all, false, err
	}
	if len(holders) < 2 {
		return all, false, s.close(kids, mark)
	}
	if len(doubtful) > 0 {
		all.attention = append(all.attention, fmt.Sprintf("Taken for sections with students in them, as others are: %s. If "+
			"one is a student's, put it beside the sections' students.",
			listed(doubtful)))
	}
	named := map[string]*unit{}
	fewest, again := len(s.packages)*maxSubmissions, 0
	all.form = fmt.Sprintf("a class in %d sections", len(holders))
	if byExercise {
		all.form = fmt.Sprintf("a folder for each of %d exercises, with the students in them", len(holders))
	}
	for _, k := range holders {
		found, err := s.section(k)
		if err != nil {
			return all, false, err
		}
		all.notes, all.attention, all.aside = append(all.notes, found.notes...), append(all.attention, found.attention...),
			append(all.aside, found.aside...)
		for _, u := range found.units {
			first := named[u.name]
			switch {
			case !byExercise:
				all.units = append(all.units, u)
				if first != nil {
					again++
				}
			case first == nil:
				first = &unit{name: u.name, from: u.name, folder: true, people: u.people, moment: u.moment}
				all.units = append(all.units, first)
				fallthrough
			default:
				first.join(u, k.name)
			}
			named[u.name] = cmp.Or(first, u)
		}
		fewest = min(fewest, len(found.units))
	}
	if 2*again > fewest {
		// The same names below several: those are no sections, but students with parts of their work.
		return sorted{}, false, s.close(kids, mark)
	}
	for _, k := range kids {
		if !k.holds() {
			all.aside = append(all.aside, k.notGraded("it is no student's folder or archive")...)
		}
	}
	return all, true, nil
}

// holders are the kids that hold students: every one that holds anything, or none. Of the doubtful it cannot be told
// for sure, as of a section with one student.
func (s *sorter) holders(kids []*child, byExercise bool) (holders []*child, doubtful []string, err error) {
	for _, k := range kids {
		if !k.holds() {
			continue
		}
		holders = append(holders, k)
		if byExercise {
			if err := s.open(k, nestedClassBounds); err != nil {
				return nil, nil, err
			}
			continue
		}
		class, err := s.holdsClass(k)
		if err != nil {
			return nil, nil, err
		}
		if class {
			continue
		}
		doubtful = append(doubtful, k.name)
		below := k.inside.children()
		own := slices.ContainsFunc(below, func(c *child) bool { return !c.folder || packageNamed(s.packages, c.name) != "" })
		if one, err := s.single(k.inside, below); one || own || err != nil || len(doubtful) > len(kids)/2 {
			return nil, nil, err
		}
	}
	return holders, doubtful, nil
}

// section sorts what is in one section.
func (s *sorter) section(k *child) (sorted, error) {
	l := k.inside
	kids := l.children()
	for len(kids) == 1 && kids[0].holds() && !s.export(kids) {
		class, err := s.holdsClass(kids[0])
		if err != nil {
			return sorted{}, err
		}
		if !class {
			break
		}
		l = kids[0].inside
		kids = l.children()
	}
	found, err := s.class(l, kids, k.name, trimArchive(k.name))
	for _, u := range found.units {
		u.from = k.name + "/" + u.from
		if packageNamed(s.packages, trimArchive(k.name)) != "" {
			continue
		}
		if len(u.people) == 0 {
			u.people = []Person{{}}
		}
		for i := range u.people {
			u.people[i].Section = trimArchive(k.name)
		}
	}
	return found, err
}
