package calibrate

import (
	"slices"
	"strings"

	"cudalab/native/profile"
	"cudalab/native/sim"
)

// mostRuns is how often all is measured at most, until two runs agree.
const mostRuns = 5

// How far two runs may be apart that agree: by a part of the larger figure, or by so many nanoseconds, since much of
// what is short is a difference of two measured times.
const (
	agreement = 0.25
	slack     = 300
)

// Differ names the constants on which two runs do not agree.
func Differ(a, b *profile.File) (names []string) {
	others := b.Profile.Constants()
	for i, c := range a.Profile.Constants() {
		if !agree(c, others[i].Value) || slices.Contains(a.Kept, c.Name) != slices.Contains(b.Kept, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

func agree(c sim.Constant, other any) bool {
	near := func(a, b int64) bool {
		apart := max(a, b) - min(a, b)
		return float64(apart) <= agreement*float64(max(a, b)) || strings.HasSuffix(c.Name, "_ns") && apart <= slack
	}
	switch v := c.Value.(type) {
	case *int:
		return near(int64(*v), int64(*other.(*int)))
	case *int64:
		return near(*v, *other.(*int64))
	case *uint64:
		return near(int64(*v), int64(*other.(*uint64)))
	case *[2]int:
		return *v == *other.(*[2]int)
	case *sim.Curve:
		return slices.EqualFunc(*v, *other.(*sim.Curve), func(a, b sim.Point) bool {
			return a.Bytes == b.Bytes &&
				near(a.Nanos, b.Nanos)
		})
	}
	return false
}
