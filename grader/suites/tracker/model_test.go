package tracker

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/sequence"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/solutions/tracker"
)

// A runner is the student's process: what it notes may be anything.
func TestModelTakesAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	numbers := func() (all []int64) {
		for range r.IntN(40) {
			all = append(all, []int64{int64(r.IntN(14)), r.Int64N(1 << 12), int64(r.Uint64()), 0, 1}[r.IntN(5)])
		}
		return all
	}
	for range 3000 {
		w := callbacks()[r.IntN(5)]
		m := newModel(&w).(*model)
		view := allocator.View{}
		for range 1 + r.IntN(20) {
			view.Op = allocator.Op{Kind: allocator.Kind(r.IntN(10)), Size: []int64{1, 300, int64(r.Uint64())}[r.IntN(3)],
				Block: r.IntN(100) - 5}
			view.Answer = sequence.Answer{Err: sequence.Err(r.IntN(12)), Addr: r.Uint64() >> (8 * r.IntN(8))}.With(
				sequence.Details{Stats: numbers()})
			m.Step(view.Op, view.Answer)
			for _, row := range m.Paint(view) {
				for _, c := range row.Cells {
					require.True(t, 0 <= c.From && c.From < c.To && c.To <= 1, "%+v", c)
				}
			}
			m.Use()
		}
	}
}

// What a user notes of the solution, the model finds right, whatever the function of OnFull does.
func TestModelFollowsTheSolution(t *testing.T) {
	d := sim.New(sim.Options{})
	defer d.Close()
	session.New(d).Use()
	for _, w := range append(append(callbacks(), refusing()...), examples()...) {
		s, err := newSubject(Of(tracker.Wrap), w.Layout)
		require.NoError(t, err)
		m, u := newModel(&w), s.Allocator.(*user)
		blocks := []cuda.DevicePtr{}
		for _, op := range w.Ops {
			var a sequence.Answer
			switch op.Kind {
			case allocator.KindAlloc:
				p, err := u.AllocAs(op.Size, op.Block)
				blocks = append(blocks, p)
				a = sequence.Answer{Err: sequence.Classify(err), Addr: uint64(p)}
			case allocator.KindFree:
				if blocks[op.Block-1] == 0 {
					continue
				}
				a = sequence.Answer{Err: sequence.Classify(u.Free(blocks[op.Block-1])), Addr: uint64(blocks[op.Block-1])}
			case allocator.KindOwn:
				u.OnFull(full(op.Size))
			case allocator.KindClose:
				require.NoError(t, u.Close())
			default:
				continue
			}
			a = a.With(sequence.Details{Stats: s.Stats()})
			require.Empty(t, m.Step(op, a), "%s: %s", w.Name, allocator.Words(w.Ops))
		}
	}
}

func TestReportsComeThroughAsTheyWere(t *testing.T) {
	r := contract.MemoryReport{Live: 1 << 62, Peak: -1, Free: 3, LargestFree: 4, Count: 5, PeakCount: 6, Allocs: 7,
		Failures: 8, Fragmentation: 0.25,
		BySize: []contract.SizeUse{{UpTo: 256, Live: 1, Count: 2, Allocs: 3}},
		ByTag:  []contract.TagUse{{Tag: "a", Live: 1, Peak: 2, Count: 3, Allocs: 4}, {Tag: "", Allocs: 9}},
		Blocks: []contract.LiveBlock{{Ptr: 1 << 63, Size: 5, Tag: "tag 99", Number: 6}}}
	got, shared, ok := decode(&reader{left: encode([]int64{sharedLater}, &r)}, &names{})
	require.True(t, ok)
	require.EqualValues(t, sharedLater, shared)
	require.Equal(t, r, got)
	require.False(t, scribbled(&got))
	scribble(&got)
	require.True(t, scribbled(&got))
}
