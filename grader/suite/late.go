package suite

import (
	"slices"

	"cudalab/native/cuda"
)

// Late are streams that are busy when a call comes, by their numbers. What has to wait for one of them shows then.
type Late []int

// Busy keeps them busy, of some streams.
func (l Late) Busy(s *Stage, streams []cuda.Stream) {
	for _, i := range l {
		s.Busy(streams[i], PendingDelay)
	}
}

// WaitLast waits for the stage's streams one by one, and for those that are late last: what should have waited for a late stream, and
// does not, is then done before it. The last stream comes first, since code that forgets some remembers the first.
func (l Late) WaitLast(s *Stage) {
	for _, late := range []bool{false, true} {
		for i, stream := range slices.Backward(s.Lent) {
			if slices.Contains(l, i) == late {
				s.Bench.Must(cuda.StreamSynchronize(stream))
			}
		}
	}
}

// While ends a call's label, ", while a and b are busy"; it is "" where no stream is late.
func (l Late) While(name func(i int) string) (words string) {
	for i, stream := range l {
		words += []string{", while ", " and "}[min(i, 1)] + name(stream)
	}
	switch len(l) {
	case 0:
		return ""
	case 1:
		return words + " is busy"
	}
	return words + " are busy"
}
