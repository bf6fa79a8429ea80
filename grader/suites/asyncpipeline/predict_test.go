package asyncpipeline

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
	solution "cudalab/solutions/asyncpipeline"
)

// measured reads the times that testdata/h200.txt has for Go, in microseconds.
func measured(t *testing.T) map[string]float64 {
	t.Helper()
	f, err := os.Open("testdata/h200.txt")
	require.NoError(t, err)
	defer f.Close()
	times := map[string]float64{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var name string
		var inGo, inC float64
		_, err := fmt.Sscan(lines.Text(), &name, &inGo, &inC)
		require.NoError(t, err, lines.Text())
		times[name] = inGo
	}
	return times
}

// samples are the times that a case notes.
type samples map[string][]int64

func (samples) Outcome(suite.Outcome)          {}
func (samples) Value(string, uint64)           {}
func (s samples) Sample(name string, ns int64) { s[name] = append(s[name], ns) }

// TestTheSimulatorPredictsTheGPU compares the simulator's clock with what a GPU was measured to take: speedups, by which
// a student is judged, within a tenth, and times within a quarter.
func TestTheSimulatorPredictsTheGPU(t *testing.T) {
	want := measured(t)
	s := session.New(sim.New(sim.Options{}))
	s.Use()
	noted := samples{}
	b := &suite.Bench{Session: s, Seed: 1, CaseID: caseSpeed, Notes: noted}
	driver{student: solution.Run, solution: solution.Run}.speed(b)
	got := map[string]float64{
		"solution": float64(noted[suite.Solution][0]) / 1e3,
		"baseline": float64(noted[suite.Baseline][0]) / 1e3,
	}
	stream, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
	require.NoError(t, err)
	pool, code := s.Device().DeviceGetDefaultMemPool()
	require.Equal(t, device.Success, code)
	for name, way := range ways(stream) {
		require.Equal(t, device.Success, s.Device().MemPoolSetAttribute(pool, device.PoolReleaseThreshold, way.threshold))
		p, err := way.alloc(4 << 20) // grows the pool, where there is one
		require.NoError(t, err)
		require.NoError(t, way.free(p))
		require.NoError(t, cuda.DeviceSynchronize())
		start := s.Device().Now()
		require.NoError(t, hundredRounds(stream, way))
		got["rounds/"+name] = float64(s.Device().Now()-start) / 1e3
	}
	for name, w := range want {
		t.Logf("%-34s measured %7.0f µs, predicted %7.0f µs, %+.0f %%", name, w, got[name], 100*(got[name]/w-1))
		require.InEpsilon(t, w, got[name], 0.25, name)
	}
	require.InEpsilon(t, want["baseline"]/want["solution"], got["baseline"]/got["solution"], 0.1, "the speedup")
	require.Less(t, math.Abs(got["baseline"]/got["solution"]-speedStreams), 0.5, "four streams are about four times as fast")
}
