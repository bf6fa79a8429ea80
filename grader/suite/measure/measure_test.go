package measure_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/measure"
)

func TestMedianOf(t *testing.T) {
	require.Equal(t, measure.Interval{}, measure.MedianOf(nil))
	require.Equal(t, measure.Interval{Value: 7, Low: 7, High: 7}, measure.MedianOf([]int64{7}))
	require.Equal(t, 2.5, measure.MedianOf([]int64{4, 1, 2, 3}).Value)
	require.Equal(t, 2.0, measure.MedianOf([]int64{3, 1, 2}).Value)
}

func TestSameSamplesSameFigures(t *testing.T) {
	a, b := noisy(1, 30, 1000), noisy(2, 30, 900)
	require.Equal(t, measure.RatioOf(a, b), measure.RatioOf(a, b))
}

func TestRatioCancelsWhatSlowsAWholeRound(t *testing.T) {
	var a, b []int64
	for round := range int64(20) {
		slow := 1 + round%5
		a, b = append(a, 300*slow), append(b, 200*slow)
	}
	require.Equal(t, measure.Interval{Value: 1.5, Low: 1.5, High: 1.5}, measure.RatioOf(a, b))
}

func TestRatioIgnoresIncompleteRounds(t *testing.T) {
	require.Equal(t, 2.0, measure.RatioOf([]int64{4, 4, 9}, []int64{2, 2}).Value)
	require.Equal(t, measure.Interval{}, measure.RatioOf([]int64{4}, []int64{0}))
}

func TestAgainst(t *testing.T) {
	v := measure.Interval{Value: 1.6, Low: 1.4, High: 1.7}
	require.Equal(t, measure.Within, v.Against(1.6))
	require.Equal(t, measure.Unclear, v.Against(1.5))
	require.Equal(t, measure.Beyond, v.Against(1.3))
}

// TestIntervalHoldsTheTruth draws samples whose true median is known: a 99 % interval may miss it only rarely.
func TestIntervalHoldsTheTruth(t *testing.T) {
	const trials, truth = 200, 1000
	missed := 0
	for trial := range uint64(trials) {
		v := measure.MedianOf(noisy(trial, 25, truth))
		if v.Low > truth || v.High < truth {
			missed++
		}
	}
	require.LessOrEqual(t, missed, 10, "of %d intervals", trials)
}

// noisy draws n samples around a median, with the occasional stall of a busy machine.
func noisy(seed uint64, n int, median int64) []int64 {
	r := rand.New(rand.NewPCG(seed, 0))
	samples := make([]int64, n)
	for i := range samples {
		samples[i] = median + int64(r.NormFloat64()*20)
		if r.IntN(20) == 0 {
			samples[i] *= 5
		}
	}
	return samples
}
