package suite_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

const paces = `# a comment
sim "simulated NVIDIA H200" "" 0.25 0.25 0.25
gpu "NVIDIA H200" "" 0.2 0.19 0.21
gpu "NVIDIA H100 PCIe" "" 0.4 0.38 0.42
gpu "NVIDIA H100 SXM" "" 0.3 0.29 0.31
sim "simulated NVIDIA H200" "Share" 0.5 0.5 0.5
`

// race is the notes of two rounds.
func race(prefix string, yours, solution, baseline int64) *verdict.CaseNotes {
	n := &verdict.CaseNotes{Samples: map[string][]int64{}}
	for range 2 {
		n.Samples[prefix+verdict.Yours] = append(n.Samples[prefix+verdict.Yours], yours)
		n.Samples[prefix+suite.Baseline] = append(n.Samples[prefix+suite.Baseline], baseline)
		if solution > 0 {
			n.Samples[prefix+verdict.Solution] = append(n.Samples[prefix+verdict.Solution], solution)
		}
	}
	return n
}

func TestPace(t *testing.T) {
	q := suite.Pacing{Versus: "the baseline", Limit: 1.5, Recorded: paces}
	share := q
	share.Function = "Share"
	sim := verdict.Device{Kind: "sim", Name: "simulated NVIDIA H200"}
	gpu := func(name string) verdict.Device { return verdict.Device{Kind: "gpu", Name: name} }
	for name, c := range map[string]struct {
		device    verdict.Device
		q         suite.Pacing
		notes     *verdict.CaseNotes
		ratio     float64
		low, high float64
		slow      bool
		unclear   bool
		remark    string // the device whose pace is used in place of this one's
	}{
		"beside the solution": {device: sim, q: q, notes: race("", 300, 100, 400), ratio: 3, low: 3, high: 3,
			slow: true},
		"the solution goes first": {device: sim, q: q, notes: race("", 100, 100, 800), ratio: 1, low: 1, high: 1},
		"recorded, as fast":       {device: sim, q: q, notes: race("", 100, 0, 400), ratio: 1, low: 1, high: 1},
		"recorded, too slow":      {device: sim, q: q, notes: race("", 200, 0, 400), ratio: 2, low: 2, high: 2, slow: true},
		"recorded, of a function": {device: sim, q: share, notes: race("Share: ", 200, 0, 400), ratio: 1, low: 1, high: 1},
		"recorded with its bounds": {device: gpu("NVIDIA H200"), q: q, notes: race("", 90, 0, 400), ratio: 1.125, low: 1.071,
			high: 1.184},
		"unclear, since the bounds are": {device: gpu("NVIDIA H100 SXM"), q: q, notes: race("", 184, 0, 400), ratio: 1.533,
			low: 1.484, high: 1.586,
			unclear: true},
		"the GPU that begins alike": {device: gpu("NVIDIA H200 NVL"), q: q, notes: race("", 160, 0, 400), ratio: 2,
			low: 1.270, high: 3.158,
			unclear: true, remark: "NVIDIA H200"},
		"of several the one with the most time": {device: gpu("NVIDIA H100 NVL"), q: q, notes: race("", 480, 0, 400),
			ratio: 3, low: 1.905, high: 4.737,
			slow: true, remark: "NVIDIA H100 PCIe"},
		"no GPU at all": {device: gpu("NVIDIA A100"), q: share, notes: race("Share: ", 400, 0, 400), ratio: 2, low: 1.333,
			high:    3,
			unclear: true, remark: "simulated NVIDIA H200"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &suite.Evidence{Device: c.device}
			p, ok := e.Pace(c.notes, c.q)
			require.True(t, ok)
			require.InDelta(t, c.ratio, p.Ratio.Value, 0.001)
			require.InDelta(t, c.low, p.Ratio.Low, 0.001)
			require.InDelta(t, c.high, p.Ratio.High, 0.001)
			require.Equal(t, c.slow, p.TooSlow(c.q))
			require.Equal(t, c.q.Limit, p.Measurements[0].Limit)
			require.Len(t, p.Measurements, 5)
			var rules []string
			for _, f := range p.Remarks {
				rules = append(rules, f.Rule)
				require.Equal(t, verdict.Remark, f.Severity)
			}
			require.Equal(t, c.unclear, slices.Contains(rules, "time-unclear"))
			require.Equal(t, c.remark != "", slices.Contains(rules, "recorded-elsewhere"))
			if c.remark != "" {
				require.Contains(t, p.Remarks[0].Message, "was not recorded on the "+c.device.Name)
				require.Contains(t, p.Remarks[0].Message, "what the "+c.remark+" showed")
			}
		})
	}
	_, ok := (&suite.Evidence{Device: sim}).Pace(race("", 100, 0, 400), suite.Pacing{Limit: 1.5})
	require.False(t, ok, "without a solution and without a record nothing can be said")
}

// What the machine does besides may put both sides of the limit into the interval: then a fresh run may tell. Bounds
// that were recorded stay as they are.
func TestUnclearTimesAreTakenAgain(t *testing.T) {
	for name, c := range map[string]struct {
		slow, fast int // rounds
		recorded   bool
		again      suite.Again
	}{
		"fast":                               {0, 9, false, suite.NotAgain},
		"slow in some rounds":                {3, 6, false, suite.NotAgain},
		"slow in most":                       {6, 3, false, suite.ToTell},
		"slow in most, beside what was kept": {6, 3, true, suite.NotAgain},
		"slow":                               {9, 0, false, suite.ToConfirm},
	} {
		t.Run(name, func(t *testing.T) {
			notes := &verdict.CaseNotes{Samples: map[string][]int64{verdict.Yours: slices.Concat(slices.Repeat([]int64{190},
				c.slow), slices.Repeat([]int64{100}, c.fast)),
				suite.Baseline: slices.Repeat([]int64{400}, 9)}}
			if !c.recorded {
				notes.Samples[verdict.Solution] = slices.Repeat([]int64{100}, 9)
			}
			e := &suite.Evidence{Device: verdict.Device{Kind: "gpu", Name: "NVIDIA H100 SXM"}}
			a := e.JudgeSpeed(notes, suite.SpeedWords{Pacing: suite.Pacing{Limit: 1.5, Recorded: paces}, Passed: "%.1f, %.1f"})
			require.Equal(t, c.again, a.Again)
		})
	}
}

func TestReadPaces(t *testing.T) {
	all, err := suite.ReadPaces(paces)
	require.NoError(t, err)
	require.Len(t, all, 5)
	again, err := suite.ReadPaces(all[4].String())
	require.NoError(t, err)
	require.Equal(t, all[4:], again)
	for _, bad := range []string{"gpu", `gpu "a" "" 1 2 3`, `gpu "a" "" 0 0 0`, `gpu "a" "" x y z`} {
		_, err := suite.ReadPaces(bad)
		require.Error(t, err, bad)
	}
}

// What a race has noted of the student's code comes before any figure.
func TestSpeedPartTellsFlaws(t *testing.T) {
	p := suite.SpeedPart("fast", "1a", "Run", func(*suite.Bench, suite.Sides[int]) {}, suite.SpeedWords{},
		suite.Flaw{Note: "other", Message: func(uint64) string { return "never noted" }},
		suite.Flaw{Note: "missing", Message: func(n uint64) string { return fmt.Sprintf("%d are missing.", n) }})
	judge := func(missing ...uint64) suite.Answer {
		notes := &verdict.CaseNotes{ID: "speed", Values: map[string][]uint64{"missing": missing}}
		return p.Judge(&suite.Evidence{Cases: map[string]*verdict.CaseNotes{"speed": notes}})
	}
	require.Equal(t, "No time could be measured.", judge(0).Skip)
	require.Equal(t, "3 are missing.", judge(0, 3).Findings[0].Message)
}
