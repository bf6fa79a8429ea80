package suite_test

import (
	"errors"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// comparison are a benchmark's notes as cudalab gets them.
type comparison struct{ verdict.CaseNotes }

func (n *comparison) Outcome(o verdict.Outcome)       { n.Outcomes = append(n.Outcomes, o) }
func (n *comparison) Value(name string, vs ...uint64) { n.Values[name] = append(n.Values[name], vs...) }
func (n *comparison) Sample(series string, t int64) {
	n.Samples[series] = append(n.Samples[series], t)
}

func newComparison() (*suite.Bench, *comparison) {
	s := session.New(sim.New(sim.Options{}))
	s.Use()
	n := &comparison{verdict.CaseNotes{Values: map[string][]uint64{}, Samples: map[string][]int64{}}}
	return &suite.Bench{Session: s, Seed: 7, Notes: n}, n
}

// spin is work of the host's alone.
func spin() error {
	x := 1
	for i := range 50_000 {
		x = x*31 + i
	}
	if x == 0 {
		return errors.New("impossible")
	}
	return nil
}

func synchronise() error { return cuda.DeviceSynchronize() }

var simulated = verdict.Device{Kind: "sim"}

func TestContendersTakeTurnsInRandomOrder(t *testing.T) {
	b, n := newComparison()
	var turns []string
	collecting := debug.SetGCPercent(100)
	defer debug.SetGCPercent(collecting)
	entry := func(name string) suite.Contender {
		return suite.Contender{Name: name, Operations: 1, Run: func() error {
			turns = append(turns, name)
			require.Equal(t, -1, debug.SetGCPercent(-1), "the collector is off")
			return spin()
		}}
	}
	b.Compare(entry("a"), entry("b"), entry("c"))
	require.Equal(t, 100, debug.SetGCPercent(100), "and as before when all is over")
	require.Empty(t, n.Outcomes)
	orders := map[[3]string]bool{}
	for round := range slices.Chunk(turns, 3) {
		orders[[3]string(round)] = true
		require.ElementsMatch(t, []string{"a", "b", "c"}, round, "each has one turn in a round")
	}
	require.Greater(t, len(orders), 2)
	require.Len(t, n.Samples["a"], len(n.Samples["b"]))
	require.Less(t, 3*len(n.Samples["a"]), len(turns), "the first rounds only warm up")
}

func TestOnASimulatedDeviceWhoCallsCUDAIsTimedInVirtualTime(t *testing.T) {
	b, n := newComparison()
	b.Compare(
		suite.Contender{Name: verdict.Solution, Operations: 2, Run: spin},
		suite.Contender{Name: "cuda", Operations: 1, Run: synchronise},
		suite.Contender{Name: verdict.Yours, Operations: 1, Run: func() error { return errors.Join(spin(), synchronise()) }},
	)
	m := suite.Benchmark{ID: "m", Name: "a workload", Operation: "call"}
	ws := m.Workloads(&n.CaseNotes, simulated, func(string) bool { return false })
	require.Len(t, ws, 1)
	require.Equal(t, verdict.Nanoseconds, ws[0].Unit)
	yours, solution, other := ws[0].Standings[0], ws[0].Standings[1], ws[0].Standings[2]
	require.Equal(t, []string{verdict.Yours, verdict.Solution, "cuda"}, []string{yours.Contender, solution.Contender,
		other.Contender})

	require.Equal(t, verdict.CPU, solution.Clock)
	require.Positive(t, solution.Value)
	require.Equal(t, 2, solution.Batch)
	require.Equal(t, verdict.Virtual, other.Clock)
	require.Equal(t, float64(sim.H200.Synchronize), other.Value, "an idle device costs the same each time")
	require.Equal(t, other.Value, other.High)
	require.Equal(t, other.Value, yours.Value, "what the host computes is not in virtual time")
	require.Nil(t, other.Ratio, "two clocks have no ratio")
	require.Less(t, other.Samples, solution.Samples, "virtual times repeat")
}

func TestOnAGPUThereIsOneClock(t *testing.T) {
	n := verdict.CaseNotes{Values: map[string][]uint64{"operations of solution": {10}, "operations of yours": {5}},
		Samples: map[string][]int64{verdict.Solution: {1000, 1000, 1000}, verdict.Yours: {1000, 1000, 1000},
			"baseline": {700, 700, 700}}}
	m := suite.Benchmark{ID: "m", Name: "a workload", Operation: "call"}
	ws := m.Workloads(&n, verdict.Device{Kind: "gpu"}, func(string) bool { return false })
	require.Len(t, ws, 1)
	yours, solution, baseline := ws[0].Standings[0], ws[0].Standings[1], ws[0].Standings[2]
	require.Equal(t, verdict.Wall, yours.Clock)
	require.Equal(t, 200.0, yours.Value, "of one operation")
	require.Equal(t, 100.0, solution.Value)
	require.Equal(t, 700.0, baseline.Value, "a sample is one operation where nothing else is said")
	require.Nil(t, solution.Ratio)
	require.Equal(t, &verdict.Quotient{Value: 2, Low: 2, High: 2}, yours.Ratio)

	alone := m.Workloads(&n, verdict.Device{Kind: "gpu"}, func(name string) bool { return name == verdict.Yours })
	require.Len(t, alone[0].Standings, 2)
}

func TestEveryFunctionIsAWorkload(t *testing.T) {
	n := verdict.CaseNotes{Samples: map[string][]int64{"Share: yours": {30}, "Share: solution": {10},
		"FanOut: solution": {20}}}
	m := suite.Benchmark{ID: "speed", Name: "two streams", Operation: "call"}
	ws := m.Workloads(&n, simulated, func(string) bool { return false })
	require.Len(t, ws, 2)
	require.Equal(t, "speed/FanOut", ws[0].ID)
	require.Equal(t, "Share: two streams", ws[1].Name)
	require.Equal(t, verdict.Yours, ws[1].Standings[0].Contender)
	require.Equal(t, 3.0, ws[1].Standings[0].Ratio.Value)
}

func TestAContenderThatFailsGoesOnNoLonger(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("full") },
		"panic": func() error { panic("full") },
	} {
		b, n := newComparison()
		tried := 0
		b.Compare(
			suite.Contender{Name: verdict.Yours, Operations: 1, Run: func() error { tried++; return fail() }},
			suite.Contender{Name: verdict.Solution, Operations: 1, Run: synchronise},
		)
		require.Equal(t, 1, tried, name)
		require.Len(t, n.Outcomes, 1, name)
		require.Equal(t, verdict.Yours, n.Outcomes[0].Label)
		require.Contains(t, n.Outcomes[0].Err+n.Outcomes[0].Panic, "full")
		require.Empty(t, n.Samples[verdict.Yours])
		require.NotEmpty(t, n.Samples[verdict.Solution])
	}
}

func TestBookkeepingCountsWhatIsKept(t *testing.T) {
	b, n := newComparison()
	const things, each = 1000, 4096
	b.Bookkeeping(verdict.Yours, things, func() (any, error) {
		kept := make([][]byte, things)
		for i := range kept {
			kept[i] = make([]byte, each)
			_ = make([]byte, each) // what nobody holds costs nothing
		}
		return kept, nil
	})
	m := suite.Benchmark{ID: "m", Name: "bookkeeping", Operation: "block"}
	ws := m.Workloads(&n.CaseNotes, simulated, func(string) bool { return false })
	require.Len(t, ws, 1)
	require.Equal(t, verdict.ByteCount, ws[0].Unit)
	require.InDelta(t, each+24, ws[0].Standings[0].Value, 64)
	require.Empty(t, ws[0].Standings[0].Clock)
}

func TestARunnerFindsCasesAndBenchmarks(t *testing.T) {
	ran := ""
	s := &suite.Suite{
		Cases:      []suite.Case{{ID: "cost"}},
		Benchmarks: []suite.Benchmark{{ID: "cost", Drive: func(*suite.Bench) { ran = "benchmark" }}},
	}
	c, ok := s.Case("cost")
	require.True(t, ok)
	require.Nil(t, c.Drive)
	c, ok = s.Case(s.Benchmarks[0].Case().ID)
	require.True(t, ok)
	require.True(t, c.Timed)
	c.Drive(nil)
	require.Equal(t, "benchmark", ran)
	_, ok = s.Case("bench/other")
	require.False(t, ok)
}
