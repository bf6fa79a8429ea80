package ring

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

// wrongResult finds the first sum that is wrong: the next are wrong for the same reason.
func wrongResult(m *suite.Made[workload]) []verdict.Finding {
	if c := (call{*m}); m.W.followed {
		if later := c.laterFills(c.To, len(c.Notes.Trace.Records)); len(c.takenTooEarly(c.From, c.To, later)) > 0 {
			return nil // when the caller fills a slot anew is luck then, and cleanup tells it
		}
	}
	sums := m.Sums()
	i := m.W.firstWrong(sums)
	if i < 0 || i >= len(sums) {
		return nil
	}
	words, fix := call{*m}.explain(i, sums[i])
	return []verdict.Finding{m.Finding(m.LastInto(digestKernel, i), suite.Rule{ID: "wrong-result", Fix: fix,
		Why: "The digest of an item depends on each of its words, so one that is missing, or an item in another's place, " +
			"shows.",
	}, "the sum of item %d should be %d, but is %d%s.", i, m.W.want(i), sums[i], words)}
}

// uncomputed finds what a far call should have launched, and has not. What was left out whole is placement's.
func uncomputed(m *suite.Made[workload]) []verdict.Finding {
	if len(placement(m)) > 0 {
		return nil
	}
	return m.Unlaunched(m.W.launches())
}

// explain recognises the commonest ways of getting a sum wrong.
func (c call) explain(i int, got uint64) (words, fix string) {
	w, zero := c.W, "Set its 8 bytes to zero before kernels.Digest adds to them: cuda.MemsetAsync(out+8*i, 0, 8, "+
		"consumer)."
	digest := "Launch kernels.Digest in consumer for every item, with out+8*i as its result."
	switch {
	case got == suite.Garbage:
		return ": nothing was ever written there", digest
	case got == w.want(i)+suite.Garbage:
		return ": the digest was added to the garbage that was there before", zero
	case c.LastInto(digestKernel, i) < 0:
		return ": no kernel added to it", digest
	case w.n > 1 && got == w.wantOf(i, i, w.n-1):
		return ", the sum without the last word", "Cover all words: a grid of (n + block - 1) / block blocks."
	}
	for other := range w.items {
		if other == i || got != w.wantOf(i, other, w.n) {
			continue
		}
		words = fmt.Sprintf(", that of item %d", other)
		if other%w.slots == i%w.slots {
			return words + ", which is in the same slot in another lap", "Pass uint32(i) to kernels.FillItem for item i, have " +
				"its digest wait for that fill, and the next fill of the slot for that digest."
		}
		return words, "Pass the item's own number to kernels.FillItem, and digest the slot that it was filled into: " +
			"slots[i%len(slots)]."
	}
	return "", "Fill all n words, by a grid of (n + block - 1) / block blocks, with the number of the item, and digest " +
		"them only behind that; the check of the order below names the line where a wait is missing."
}
