package class

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
)

// Merge puts the results of shards, each graded into a folder of its own, together in another folder, which must be
// empty. They must have been graded alike. Where a student is in two of them with a grade, both must say the same; a
// grade goes before none. Of the options only Policy, Say and Writers are used.
func Merge(from []string, to string, o Options) (*Class, error) {
	merged := &merging{results: map[string]Student{}, earlier: map[string][]Student{}, found: map[string]string{}}
	for _, dir := range from {
		if err := merged.add(dir); err != nil {
			return nil, err
		}
	}
	rules, err := readPolicy(o.Policy, merged.header.Exercises)
	if err != nil {
		return nil, err
	}
	f, err := openFolder(to, false)
	if err != nil {
		return nil, err
	}
	defer f.close()
	if err := f.begin(); err != nil {
		return nil, err
	}
	if err := merged.copies(f); err != nil {
		return nil, err
	}
	j, _, err := openJournal(f.dir)
	if err != nil {
		return nil, err
	}
	defer j.close()
	for _, missing := range merged.missing() {
		o.say("The results of shard %s are not among them.", missing)
	}
	h := *merged.header
	h.Shard, h.Submissions = Shard{}, ""
	if err := j.begin(h); err != nil {
		return nil, err
	}
	if merged.arrivals != nil {
		if err := j.receive(merged.arrivals); err != nil {
			return nil, err
		}
	}
	class := assemble(h, merged.results, merged.arrivals)
	for _, s := range class.Students {
		for _, result := range append(merged.earlier[s.ID], s) {
			if err := j.settle(result); err != nil {
				return nil, err
			}
		}
	}
	grader{rules, to, h.Exercises, merged.earlier}.class(class)
	return class, f.class(class, o.Writers)
}

// merging is what has been read so far.
type merging struct {
	header   *Header // the first folder's
	first    string
	shards   []Shard
	results  map[string]Student
	earlier  map[string][]Student
	arrivals *arrivals         // nil where no folder tells
	found    map[string]string // in which folder
}

func (m *merging) add(dir string) error {
	state, err := readFolder(dir)
	if err != nil {
		return err
	}
	m.shards = append(m.shards, state.header.Shard)
	if m.header == nil {
		m.header, m.first = state.header, dir
	}
	switch {
	case m.arrivals == nil:
		m.arrivals = state.arrivals
	case state.arrivals != nil:
		m.arrivals.add(state.arrivals)
	}
	h := *state.header
	h.Shard = m.header.Shard
	if err := h.fits(*m.header); err != nil {
		return usagef("The results in %s and %s do not belong together: as for those in the first, %v.", m.first, dir, err)
	}
	for id, results := range state.earlier {
		m.earlier[id] = append(m.earlier[id], results...)
	}
	for _, id := range slices.Sorted(maps.Keys(state.results)) {
		s := state.results[id]
		old, known := m.results[id]
		switch {
		case known && s.Status != Graded:
			continue
		case known && old.Status == Graded && !reflect.DeepEqual(old, s):
			return usagef("%s has different results in %s and %s: leave one of them out.", id, m.found[id], dir)
		}
		m.results[id], m.found[id] = s, dir
	}
	return nil
}

// missing are the shards that nobody has named.
func (m *merging) missing() []string {
	var missing []string
	for i := range m.header.Shard.Of {
		if s := (Shard{i + 1, m.header.Shard.Of}); !slices.Contains(m.shards, s) {
			missing = append(missing, fmt.Sprintf("%d/%d", s.Index, s.Of))
		}
	}
	return missing
}

// copies takes over the timings and the page of every result; where they are lost the result is not.
func (m *merging) copies(to *folder) error {
	for id, dir := range m.found {
		for _, name := range []string{filepath.Join(timingsDir, id+".json"), filepath.Join(studentsDir, id+".html")} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err == nil {
				err = WriteFile(filepath.Join(to.dir, name), text)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
