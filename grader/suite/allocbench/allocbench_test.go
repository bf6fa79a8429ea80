package allocbench

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/solutions/buddy"
)

// counter is an allocator that counts, and complains about what no program may do.
type counter struct {
	next            cuda.DevicePtr
	out             map[cuda.DevicePtr]int64
	allocated, most int
	small, large    int64
}

func (c *counter) Alloc(size int64) (cuda.DevicePtr, error) {
	c.next += 256
	c.out[c.next] = size
	c.allocated++
	c.most = max(c.most, len(c.out))
	c.small, c.large = min(c.small, size), max(c.large, size)
	return c.next, nil
}

func (c *counter) Free(p cuda.DevicePtr) error {
	if _, ok := c.out[p]; !ok {
		return errors.New("a block that is not out")
	}
	delete(c.out, p)
	return nil
}

func (c *counter) Close() error { return nil }

func TestMix(t *testing.T) {
	m := drawMix(suite.NewRand(3, "mix"), hostBatch)
	for _, operations := range []int{1, mallocBatch, hostBatch} {
		c := &counter{out: map[cuda.DevicePtr]int64{}, small: 1 << 62}
		require.NoError(t, m.carryOut(c, operations))
		require.Equal(t, operations, c.allocated)
		require.Empty(t, c.out, "what was taken is given back")
		require.LessOrEqual(t, c.most, mostLive)
		require.GreaterOrEqual(t, c.small, int64(least))
		require.LessOrEqual(t, c.large, int64(largest))
		if operations >= mallocBatch {
			require.Greater(t, c.most, mostLive/3, "many are out, for whoever takes only a part of it too")
		}
	}
}

// notes are a benchmark's.
type notes struct{ verdict.CaseNotes }

func (n *notes) Outcome(o verdict.Outcome)       { n.Outcomes = append(n.Outcomes, o) }
func (n *notes) Value(name string, vs ...uint64) { n.Values[name] = append(n.Values[name], vs...) }
func (n *notes) Sample(series string, t int64)   { n.Samples[series] = append(n.Samples[series], t) }

// benchmarks are the workloads over two implementations.
func benchmarks(student, solution Make) []suite.Benchmark {
	lesson := suite.Lesson[Make]{Benchmarks: Benchmarks(func(m Make) Make { return m })}
	return lesson.Suite(student, solution).Benchmarks
}

func run(t *testing.T, m suite.Benchmark) (*notes, *sim.Device) {
	t.Helper()
	d := sim.New(sim.Options{})
	s := session.New(d)
	s.Use()
	n := &notes{verdict.CaseNotes{Values: map[string][]uint64{}, Samples: map[string][]int64{}}}
	m.Drive(&suite.Bench{Session: s, Seed: 1, CaseID: m.ID, Notes: n})
	return n, d
}

func ofBuddy(least, largest int64, blocks int) (Allocator, error) {
	return buddy.New(largest*int64(blocks), least)
}

// full hands nothing out.
type full struct{}

func (full) Alloc(int64) (cuda.DevicePtr, error) { return 0, errors.New("full") }
func (full) Free(cuda.DevicePtr) error           { return nil }
func (full) Close() error                        { return nil }

func TestEveryWorkloadMeasuresEveryContenderAndLeavesNothing(t *testing.T) {
	for _, m := range benchmarks(ofBuddy, ofBuddy) {
		n, d := run(t, m)
		for _, o := range n.Outcomes {
			require.True(t, o.OK(), "%s: %s: %s", m.ID, o.Label, o.Err)
		}
		ws := m.Workloads(&n.CaseNotes, verdict.Device{Kind: "sim"}, func(string) bool { return false })
		require.Len(t, ws, 1, m.ID)
		names := map[string]bool{}
		for _, s := range ws[0].Standings {
			names[s.Contender] = true
			require.Positive(t, s.Value, "%s: %s", m.ID, s.Contender)
		}
		want := []string{verdict.Yours, verdict.Solution, malloc, mallocAsync}
		if ws[0].Unit == verdict.ByteCount {
			want = want[:2]
		}
		require.ElementsMatch(t, want, slices.Collect(maps.Keys(names)), m.ID)
		require.NoError(t, cuda.DeviceSynchronize())
		free, total, err := cuda.MemGetInfo()
		require.NoError(t, err)
		require.Less(t, total-free, int64(256<<20), "%s: only the pool holds memory", m.ID)
		require.NoError(t, d.Close())
	}
}

func TestAnAllocatorThatFailsIsTold(t *testing.T) {
	for _, m := range benchmarks(func(int64, int64, int) (Allocator, error) { return full{}, nil }, ofBuddy) {
		n, _ := run(t, m)
		i := slices.IndexFunc(n.Outcomes, func(o verdict.Outcome) bool { return !o.OK() })
		require.GreaterOrEqual(t, i, 0, m.ID)
		require.Equal(t, verdict.Yours, n.Outcomes[i].Label)
		require.Equal(t, "full", n.Outcomes[i].Err)
	}
}
