package buddy

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/solutions/buddy"
)

// pieces are the free blocks of some minimal blocks by definition: an aligned stretch is one if nothing in it is in
// use, and the stretch around it that is twice as long is not one itself.
func pieces(used []int32) (count, largest int) {
	free := func(from, n int) bool {
		for _, u := range used[from : from+n] {
			if u > 0 {
				return false
			}
		}
		return true
	}
	largest = -1
	for order, n := 0, 1; n <= len(used); order, n = order+1, 2*n {
		for from := 0; from < len(used); from += n {
			if !free(from, n) {
				continue
			}
			largest = order
			if whole := from &^ n; 2*n > len(used) || !free(whole, 2*n) {
				count++
			}
		}
	}
	return count, largest
}

func TestSpaceAgreesWithTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for top := range 7 {
		s := newSpace(top)
		var blocks [][2]int // also such as overlap and are not aligned
		for range 300 {
			if len(blocks) > 0 && r.IntN(5) < 2 {
				i := r.IntN(len(blocks))
				s.use(blocks[i][0], blocks[i][1], -1)
				blocks[i] = blocks[len(blocks)-1]
				blocks = blocks[:len(blocks)-1]
			} else {
				from := r.IntN(1 << top)
				to := from + 1 + r.IntN(1<<top-from)
				blocks = append(blocks, [2]int{from, to})
				s.use(from, to, 1)
			}
			if r.IntN(3) > 0 {
				continue // what has changed is asked for later
			}
			count, largest := pieces(s.used)
			require.Equal(t, []int{count, largest}, []int{s.freeBlocks(), s.largestFree()}, "%v", s.used)
		}
	}
}

// tried carries a workload out on an allocator, off the record.
func tried(t *testing.T, w workload, make Make) []sequence.Answer {
	d := sim.New(sim.Options{})
	defer func() { require.NoError(t, d.Close()) }()
	return lab.Try(&suite.Bench{Session: session.New(d)}, make, &w)
}

func TestTheSolutionIsRightForEverySeed(t *testing.T) {
	workloads := examples()
	for seed := range uint64(40) {
		workloads = append(workloads, drawn(sequence.Source{Rand: suite.NewRand(seed, "random"), Seed: seed})...)
	}
	full := 0
	for _, w := range workloads {
		answers := tried(t, w, Of(buddy.New))
		require.Len(t, answers, len(w.Ops))
		m := newModel(&w)
		for i, a := range answers {
			if a.Err != sequence.Skipped {
				require.Empty(t, m.Step(w.Ops[i], a), "%s: %s", w.Layout, allocator.Words(w.Ops[:i+1]))
			}
		}
		for _, part := range lab.Parts {
			require.False(t, m.Blind(part))
		}
		for _, a := range answers {
			if a.Err == sequence.ErrFull {
				full++
			}
			require.False(t, a.Err == sequence.ErrInvalidFree && !w.Misuse, "%s is said to be without misuse", w.Name)
		}
		require.NotZero(t, answers[0].Stats()[statRoot])
	}
	require.Greater(t, full, 1000, "the sequences fill the root")
}
