package sequence

// maxTries bounds how often Shrink asks: some hundred tries take a sequence of hundreds of operations to its core.
const maxTries = 400

// Shrink is a short sequence that still fails, by delta debugging: it leaves out ever smaller parts and keeps what
// fails without them. ops must fail; fails is asked at most maxTries times. without is the sequence but for the
// operations from one index up to another, and for those that need them.
func Shrink[O any](ops []O, without func(ops []O, from, to int) []O, fails func([]O) bool) []O {
	tries := 0
	for part := max(len(ops)/2, 1); ; {
		smaller := false
		// From the end, so that what is left out needs nothing that comes before it.
		for to := len(ops); to > 0 && tries < maxTries; to -= part {
			candidate := without(ops, max(to-part, 0), to)
			if len(candidate) == 0 {
				continue
			}
			tries++
			if fails(candidate) {
				ops, smaller = candidate, true
			}
		}
		switch {
		case tries >= maxTries:
			return ops
		case part > 1:
			part /= 2
		case !smaller:
			return ops
		}
	}
}
