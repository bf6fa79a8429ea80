package interleave_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
	"cudalab/grader/suites/devicebump/interleave"
	"cudalab/solutions/devicebump"
)

// together are programs with warps.
func together() []interleave.Program {
	full := slices.Repeat([]uint64{30}, 32)
	return []interleave.Program{
		{Capacity: 64, Threads: [][]interleave.Request{{interleave.Warp(16, 80, 10), interleave.Warp(64, 32)}}},
		{Capacity: 2048, Threads: [][]interleave.Request{{interleave.Warp(full...), interleave.Warp()}}},
		{Capacity: 128, Threads: [][]interleave.Request{{interleave.Warp(16, 32)}, {interleave.Warp(16, 16)}}},
		{Capacity: 144, Threads: [][]interleave.Request{{interleave.Warp(16, 32, 48, 10)}, {interleave.Warp(16, 200, 16, 16)},
			{one(16)}}},
	}
}

func TestRightWarpsAreRightInEveryOrder(t *testing.T) {
	x := interleave.NewExplorer(solution, 200_000)
	for _, p := range together() {
		r := x.Explore(&p)
		require.Equal(t, interleave.Result{Whole: true}, r, p.Label())
	}
}

func TestWrongWarpsAreFoundSoon(t *testing.T) {
	for name, c := range map[string]struct {
		warp
		rules []string
	}{
		"lane by lane": {func(w contract.Word, capacity uint64, sizes, offsets []uint64) {
			for i, size := range sizes {
				offset, ok := devicebump.Alloc(w, capacity, size)
				if offsets[i] = offset; !ok {
					offsets[i] = contract.NoRoom
				}
			}
		}, []string{interleave.TooMany, interleave.NotInARow}},
		"says nothing": {func(contract.Word, uint64, []uint64, []uint64) {}, []string{interleave.OffsetMissing}},
		"refuses": {func(_ contract.Word, _ uint64, _, offsets []uint64) {
			for i := range offsets {
				offsets[i] = contract.NoRoom
			}
		}, []string{interleave.RoomLost}},
		"takes too much": {func(w contract.Word, capacity uint64, sizes, offsets []uint64) {
			devicebump.AllocWarp(w, capacity, sizes, offsets)
			if len(sizes) > 0 && w.Load() < capacity {
				w.Add(16)
			}
		}, []string{interleave.LeftBehind, interleave.TooMany}},
	} {
		t.Run(name, func(t *testing.T) {
			rules, runs := rulesOf(t, interleave.Code{Alloc: devicebump.Alloc, AllocWarp: c.warp}, together())
			require.Subset(t, rules, c.rules)
			require.Less(t, runs, 10_000)
		})
	}
}

// What a call keeps from one time to the next shows, in whatever way it is kept.
func TestWhatIsKeptShows(t *testing.T) {
	kept, calls, locked := uint64(0), 0, false
	for name, a := range map[string]alloc{
		"a counter": func(w contract.Word, capacity, size uint64) (uint64, bool) {
			w.Add(round(size))
			kept += round(size)
			return kept - round(size), true
		},
		"every third call": func(w contract.Word, capacity, size uint64) (uint64, bool) {
			if calls++; calls%3 == 0 {
				w.Load()
			}
			return devicebump.Alloc(w, capacity, size)
		},
		"a lock of its own": func(w contract.Word, capacity, size uint64) (uint64, bool) {
			if locked {
				return 0, false
			}
			locked = true
			offset, ok := devicebump.Alloc(w, capacity, size)
			locked = false
			return offset, ok
		},
	} {
		t.Run(name, func(t *testing.T) {
			rules, _ := rulesOf(t, interleave.Code{Alloc: a}, programs()[2:3])
			require.Equal(t, []string{interleave.NotRepeatable}, rules)
		})
	}
}

// Code may recover from anything; what stops it is no panic of its own, and its own goes through.
func TestPanics(t *testing.T) {
	p := programs()[2]
	recovers := func(w contract.Word, capacity, size uint64) (offset uint64, ok bool) {
		defer func() {
			if recover() != nil {
				offset, ok = devicebump.Alloc(w, capacity, size)
			}
		}()
		return devicebump.Alloc(w, capacity, size)
	}
	require.Equal(t, interleave.Result{Whole: true}, interleave.NewExplorer(interleave.Code{Alloc: recovers},
		1000).Explore(&p))
	require.PanicsWithValue(t, "boom", func() {
		interleave.NewExplorer(interleave.Code{Alloc: func(contract.Word, uint64, uint64) (uint64, bool) { panic("boom") }},
			1000).Explore(&p)
	})
}

// A word says nothing of itself but what it answers.
func TestTheWordPrintsNothing(t *testing.T) {
	p := programs()[0]
	interleave.NewExplorer(interleave.Code{Alloc: func(w contract.Word, capacity, size uint64) (uint64, bool) {
		for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%x", "%s"} {
			require.Empty(t, fmt.Sprintf(verb, w))
		}
		return devicebump.Alloc(w, capacity, size)
	}}, 1000).Explore(&p)
}

// What has more orders than there is time for is left, and is no failure.
func TestTheBudgetIsKept(t *testing.T) {
	all := programs()
	x := interleave.NewExplorer(solution, 100)
	for _, p := range all {
		r := x.Explore(&p)
		require.Nil(t, r.Failure)
	}
	require.Equal(t, 100, x.States())
	last := all[len(all)-1]
	require.False(t, x.Explore(&last).Whole)
}

func TestNumbersInWords(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 64: "64", 1 << 20: "1048576", 1 << 31: "2^31", 1<<32 - 1: "2^32-1",
		1<<32 + 16: "2^32+16", 1 << 63: "2^63",
		^uint64(0): "2^64-1", ^uint64(0) - 15: "2^64-16", 5_000_000_000: "5000000000"} {
		require.Equal(t, want, interleave.Number(n))
	}
}

// FuzzFinding reads any numbers as a failure: a runner is the student's process, and may note what it likes.
func FuzzFinding(f *testing.F) {
	for _, p := range programs() {
		for _, c := range wrong {
			r := interleave.NewExplorer(interleave.Code{Alloc: c.alloc}, 10_000).Explore(&p)
			for _, failure := range []*interleave.Failure{r.Failure, r.TooMany} {
				if failure != nil {
					var bytes []byte
					for _, n := range interleave.Numbers(failure) {
						bytes = binary.LittleEndian.AppendUint64(bytes, n)
					}
					f.Add(bytes)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		var numbers []uint64
		for ; len(bytes) >= 8; bytes = bytes[8:] {
			numbers = append(numbers, binary.LittleEndian.Uint64(bytes))
		}
		for _, p := range append(programs(), together()...) {
			failure := interleave.FailureOf(&p, numbers)
			if failure == nil {
				continue
			}
			if found, ok := p.Finding(failure); ok {
				require.NotEmpty(t, found.Message)
				require.NotEmpty(t, found.Rule)
			}
		}
	})
}
