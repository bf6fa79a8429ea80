package suites_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/measure"
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

// paceSeeds is how many workloads are drawn of each timed case.
const paceSeeds = 8

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
			if *recordPaces {
				kept := slices.DeleteFunc(recorded, same)
				require.NoError(t, os.WriteFile(path, []byte(paceText(append(kept, got...))), 0o644))
				return
			}
			recorded = slices.DeleteFunc(recorded, func(r suite.RecordedPace) bool { return !same(r) })
			if *paceDevice == "sim" {
				require.Equal(t, paceText(recorded), paceText(got), "record them again with -record-paces if that is meant")
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
	ratios := map[string][]measure.Interval{}
	var info device.Info
	for seed := range uint64(paceSeeds) {
		for i := range s.Cases {
			if c := &s.Cases[i]; c.Timed {
				var noted samples
				noted, info = runTimed(t, c, seed+1)
				for series, solution := range noted {
					if name, ok := strings.CutSuffix(series, suite.Solution); ok && noted[name+suite.Baseline] != nil {
						function := strings.TrimSuffix(name, ": ")
						ratios[function] = append(ratios[function], measure.RatioOf(solution, noted[name+suite.Baseline]))
					}
				}
			}
		}
	}
	var all []suite.RecordedPace
	for _, function := range slices.Sorted(maps.Keys(ratios)) {
		r := suite.RecordedPace{Kind: string(info.Kind), Name: info.Name, Function: function}
		var values []float64
		for i, v := range ratios[function] {
			values = append(values, v.Value)
			if i == 0 || v.Low < r.Low {
				r.Low = v.Low
			}
			r.High = max(r.High, v.High)
		}
		slices.Sort(values)
		r.Value = values[len(values)/2]
		all = append(all, r)
	}
	return all
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

func paceText(paces []suite.RecordedPace) string {
	var b strings.Builder
	b.WriteString("# The solution's time over the baseline's: device, function, median, least, most. Written by\n" +
		"# go test ./grader/suites -run TestPaces -record-paces -device sim (or gpu)\n")
	for _, r := range paces {
		fmt.Fprintln(&b, r)
	}
	return b.String()
}
