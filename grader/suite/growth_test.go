package suite

import (
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/session"
	"cudalab/native/sim"
)

// samples is a case's notes as Growth makes them.
type samples struct {
	CaseNotes
}

func (s *samples) Outcome(o Outcome)             { s.Outcomes = append(s.Outcomes, o) }
func (s *samples) Value(name string, v uint64)   { s.Values[name] = append(s.Values[name], v) }
func (s *samples) Sample(series string, n int64) { s.Samples[series] = append(s.Samples[series], n) }

// timing is a Bench that keeps its samples.
func timing() (*Bench, *samples) {
	s := &samples{CaseNotes{Samples: map[string][]int64{}, Values: map[string][]uint64{}}}
	return &Bench{Session: session.New(sim.New(sim.Options{})), Notes: s}, s
}

// manyThings are a thousand times as many as few.
const (
	fewThings  = 100
	manyThings = 100_000
)

// counting is a load whose operation takes so many steps; filled are the numbers of things it was filled with.
type counting struct {
	steps  func(things int) int
	filled []int
	done   int
}

func (c *counting) load(things int) Load {
	return Load{
		Things: things,
		Fill: func(things int) error {
			c.filled = append(c.filled, things)
			return nil
		},
		Work: func(operations int) error {
			for range operations * c.steps(c.filled[len(c.filled)-1]) {
				c.done++
			}
			return nil
		},
	}
}

func cheap(int) int { return 100 }

// grown are the samples of an operation that takes so many steps among things, and what the many were filled with.
func grown(t *testing.T, steps func(things int) int) (*samples, []int) {
	b, s := timing()
	many := counting{steps: steps}
	solution := (&counting{steps: cheap}).load(manyThings)
	require.True(t, b.Growth("things", (&counting{steps: cheap}).load(fewThings), many.load(manyThings), &solution))
	for _, o := range s.Outcomes {
		require.True(t, o.OK())
	}
	return s, many.filled
}

func TestGrowthSamplesEverySeriesAlike(t *testing.T) {
	s, filled := grown(t, cheap)
	require.Equal(t, manyThings, filled[len(filled)-1])
	n := len(s.Samples[seriesFew])
	require.Positive(t, n)
	require.LessOrEqual(t, n, growthSamples)
	require.Len(t, s.Samples[seriesMany], n)
	require.Len(t, s.Samples[seriesReference], n)
}

func TestGrowthDoesNotEndEarlyWhereTheCostGrows(t *testing.T) {
	s, filled := grown(t, func(int) int { return 100 * 4 * GrowthPasses })
	require.Len(t, s.Samples[seriesMany], growthSamples)
	require.Equal(t, manyThings, filled[len(filled)-1])
}

// A search through all things is seen long before there are so many, and told of with their number.
func TestGrowthNeedsFewOfTheManyWhereTheCostGrowsFast(t *testing.T) {
	s, filled := grown(t, func(things int) int { return 10 * things })
	some := filled[len(filled)-1]
	require.Less(t, some, manyThings)
	a := JudgeGrowth(&s.CaseNotes, GrowthWords{Operation: "an Alloc", Things: "blocks"})
	require.Equal(t, Error, a.Findings[0].Severity)
	require.Contains(t, a.Findings[0].Message, "With "+grouped(uint64(some))+" blocks, an Alloc should take about as long as with 100 blocks")
}

func TestGrowthEndsAtTheFirstError(t *testing.T) {
	b, s := timing()
	full := (&counting{steps: cheap}).load(manyThings)
	full.Work = func(int) error { return errors.New("full") }
	solution := counting{steps: cheap}
	load := solution.load(manyThings)
	require.False(t, b.Growth("things", (&counting{steps: cheap}).load(fewThings), full, &load))
	require.Equal(t, "full", s.Outcomes[len(s.Outcomes)-1].Err)
	require.Empty(t, solution.filled, "there is nothing to compare with, so nobody may close it")

	b, s = timing()
	full.Fill = full.Work
	require.False(t, b.Growth("things", (&counting{steps: cheap}).load(fewThings), full, nil))
	require.Equal(t, "full", s.Outcomes[len(s.Outcomes)-1].Err)
	require.Empty(t, s.Samples)
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
	words := GrowthWords{Operation: "an Alloc", Things: "blocks", Why: "Why.", Fix: "Fix."}
	for name, c := range map[string]struct {
		few, many []int64
		severity  Severity // "" for a pass without a word
		confirm   bool
	}{
		"flat":                              {[]int64{10_000, 11_000}, []int64{12_000, 90_000}, "", false},
		"at the limit":                      {[]int64{10_000, 10_000}, []int64{80_000, 80_000}, "", false},
		"between":                           {[]int64{10_000, 11_000}, []int64{200_000, 210_000}, Remark, false},
		"beyond, some of the few disturbed": {[]int64{10_000, 40_000}, []int64{400_000, 410_000}, Error, true},
		"some of the many disturbed":        {[]int64{10_000, 11_000}, []int64{75_000, 410_000}, "", false},
		"beyond":                            {[]int64{10_000, 11_000}, []int64{1_000_000, 1_100_000}, Error, true},
		"beyond doubt":                      {[]int64{10_000, 11_000}, []int64{4_000_000, 4_100_000}, Error, false},
	} {
		t.Run(name, func(t *testing.T) {
			notes := &CaseNotes{Samples: map[string][]int64{seriesFew: c.few, seriesMany: c.many, seriesReference: c.few},
				Values: map[string][]uint64{noteThings: {fewThings, manyThings}}}
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
