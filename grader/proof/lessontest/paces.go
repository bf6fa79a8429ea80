package lessontest

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// slowerBaseline is what the solution takes of the baseline's time at most: the baseline is what the lesson argues
// against, and one that is not slower tells handouts nothing.
const slowerBaseline = 0.75

// Paces holds the paces.txt of a lesson with a race, by which handouts judge, to what the solution takes: to the digit
// on the simulator, roughly on a GPU. The suite is over the solution, with the solution beside it. -record writes the
// file.
func Paces(t *testing.T, s *suite.Suite) {
	const file = "paces.txt"
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) && !*record {
		t.Skip("not yet measured: -record writes " + file)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	recorded, err := suite.ReadPaces(string(text))
	require.NoError(t, err)
	got := paces(t, s)
	require.NotEmpty(t, got, "the suite has no race")
	for _, r := range got {
		require.Less(t, r.Value, slowerBaseline, "what the lesson argues against is slower by far: %s", r)
	}
	if *record {
		again, err := suite.AddPaces(string(text), got)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, []byte(again), 0o644))
		return
	}
	recorded = slices.DeleteFunc(recorded, func(r suite.RecordedPace) bool {
		return r.Kind != got[0].Kind ||
			r.Name != got[0].Name
	})
	if *onDevice == "sim" {
		require.Equal(t, lines(recorded), lines(got), "record them again with -record if that is meant")
		return
	}
	if len(recorded) == 0 {
		t.Skipf("not yet measured on the %s: -record writes %s", got[0].Name, file)
	}
	for i := range got {
		require.InEpsilon(t, recorded[i].Value, got[i].Value, 0.25, got[i].String())
	}
}

// paces are what the solution takes of the baseline's time in the suite's races, over several seeds.
func paces(t *testing.T, s *suite.Suite) []suite.RecordedPace {
	var noted []map[string][]int64
	var info device.Info
	for seed := range uint64(suite.PaceSeeds) {
		for i := range s.Cases {
			if c := &s.Cases[i]; c.Timed {
				var seen samples
				seen, info = runTimed(t, c, seed+1)
				noted = append(noted, seen)
			}
		}
	}
	return s.PacesOf(verdict.Device{Kind: string(info.Kind), Name: info.Name}, noted)
}

// Benchmark is what one of a suite's benchmarks notes on the device that -device names: nanoseconds, by series.
func Benchmark(t *testing.T, s *suite.Suite, id string) map[string][]int64 {
	c, found := s.Case("bench/" + id)
	require.True(t, found, "the suite has no benchmark %s", id)
	seen, _ := runTimed(t, c, 1)
	return seen
}

// samples are the times that a case notes.
type samples map[string][]int64

func (samples) Outcome(verdict.Outcome)        {}
func (samples) Value(string, ...uint64)        {}
func (s samples) Sample(name string, ns int64) { s[name] = append(s[name], ns) }

// runTimed carries out one timed case as the runner does.
func runTimed(t *testing.T, c *suite.Case, seed uint64) (samples, device.Info) {
	d, err := device.Device(sim.New(sim.Options{Seed: seed})), error(nil)
	if *onDevice != "sim" {
		d, err = session.OpenDevice(*onDevice)
	}
	require.NoError(t, err)
	s := session.New(d)
	s.Use()
	noted := samples{}
	c.Drive(&suite.Bench{Session: s, Seed: seed, CaseID: c.ID, Notes: noted})
	require.NoError(t, d.Close())
	return noted, d.Info()
}

// lines are paces as a file has them.
func lines(paces []suite.RecordedPace) []string {
	var all []string
	for _, r := range paces {
		all = append(all, r.String())
	}
	return all
}
