package interleave_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
	"cudalab/grader/suites/devicebump/interleave"
	"cudalab/solutions/devicebump"
)

type (
	alloc = func(w contract.Word, capacity, size uint64) (uint64, bool)
	warp  = func(w contract.Word, capacity uint64, sizes, offsets []uint64)
)

var solution = interleave.Code{Alloc: devicebump.Alloc, AllocWarp: devicebump.AllocWarp}

func round(size uint64) uint64 { return (size + 15) &^ 15 }

// reloading loads again after each failure.
func reloading(w contract.Word, capacity, size uint64) (uint64, bool) {
	if size == 0 || size > capacity {
		return 0, false
	}
	for {
		taken := w.Load()
		if round(size) > capacity-taken {
			return 0, false
		}
		if w.CompareAndSwap(taken, taken+round(size)) == taken {
			return taken, true
		}
	}
}

// guessing begins with a guess in place of a Load.
func guessing(w contract.Word, capacity, size uint64) (uint64, bool) {
	if size == 0 || size > capacity {
		return 0, false
	}
	for taken := uint64(0); ; {
		if round(size) > capacity-taken {
			if found := w.Load(); found == taken {
				return 0, false
			}
		}
		found := w.CompareAndSwap(taken, taken+round(size))
		if found == taken {
			return taken, true
		}
		if taken = found; round(size) > capacity-taken {
			return 0, false
		}
	}
}

var one = interleave.One

// programs are small ones that show most mistakes, and some of the largest that the lesson has.
func programs() []interleave.Program {
	return []interleave.Program{
		{Capacity: 64, Threads: [][]interleave.Request{{one(10), one(80), one(0), one(64), one(48)}}},
		{Capacity: 64, Threads: [][]interleave.Request{{one(80)}, {one(16)}}},
		{Capacity: 64, Threads: [][]interleave.Request{{one(32)}, {one(32)}}},
		{Capacity: 64, Taken: 48, Threads: [][]interleave.Request{{one(16)}, {one(16)}}},
		{Capacity: 64, Taken: 16, Threads: [][]interleave.Request{{one(64)}, {one(16)}}},
		{Capacity: 64, Threads: [][]interleave.Request{{one(80), one(16)}, {one(16), one(16)}}},
		{Capacity: 64, Taken: 32, Threads: [][]interleave.Request{{one(48), one(16)}, {one(16)}, {one(16)}}},
		{Capacity: 96, Threads: [][]interleave.Request{{one(48), one(16)}, {one(16), one(80)}, {one(32), one(16)}}},
	}
}

func TestRightProgramsAreRightInEveryOrder(t *testing.T) {
	for name, a := range map[string]alloc{"solution": devicebump.Alloc, "reloading": reloading, "guessing": guessing} {
		t.Run(name, func(t *testing.T) {
			x := interleave.NewExplorer(interleave.Code{Alloc: a}, 200_000)
			for _, p := range programs() {
				before := x.States()
				r := x.Explore(&p)
				require.Nil(t, r.Failure, p.Label())
				require.Nil(t, r.TooMany, p.Label())
				require.True(t, r.Whole)
				t.Log(p.Label(), x.States()-before)
			}
			t.Log(x.States(), "states", x.Runs(), "runs")
		})
	}
}

// wrong are the ways to get it wrong, and the rules that say so.
var wrong = map[string]struct {
	alloc
	rules []string
}{
	"adds": {func(w contract.Word, capacity, size uint64) (uint64, bool) {
		old := w.Add(round(size))
		return old, size != 0 && old+round(size) <= capacity
	}, []string{interleave.LeftBehind, interleave.RoomLost}},
	"takes it back": {func(w contract.Word, capacity, size uint64) (uint64, bool) {
		if size == 0 || size > capacity {
			return 0, false
		}
		old := w.Add(round(size))
		if old+round(size) > capacity {
			w.Add(-round(size))
			return 0, false
		}
		return old, true
	}, []string{interleave.RoomLost}},
	"takes back what it never could have": {func(w contract.Word, capacity, size uint64) (uint64, bool) {
		old := w.Add(round(size))
		if size == 0 || old+round(size) > capacity {
			w.Add(-round(size))
			return 0, false
		}
		return old, true
	}, []string{interleave.RoomLost, interleave.Overlap}},
	"looks, then adds": {func(w contract.Word, capacity, size uint64) (uint64, bool) {
		if size == 0 || size > capacity || round(size) > capacity-w.Load() {
			return 0, false
		}
		return w.Add(round(size)), true
	}, []string{interleave.BeyondEnd}},
	"gives up": {func(w contract.Word, capacity, size uint64) (uint64, bool) {
		taken := w.Load()
		if size == 0 || size > capacity || round(size) > capacity-taken {
			return 0, false
		}
		return taken, w.CompareAndSwap(taken, taken+round(size)) == taken
	}, []string{interleave.RoomLost}},
	"no rounding": {func(w contract.Word, capacity, size uint64) (uint64, bool) {
		taken := w.Load()
		for size != 0 && size <= capacity && size <= capacity-taken {
			found := w.CompareAndSwap(taken, taken+size)
			if found == taken {
				return taken, true
			}
			taken = found
		}
		return 0, false
	}, []string{interleave.Unaligned}},
	"locks": {func(w contract.Word, capacity, size uint64) (uint64, bool) {
		if size == 0 || size > capacity {
			return 0, false
		}
		taken := w.Load()
		for taken&1 != 0 || w.CompareAndSwap(taken, taken|1) != taken {
			taken = w.Load()
		}
		if round(size) > capacity-taken {
			w.Add(^uint64(0))
			return 0, false
		}
		w.Add(round(size) - 1)
		return taken, true
	}, []string{interleave.WaitsForThread}},
	"compares with what it loads anew": {func(w contract.Word, capacity, size uint64) (uint64, bool) {
		if size == 0 || size > capacity {
			return 0, false
		}
		for {
			taken := w.Load()
			if round(size) > capacity-taken {
				return 0, false
			}
			now := w.Load()
			if w.CompareAndSwap(now, taken+round(size)) == now {
				return taken, true
			}
		}
	}, []string{interleave.Overlap, interleave.TooMany}},
	"nothing is something": {func(w contract.Word, capacity, size uint64) (uint64, bool) {
		if size == 0 {
			return w.Load(), true
		}
		return devicebump.Alloc(w, capacity, size)
	}, []string{interleave.EmptyBlock}},
}

// rulesOf are the rules of what is found in some programs, and how many states that took.
func rulesOf(t *testing.T, code interleave.Code, all []interleave.Program) (rules []string, states int) {
	x := interleave.NewExplorer(code, 200_000)
	for _, p := range all {
		r := x.Explore(&p)
		require.True(t, r.Whole, "%s was not looked at", p.Label())
		for _, f := range []*interleave.Failure{r.Failure, r.TooMany} {
			if f == nil {
				continue
			}
			found, ok := p.Finding(f)
			require.True(t, ok)
			rules = append(rules, found.Rule)
			t.Log(found.Rule, found.Message, "\n"+found.Picture)
		}
		if r.Failure != nil && states == 0 {
			states = x.Runs()
		}
	}
	return rules, states
}

func TestWrongProgramsAreFoundSoon(t *testing.T) {
	for name, c := range wrong {
		t.Run(name, func(t *testing.T) {
			rules, runs := rulesOf(t, interleave.Code{Alloc: c.alloc}, programs())
			require.Subset(t, rules, c.rules)
			require.Less(t, runs, 10_000)
		})
	}
}
