package suite

import (
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// samples is a case's notes as Growth makes them.
type samples struct {
	CaseNotes
}

func (s *samples) Outcome(o Outcome)             { s.Outcomes = append(s.Outcomes, o) }
func (s *samples) Value(string, uint64)          {}
func (s *samples) Sample(series string, n int64) { s.Samples[series] = append(s.Samples[series], n) }

// grown are the samples of an operation that is dearer by a factor among many things.
func grown(t *testing.T, factor int) *samples {
	s := &samples{CaseNotes{Samples: map[string][]int64{}}}
	b := &Bench{Notes: s}
	done := map[string]int{}
	count := func(name string, times int) func(int) error {
		return func(operations int) error {
			for range operations * times {
				done[name]++
			}
			return nil
		}
	}
	b.Growth(count("few", 1), count("many", factor), count("solution", 1))
	require.Empty(t, s.Outcomes)
	return s
}

func TestGrowthSamplesEverySeriesAlike(t *testing.T) {
	s := grown(t, 1)
	n := len(s.Samples[seriesFew])
	require.Positive(t, n)
	require.LessOrEqual(t, n, growthSamples)
	require.Len(t, s.Samples[seriesMany], n)
	require.Len(t, s.Samples[seriesReference], n)
}

func TestGrowthDoesNotEndEarlyWhereTheCostGrows(t *testing.T) {
	require.Len(t, grown(t, 4*GrowthPasses).Samples[seriesMany], growthSamples)
}

func TestGrowthEndsAtTheFirstError(t *testing.T) {
	s := &samples{CaseNotes{Samples: map[string][]int64{}}}
	nothing := func(int) error { return nil }
	(&Bench{Notes: s}).Growth(nothing, func(int) error { return errors.New("full") }, nothing)
	require.Len(t, s.Outcomes, 1)
	require.Equal(t, "full", s.Outcomes[0].Err)
}

func TestThreadTimeAdvancesWithWork(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, x := threadTime(), 1
	for i := range 10_000_000 {
		x = x*31 + i
	}
	require.NotZero(t, x)
	require.Greater(t, threadTime(), before)
}

func TestJudgeGrowth(t *testing.T) {
	words := GrowthWords{Operation: "an Alloc", Few: "few blocks", Many: "many blocks", Why: "Why.", Fix: "Fix."}
	for name, c := range map[string]struct {
		few, many []int64
		severity  Severity // "" for a pass without a word
		confirm   bool
	}{
		"flat":                           {[]int64{10_000, 11_000}, []int64{12_000, 90_000}, "", false},
		"at the limit":                   {[]int64{10_000, 10_000}, []int64{80_000, 80_000}, "", false},
		"between":                        {[]int64{10_000, 11_000}, []int64{200_000, 210_000}, Remark, false},
		"beyond, but a few were as dear": {[]int64{10_000, 40_000}, []int64{400_000, 410_000}, Remark, false},
		"beyond":                         {[]int64{10_000, 11_000}, []int64{1_000_000, 1_100_000}, Error, true},
		"beyond doubt":                   {[]int64{10_000, 11_000}, []int64{4_000_000, 4_100_000}, Error, false},
	} {
		t.Run(name, func(t *testing.T) {
			notes := &CaseNotes{Samples: map[string][]int64{seriesFew: c.few, seriesMany: c.many, seriesReference: c.few}}
			a := JudgeGrowth(notes, words)
			require.Equal(t, c.confirm, a.Confirm)
			require.Len(t, a.Measurements, 4)
			if c.severity == "" {
				require.Empty(t, a.Findings)
				return
			}
			require.Len(t, a.Findings, 1)
			require.Equal(t, c.severity, a.Findings[0].Severity)
		})
	}
	require.NotEmpty(t, JudgeGrowth(&CaseNotes{}, words).Skip)
}
