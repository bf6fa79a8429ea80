package intake

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// unit is what makes one submission, before it has been looked into.
type unit struct {
	name      string // to make the ID of
	from      string // what it is called in SUBMISSIONS
	id        string
	people    []Person
	moment    Moment
	notes     []string
	attention []string
	aside     []File
	entry     entry   // an archive, or what takes its place and cannot be used
	inside    listing // of a folder; nil for an entry
	folder    bool
}

// students makes units of the children of a folder.
type students struct {
	*sorter
	sorted
	section string
	prefix  string    // that GitHub Classroom puts before the names of all
	export  *platform // nil where the names are nobody's
	flatly  bool
	byKey   map[string]*unit
	pieces  map[*unit][]piece
	stray   []string
}

// piece is one file, archive or folder of a student whose things lie beside those of others.
type piece struct {
	label
	kid *child
}

// class makes units of what the students have handed in: of every folder and archive, and of what their names put
// together.
func (s *sorter) class(l listing, kids []*child, name, section string) (sorted, error) {
	if section == "" && !s.export(kids) {
		if all, ok, err := s.sections(kids); ok || err != nil {
			return all, err
		}
	}
	c := &students{sorter: s, section: section, export: platformOf(kids), flatly: s.flat(kids), byKey: map[string]*unit{},
		pieces: map[*unit][]piece{}}
	c.form = "a folder or an archive for each student"
	for _, e := range l {
		if e.path == "" && e.fault != "" {
			c.notes = append(c.notes, string(e.fault))
			c.attention = append(c.attention, string(e.fault))
		}
	}
	if assignment, ok := strings.CutSuffix(name, "-submissions"); ok {
		c.prefix = assignment + "-" // as `gh classroom clone student-repos` makes folders
	}
	metadata := c.metadata(kids)
	for _, k := range kids {
		switch {
		case isMetadata(k):
			c.aside = append(c.aside, k.notGraded("it is the platform's, not a student's")...)
		case c.labelled(k):
		default:
			c.own(k, metadata)
		}
	}
	for _, u := range c.units {
		c.settle(u)
	}
	c.usernames()
	metadata.missing(c)
	if len(c.stray) > 0 {
		c.notes = append(c.notes, "Left aside, because a submission is a folder or an archive: "+listed(c.stray)+".")
	}
	return c.sorted, nil
}

// join puts what another unit of the same student holds into this one, below a folder.
func (u *unit) join(other *unit, dir string) {
	if !other.folder {
		other.entry.path = path.Base(other.entry.from)
		other.inside, other.folder = listing{other.entry}, true
	}
	u.inside = append(u.inside, other.inside.under(dir)...)
	u.notes, u.attention, u.aside = append(u.notes, other.notes...), append(u.attention, other.attention...),
		append(u.aside, other.aside...)
}

// own makes a unit of a child that is one student's as a whole.
func (c *students) own(k *child, metadata *metadata) {
	u := &unit{name: k.name, from: k.name, folder: k.folder, inside: k.inside, entry: k.entry}
	switch {
	case k.folder:
		if login, ok := strings.CutPrefix(k.name, c.prefix); ok && c.prefix != "" && login != "" {
			u.name, u.people = login, []Person{{Login: login}}
			c.form = "repositories of GitHub Classroom"
		}
		if same := c.byKey["flat "+k.name]; c.flatly && same != nil {
			c.pieces[same] = append(c.pieces[same], piece{label{}, k})
			return
		}
	case k.entry.kind == special || isArchive(k.name) || unreadableArchive(k.name) != "":
		u.inside = nil
		u.name = trimArchive(k.name)
		u.name = strings.TrimSuffix(u.name, unreadableArchive(u.name))
	default:
		c.stray = append(c.stray, k.name)
		for _, f := range k.notGraded("it lies beside the students' folders and archives, and its name does not say " +
			"whose it is") {
			c.aside = append(c.aside, f)
			c.attention = append(c.attention,
				fmt.Sprintf("%s lies beside the students' folders and archives, and its name does not say whose it is.",
					show(f.Path)))
		}
		return
	}
	if hidden(k.name) {
		u.attention = append(u.attention, fmt.Sprintf("%s begins with a dot, as folders do that programs make for "+
			"themselves. If it is no student's, remove it.", show(k.name)))
	}
	metadata.tell(u)
	c.byKey["flat "+k.name] = u
	c.units = append(c.units, u)
}

// labelled puts a child to what else its name says is the same student's.
func (c *students) labelled(k *child) bool {
	var l label
	ok := false
	if c.export != nil {
		l, ok = c.export.of(k)
	}
	if ok {
		c.form = c.export.form
	}
	if !ok && c.flatly {
		var student string
		student, _, ok = c.flatName(k)
		c.form = "files named after a student and an exercise"
		l = label{key: "flat " + student, name: student, file: strings.TrimLeft(strings.TrimPrefix(k.name, student), "_- ")}
	}
	if !ok {
		return false
	}
	u := c.byKey[l.key]
	if u == nil {
		u = &unit{name: l.name, from: l.name, folder: true}
		if l.person != (Person{}) {
			u.people = []Person{l.person}
		}
		c.byKey[l.key] = u
		c.units = append(c.units, u)
	} else if pieces := c.pieces[u]; len(pieces) == 0 { // a folder of that name
		c.pieces[u] = append(pieces, piece{label{}, &child{name: u.name, folder: u.folder, inside: u.inside, entry: u.entry}})
		u.folder = true
	}
	c.pieces[u] = append(c.pieces[u], piece{l, k})
	return true
}

// settle chooses which of a student's pieces count, and puts them together.
func (c *students) settle(u *unit) {
	pieces := c.pieces[u]
	if len(pieces) == 0 {
		return
	}
	u.inside = nil
	count := c.attempts(u, pieces)
	taken := map[string]bool{}
	for _, p := range pieces {
		u.moment.Late = u.moment.Late || count[p.kid] && p.late
		switch {
		case p.file == blackboardSummary:
			c.readSummary(u, p)
			u.aside = append(u.aside, p.kid.notGraded("")...)
			continue
		case !count[p.kid]:
			u.aside = append(u.aside, p.kid.notGraded("another attempt counts")...)
			continue
		}
		to := cmp.Or(p.file, "")
		if taken[to] && !p.kid.folder {
			to = p.kid.name
		}
		taken[to] = true
		if !p.kid.folder {
			p.kid.entry.path = cmp.Or(to, p.kid.name)
			u.inside = append(u.inside, p.kid.entry)
			continue
		}
		for _, e := range p.kid.inside {
			e.path = strings.Trim(path.Join(to, e.path), "/")
			u.inside = append(u.inside, e)
		}
	}
	switch by, _, _ := strings.Cut(pieces[0].key, " "); {
	case by == "sakai":
		c.sakaiFolder(u)
	case by == "ilias" && len(u.people) == 0:
		u.people = iliasMembers(u.inside)
	}
}

// attempts are the pieces that count: those of the last attempt, and of files that were handed in again under numbered
// names the last. What only another attempt holds is for a person to see.
func (c *students) attempts(u *unit, pieces []piece) map[*child]bool {
	counts, of := c.lastAttempt(pieces)
	u.moment.Time, u.moment.Attempt, u.moment.Of = counts.time, counts.number, counts.number
	if len(of) > 1 {
		u.notes = append(u.notes, u.moment.amongst(counts, of))
	}
	last := counts.attempt
	replaced := c.replaced(u, slices.DeleteFunc(slices.Clone(pieces), func(p piece) bool { return p.attempt != last }))
	count := map[*child]bool{}
	var earlier, again []string
	for _, p := range pieces {
		switch {
		case p.attempt != last:
			if p.file != blackboardSummary && p.kid.mayHold() {
				earlier = append(earlier, p.kid.name)
			}
		case replaced[p.kid]:
			again = append(again, p.kid.name)
		default:
			count[p.kid] = true
		}
	}
	dates := map[string]bool{}
	for _, p := range pieces {
		dates[p.undated] = true
	}
	if undated := pieces[0].undated; len(dates) == 1 && undated != "" {
		u.notes = append(u.notes, fmt.Sprintf("When it was handed in is not known: the date %s in its name cannot be read.",
			show(undated)))
	}
	if len(dates) > 1 {
		u.attention = append(u.attention, fmt.Sprintf("When %s came cannot be read from its name, so that attempts cannot "+
			"be "+
			"told apart: what they hold is taken together. Leave in what counts.", show(pieces[0].kid.name)))
	}
	if len(again) > 0 {
		u.notes = append(u.notes, "Handed in again under a numbered name, and the last counts; left aside: "+listed(again)+
			".")
	}
	only := c.onlyEarlier(pieces, count)
	if len(earlier) > 0 {
		u.notes = append(u.notes, "Left aside, because they are of other attempts: "+listed(earlier)+".")
	}
	if len(only) > 0 {
		u.attention = append(u.attention, fmt.Sprintf("The attempt that counts lacks %s, which another one holds. If that "+
			"one "+
			"is meant, remove the one that counts.", strings.Join(only, ", ")))
	}
	return count
}

// lastAttempt is the attempt that counts, by one of its pieces, and all that there are, in order: the last, or where
// some may count and some came too late, the last that may.
func (c *students) lastAttempt(pieces []piece) (counts label, all []string) {
	late := func(p piece) bool { return p.time != "" && c.counts != nil && !c.counts(p.goesBy(), p.time) }
	someInTime := slices.ContainsFunc(pieces, func(p piece) bool { return p.time != "" && !late(p) })
	for _, p := range pieces {
		if p.attempt == "" {
			continue
		}
		all = append(all, p.attempt)
		if p.attempt > counts.attempt && !(someInTime && late(p)) {
			counts = p.label
		}
	}
	slices.Sort(all)
	return counts, slices.Compact(all)
}

// amongst counts an attempt among all that there are, as the platform does or as they were exported, and says so.
func (m *Moment) amongst(counts label, all []string) string {
	before := 1 + slices.Index(all, counts.attempt)
	m.Attempt = max(counts.number, before) // where the platform counts, some may not have been exported
	m.Of = m.Attempt + len(all) - before
	when, which := "", "the last"
	if m.Time != "" {
		when = ", of " + strings.Replace(m.Time, "T", " ", 1)
	}
	if before < len(all) {
		which = "the last before the deadline"
	}
	return fmt.Sprintf("Attempt %d of %d counts, %s%s.", m.Attempt, m.Of, which, when)
}

// replaced are the pieces that were handed in again under a numbered name. Files with numbers that declare nothing that
// the others do are parts of one program, and all count.
func (c *students) replaced(u *unit, pieces []piece) map[*child]bool {
	series := map[string][]piece{}
	for _, p := range pieces {
		if !p.kid.folder && p.file != "" {
			first, _ := numbered(p.file)
			series[first] = append(series[first], p)
		}
	}
	replaced := map[*child]bool{}
	for _, first := range slices.Sorted(maps.Keys(series)) {
		all := series[first]
		slices.SortStableFunc(all, func(a, b piece) int {
			_, n := numbered(a.file)
			_, m := numbered(b.file)
			return cmp.Compare(n, m)
		})
		parts, sure := partsOfOne(all)
		if parts {
			continue
		}
		for _, p := range all[:len(all)-1] {
			replaced[p.kid] = true
		}
		_, n := numbered(all[0].file)
		switch last := all[len(all)-1].file; {
		case len(all) == 1:
		case !sure:
			u.attention = append(u.attention, fmt.Sprintf("It cannot be told whether %s and %s are two versions or two parts "+
				"of one program: %[2]s alone counts.", show(all[0].file), show(last)))
		case n > 0:
			u.attention = append(u.attention, fmt.Sprintf("%s and %s declare the same, and there is no %s: they are taken for "+
				"versions, and %[2]s counts.", show(all[0].file), show(last), show(first)))
		}
	}
	return replaced
}

// partsOfOne reports whether files whose names differ by a number declare nothing twice. It is sure where all are read
// as Go, or none is Go.
func partsOfOne(all []piece) (parts, sure bool) {
	if !isGo(all[0].file) {
		return false, true
	}
	for i, p := range all {
		for _, q := range all[:i] {
			a, b := p.kid.entry, q.kid.entry
			a.path, b.path = p.file, q.file
			names, ok := shares(a, b)
			if !ok || len(names) > 0 {
				return false, ok
			}
		}
	}
	return len(all) > 1, true
}

// onlyEarlier are the exercises that pieces hold which do not count, and none that does.
func (c *students) onlyEarlier(pieces []piece, count map[*child]bool) []string {
	if len(count) == len(pieces) {
		return nil
	}
	had, has := map[string]bool{}, map[string]bool{}
	mark := c.spool.size
	for _, p := range pieces {
		l := p.kid.inside
		if !p.kid.folder {
			l = listing{p.kid.entry}
		}
		held, err := c.held(l, 0)
		if err != nil {
			continue
		}
		for pkg := range held {
			had[pkg] = had[pkg] || !count[p.kid]
			has[pkg] = has[pkg] || count[p.kid]
		}
	}
	_ = c.spool.cut(mark)
	var only []string
	for _, pkg := range c.packages {
		if had[pkg] && !has[pkg] {
			only = append(only, pkg)
		}
	}
	return only
}

// readSummary takes who has made an attempt from the text that Blackboard writes about it.
func (c *students) readSummary(u *unit, p piece) {
	const enough = 64 << 10 // bytes
	if p.kid.entry.load == nil {
		return
	}
	text, err := p.kid.entry.load(enough)
	if err != nil {
		return
	}
	if who, ok := summary(text); ok {
		u.people = []Person{who}
	}
}

// usernames gives Blackboard's students their names, which stand behind those of the course and the assignment.
func (c *students) usernames() {
	var before []string
	for key := range c.byKey {
		if name, ok := strings.CutPrefix(key, "blackboard "); ok {
			before = append(before, name)
		}
	}
	if len(before) == 0 {
		return
	}
	slices.Sort(before)
	names := usernames(before)
	for _, b := range before {
		u := c.byKey["blackboard "+b]
		if len(u.people) == 1 && u.people[0].Login != "" && strings.HasSuffix(b, u.people[0].Login) {
			u.name = u.people[0].Login
			continue
		}
		u.name = names[b]
		u.people = []Person{{Login: u.name}}
	}
}

// notGraded are the files of a child that somebody may look for among the graded ones, all with one reason.
func (k *child) notGraded(why string) []File {
	l := k.inside
	if !k.folder {
		l = listing{k.entry}
	}
	return l.files(why)
}
