package suites_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	asyncpipelinesuite "cudalab/grader/suites/asyncpipeline"
	crossstreameventssuite "cudalab/grader/suites/crossstreamevents"
	poolconfigsuite "cudalab/grader/suites/poolconfig"
	vmmarenasuite "cudalab/grader/suites/vmmarena"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/solutions/asyncpipeline"
	"cudalab/solutions/crossstreamevents"
	"cudalab/solutions/poolconfig"
	"cudalab/solutions/vmmarena"
)

var (
	paceDevice  = flag.String("device", "sim", "the `device` on which the solutions' paces are measured: sim or gpu")
	recordPaces = flag.Bool("record-paces", false, "write what is measured to each suite's paces.txt")
)

// raced are the suites whose timed cases are judged by the solution's time.
func raced() []*suite.Suite {
	events := crossstreameventssuite.Code{Share: crossstreamevents.Share, FanOut: crossstreamevents.FanOut}
	arena := vmmarenasuite.Of(vmmarena.New)
	return []*suite.Suite{
		asyncpipelinesuite.New(asyncpipeline.Run, asyncpipeline.Run),
		poolconfigsuite.New(poolconfig.Run, poolconfig.Run),
		crossstreameventssuite.New(events, events),
		vmmarenasuite.New(arena, arena),
	}
}

// TestPaces holds each suite's paces.txt, which handouts judge by, to what the solution takes: to the digit on the
// simulator, roughly on a GPU. With -record-paces it writes them.
func TestPaces(t *testing.T) {
	for _, s := range raced() {
		t.Run(s.Exercise, func(t *testing.T) {
			path := filepath.Join(s.Package, "paces.txt")
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			recorded, err := suite.ReadPaces(string(text))
			require.NoError(t, err)
			got := paces(t, s)
			require.NotEmpty(t, got)
			same := func(r suite.RecordedPace) bool { return r.Kind == got[0].Kind && r.Name == got[0].Name }
			again, err := suite.AddPaces(string(text), got)
			require.NoError(t, err)
			if *recordPaces {
				require.NoError(t, os.WriteFile(path, []byte(again), 0o644))
				return
			}
			recorded = slices.DeleteFunc(recorded, func(r suite.RecordedPace) bool { return !same(r) })
			if *paceDevice == "sim" {
				require.Equal(t, lines(recorded), lines(got), "record them again with -record-paces if that is meant")
				return
			}
			if len(recorded) == 0 {
				t.Skipf("nothing is recorded of the %s; -record-paces does it", got[0].Name)
			}
			for i := range got {
				require.InEpsilon(t, recorded[i].Value, got[i].Value, 0.25, got[i].String())
			}
		})
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
	return s.PacesOf(suite.Device{Kind: string(info.Kind), Name: info.Name}, noted)
}

// samples are the times that a case notes.
type samples map[string][]int64

func (samples) Outcome(suite.Outcome)          {}
func (samples) Value(string, uint64)           {}
func (s samples) Sample(name string, ns int64) { s[name] = append(s[name], ns) }

// runTimed carries out one timed case as the runner does.
func runTimed(t *testing.T, c *suite.Case, seed uint64) (samples, device.Info) {
	d, err := device.Device(sim.New(sim.Options{Seed: seed})), error(nil)
	if *paceDevice != "sim" {
		d, err = session.OpenDevice(*paceDevice)
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
