package allocator

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// samples is a case's notes as growth makes them.
type samples struct{ verdict.CaseNotes }

func (s *samples) Outcome(o verdict.Outcome)       { s.Outcomes = append(s.Outcomes, o) }
func (s *samples) Value(name string, vs ...uint64) { s.Values[name] = append(s.Values[name], vs...) }
func (s *samples) Sample(series string, n int64)   { s.Samples[series] = append(s.Samples[series], n) }

// timing is a Bench that keeps its samples.
func timing() (*suite.Bench, *samples) {
	s := &samples{verdict.CaseNotes{Samples: map[string][]int64{}, Values: map[string][]uint64{}}}
	return &suite.Bench{Session: session.New(sim.New(sim.Options{})), Notes: s}, s
}

// manyBlocks are a thousand times as many as few.
const (
	fewBlocks  = 100
	manyBlocks = 100_000
)

// counting is a load whose operation takes so many steps; filled are the numbers of blocks it was filled with.
type counting struct {
	steps    func(blocks int) int
	fails    func() error // instead of working, where not nil
	unfilled error
	filled   []int
	done     int
}

func (c *counting) Fill(blocks int) error {
	if c.unfilled == nil {
		c.filled = append(c.filled, blocks)
	}
	return c.unfilled
}

func (c *counting) Work(operations int) error {
	if c.fails != nil {
		return c.fails()
	}
	for range operations * c.steps(c.filled[len(c.filled)-1]) {
		c.done++
	}
	return nil
}

func cheap(int) int { return 100 }

// grow are the samples of an operation that takes so many steps among blocks, and what the many were filled with.
func grow(t *testing.T, steps func(blocks int) int) (*samples, []int) {
	b, s := timing()
	many := &counting{steps: steps}
	require.True(t, growth(b, fewBlocks, manyBlocks, [2]growing{&counting{steps: cheap}, many}, func() (growing, error) {
		return &counting{steps: cheap}, nil
	}))
	for _, o := range s.Outcomes {
		require.True(t, o.OK())
	}
	return s, many.filled
}

func TestGrowthSamplesFewAndManyAlike(t *testing.T) {
	s, filled := grow(t, cheap)
	require.Equal(t, manyBlocks, filled[len(filled)-1])
	n := len(s.Samples[few])
	require.Positive(t, n)
	require.LessOrEqual(t, n, growthRounds)
	require.Len(t, s.Samples[many], n)
	require.Empty(t, s.Samples[verdict.Solution], "nobody is to wait for it whose cost does not grow")
}

func TestGrowthDoesNotEndEarlyWhereTheCostGrows(t *testing.T) {
	// far from where either end is certain, whatever the machine does
	s, filled := grow(t, func(int) int { return 100 * 3 * growthPasses / 2 })
	require.Len(t, s.Samples[many], growthRounds)
	require.Len(t, s.Samples[verdict.Solution], 1)
	require.Equal(t, manyBlocks, filled[len(filled)-1])
}

// A search through all blocks is seen long before there are so many, and told of with their number.
func TestGrowthNeedsFewOfTheManyWhereTheCostGrowsFast(t *testing.T) {
	s, filled := grow(t, func(blocks int) int { return 10 * blocks })
	some := filled[len(filled)-1]
	require.Less(t, some, manyBlocks)
	a := judgeGrowth(&s.CaseNotes, GrowthWords{Operation: "an Alloc", Things: "blocks"})
	require.Equal(t, verdict.Error, a.Findings[0].Severity)
	require.Contains(t, a.Findings[0].Message, "With "+grouped(uint64(some))+
		" blocks, an Alloc should take about as long as with 100 blocks")
}

func TestGrowthEndsAtTheFirstError(t *testing.T) {
	full := errors.New("full")
	b, s := timing()
	solution := func() (growing, error) {
		require.Fail(t, "there is nothing to compare with")
		return nil, nil
	}
	require.False(t, growth(b, fewBlocks, manyBlocks,
		[2]growing{&counting{steps: cheap}, &counting{fails: func() error { return full }}}, solution))
	require.Equal(t, "full", s.Outcomes[len(s.Outcomes)-1].Err)

	b, s = timing()
	require.False(t, growth(b, fewBlocks, manyBlocks, [2]growing{&counting{steps: cheap}, &counting{unfilled: full}}, nil))
	require.Equal(t, "full", s.Outcomes[len(s.Outcomes)-1].Err)
	require.Empty(t, s.Samples)
}

func TestJudgeGrowth(t *testing.T) {
	words := GrowthWords{Operation: "an Alloc", Things: "blocks", Why: "Why.", Fix: "Fix."}
	for name, c := range map[string]struct {
		few, many []int64
		severity  verdict.Severity // "" for a pass without a word
		again     suite.Again
	}{
		"flat":         {[]int64{10_000, 11_000}, []int64{12_000, 90_000}, "", suite.NotAgain},
		"at the limit": {[]int64{10_000, 10_000}, []int64{80_000, 80_000}, "", suite.NotAgain},
		"between": {[]int64{10_000, 11_000}, []int64{200_000, 210_000}, verdict.Remark,
			suite.NotAgain}, "beyond, some of the few disturbed": {[]int64{10_000, 40_000}, []int64{400_000, 410_000},
			verdict.Error, suite.ToConfirm},
		"some of the many disturbed": {[]int64{10_000, 11_000}, []int64{75_000, 410_000}, "", suite.NotAgain},
		"beyond": {[]int64{10_000, 11_000}, []int64{1_000_000, 1_100_000}, verdict.Error,
			suite.ToConfirm},
		"beyond doubt": {[]int64{10_000, 11_000}, []int64{4_000_000, 4_100_000}, verdict.Error, suite.NotAgain},
	} {
		t.Run(name, func(t *testing.T) {
			notes := &verdict.CaseNotes{Samples: map[string][]int64{few: c.few, many: c.many, verdict.Solution: c.few},
				Values: map[string][]uint64{noteBlocks: {fewBlocks, manyBlocks}}}
			a := judgeGrowth(notes, words)
			require.Equal(t, c.again, a.Again)
			require.Len(t, a.Measurements, 4)
			if c.severity == "" {
				require.Empty(t, a.Findings)
				return
			}
			require.Len(t, a.Findings, 1)
			require.Equal(t, c.severity, a.Findings[0].Severity)
		})
	}
	require.NotEmpty(t, judgeGrowth(&verdict.CaseNotes{}, words).Skip)
}
