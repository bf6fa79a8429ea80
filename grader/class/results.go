package class

import (
	"maps"
	"slices"
)

// keep writes a result where nothing can take it away. A grade is not lost to a failure to grade the same files again.
func (g *grading) keep(r settled) error {
	old := g.results[r.student.ID]
	if r.student.Status == Errored && old.Status == Graded && old.Digest == r.student.Digest {
		g.say("%s keeps the earlier result. %s", old.ID, r.student.Problem)
		return nil
	}
	if old.Status == Graded {
		g.say("%s", regraded(old, r.student))
	}
	if err := g.folder.timings(r.timings); err != nil {
		return err
	}
	if err := g.journal.settle(r.student); err != nil {
		return err
	}
	if old.ID != "" {
		g.earlier[old.ID] = append(g.earlier[old.ID], old)
	}
	g.results[r.student.ID] = r.student
	return g.folder.student(g.grader().student(g.arrivals.identify(r.student)))
}

// class is what is known so far, in order.
func (g *grading) class() *Class {
	c := assemble(g.header, g.results, g.arrivals)
	g.grader().class(c)
	return c
}

func assemble(h Header, results map[string]Student, a *arrivals) *Class {
	c := &Class{Schema: SchemaVersion, Seed: h.Seed, Device: h.Device, Versions: h.Versions, Exercises: h.Exercises,
		Students: []Student{}}
	for _, id := range slices.Sorted(maps.Keys(results)) {
		c.Students = append(c.Students, a.identify(results[id]))
	}
	if a != nil {
		c.Attention, c.Absent = append(slices.Clone(a.Attention), a.withdrawn(results)...), a.Absent
	}
	return c
}

func (g *grading) grader() grader {
	return grader{g.rules, g.folder.dir, g.header.Exercises, g.earlier}
}
