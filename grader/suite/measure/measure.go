// Package measure turns interleaved samples into figures that a verdict can rest on: medians, ratios of samples taken
// in the same round, and bootstrap intervals around them. It is deterministic: the same samples give the same figures.
package measure

import (
	"math/rand/v2"
	"slices"
)

// Interval is a figure with the 99 % bootstrap interval around it.
type Interval struct{ Value, Low, High float64 }

// Side is where an interval lies relative to a limit.
type Side int

// Within: the figure does not exceed the limit. Unclear: it does, but the interval does not exclude that it should
// not. Beyond: the whole interval exceeds the limit.
const (
	Within Side = iota
	Unclear
	Beyond
)

// Against says where the interval lies.
func (v Interval) Against(limit float64) Side {
	switch {
	case v.Value <= limit:
		return Within
	case v.Low > limit:
		return Beyond
	}
	return Unclear
}

// resamples is how many bootstrap samples an interval is made of; 99 % of 1,000 leaves five on either side.
const resamples = 1000

// MedianOf is the median of samples with its interval. No samples give the zero Interval.
func MedianOf(samples []int64) Interval {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = float64(s)
	}
	return bootstrap(values)
}

// RatioOf is the median over rounds of a's time divided by b's in the same round, with its interval: what slows a
// whole round slows both, and cancels. Rounds that either side lacks are ignored.
func RatioOf(a, b []int64) Interval { return bootstrap(ratios(a, b)) }

// ratios are the rounds' ratios.
func ratios(a, b []int64) []float64 {
	n := min(len(a), len(b))
	values := make([]float64, 0, n)
	for i := range n {
		if b[i] > 0 {
			values = append(values, float64(a[i])/float64(b[i]))
		}
	}
	return values
}

// bootstrap is the median of values with its interval.
func bootstrap(values []float64) Interval {
	if len(values) == 0 {
		return Interval{}
	}
	draws := rand.New(rand.NewPCG(uint64(len(values)), resamples))
	figures := make([]float64, resamples)
	sample := make([]float64, len(values))
	for i := range figures {
		for j := range sample {
			sample[j] = values[draws.IntN(len(values))]
		}
		figures[i] = median(sample)
	}
	slices.Sort(figures)
	cut := resamples / 200
	return Interval{Value: median(slices.Clone(values)), Low: figures[cut], High: figures[resamples-1-cut]}
}

// median sorts values.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
