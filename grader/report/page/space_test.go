package page_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/report/page"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// handedOut is a case in which an allocator of a megabyte has handed out and taken back blocks at random, first fit.
func handedOut(t *testing.T, steps int) *verdict.CaseNotes {
	t.Helper()
	const size, unit = 1 << 20, 4 << 10
	d := sim.New(sim.Options{})
	s := session.New(d)
	s.StartTrace()
	base, code := s.Malloc(size)
	require.Equal(t, device.Success, code)
	r := rand.New(rand.NewPCG(1, 2))
	var taken [size / unit]bool
	live := map[int]int{} // first unit: units
	var starts []int
	for range steps {
		if len(starts) > 0 && r.IntN(5) < 2 {
			n := r.IntN(len(starts))
			at := starts[n]
			starts = append(starts[:n], starts[n+1:]...)
			for i := range live[at] {
				taken[at+i] = false
			}
			delete(live, at)
			s.BlockFree(base + device.Ptr(at*unit))
			continue
		}
		units := 1 + r.IntN(24)
		run := 0
		for i := range taken {
			run++
			if taken[i] {
				run = 0
			}
			if run == units {
				at := i + 1 - units
				for j := range units {
					taken[at+j] = true
				}
				live[at] = units
				starts = append(starts, at)
				s.BlockAlloc(base+device.Ptr(at*unit), int64(units*unit))
				break
			}
		}
	}
	notes := &verdict.CaseNotes{ID: "random", Trace: s.StopTrace()}
	require.NoError(t, s.Sweep())
	require.NoError(t, d.Close())
	return notes
}

func TestAnAddressSpaceIsDrawn(t *testing.T) {
	for steps, drawn := range map[int]int{40: 1, 3000: 0} { // of very many blocks none could be told from its neighbours
		var out bytes.Buffer
		require.NoError(t, page.Write(&out, page.Input{Title: "Slabs", Read: os.ReadFile,
			Report: verdict.Report{Exercise: "slab", Status: verdict.Passed},
			Drawn:  []*verdict.CaseNotes{handedOut(t, steps)}}))
		d := parse(t, out.Bytes())
		d.holdsTogether()
		require.Len(t, d.class("space"), drawn)
		for _, n := range d.class("part") {
			x, w := number(t, n, "x"), number(t, n, "width")
			require.GreaterOrEqual(t, x, 0.0)
			require.LessOrEqual(t, x+w, 1202.0)
		}
	}
}
