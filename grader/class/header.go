package class

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"cudalab/grader/suite/verdict"
)

// fits says, if so, why results under one header cannot stand beside those under another.
func (h Header) fits(old Header) error {
	switch {
	case h.Schema != old.Schema:
		return errors.New("another version of cudalab wrote their journal")
	case h.Seed != old.Seed:
		return fmt.Errorf("they were drawn from seed %d, not from %d", old.Seed, h.Seed)
	case h.Versions.Cudalab != old.Versions.Cudalab:
		return fmt.Errorf("another cudalab made them (%s, this is %s)", old.Versions.Cudalab, h.Versions.Cudalab)
	case !reflect.DeepEqual(h.Exercises, old.Exercises):
		return fmt.Errorf("they are of other exercises, or of other weights: %s, not %s", names(old.Exercises),
			names(h.Exercises))
	case h.Versions.Course != old.Versions.Course: // the digest is of those exercises alone
		return fmt.Errorf("the course has changed since (its digest was %s, now it is %s)", old.Versions.Course,
			h.Versions.Course)
	case h.Versions.Go != old.Versions.Go:
		return fmt.Errorf("they were built with %s, not with %s", old.Versions.Go, h.Versions.Go)
	case h.Device.Kind != old.Device.Kind || h.Device.Name != old.Device.Name:
		return fmt.Errorf("they were made on %s (%s), not on %s (%s)", old.Device.Name, old.Device.Kind, h.Device.Name,
			h.Device.Kind)
	case h.Device.Profile != old.Device.Profile:
		return fmt.Errorf("they were made with another profile of the simulated device (%s, now it is %s)",
			profileName(old.Device), profileName(h.Device))
	case h.Shard != old.Shard:
		return fmt.Errorf("they are %s of the class, not %s", old.Shard, h.Shard)
	}
	return nil
}

// profileName is the digest of what a simulated device goes by, in words where it is no file.
func profileName(d verdict.Device) string { return cmp.Or(d.Profile, "the built-in one") }

func (s Shard) String() string {
	if s == (Shard{}) {
		return "all"
	}
	return fmt.Sprintf("shard %d/%d", s.Index, s.Of)
}

func names(es []Exercise) string {
	var all []string
	for _, e := range es {
		all = append(all, e.Name)
	}
	return strings.Join(all, ", ")
}

// exercises are those to grade with what they are worth.
func exercises(o Options) []Exercise {
	var all []Exercise
	for _, e := range o.Exercises {
		ex := Exercise{Name: e.Name, Package: e.Package, Title: e.Title}
		for _, timed := range []bool{false, true} { // as reports have them
			for _, q := range e.Suite.Checks {
				if e.Suite.IsTimed(q.ID) == timed {
					ex.Checks = append(ex.Checks, Check{ID: q.ID, Name: q.Name, MaxPoints: float64(e.Points[q.ID])})
					ex.MaxScore += float64(e.Points[q.ID])
				}
			}
		}
		all = append(all, ex)
	}
	return all
}

func digestOfAll(submissions []submission) string {
	h := sha256.New()
	for _, s := range submissions {
		fmt.Fprintf(h, "%q %s\n", s.ID, s.digest)
	}
	return short(h.Sum(nil))
}
