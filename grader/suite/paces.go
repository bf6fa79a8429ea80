package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cudalab/grader/suite/measure"
	"cudalab/grader/suite/verdict"
)

// PaceSeeds is how many workloads a pace is recorded over: those of the seeds from 1 on.
const PaceSeeds = 8

// PacesOf makes paces of what a Race has noted of the solution and the baseline on one device, once for each seed, by the
// names of the series. There is one for each function that was timed, in order.
func (s *Suite) PacesOf(d verdict.Device, noted []map[string][]int64) []RecordedPace {
	ratios := map[string][]measure.Interval{}
	for _, samples := range noted {
		for series, solution := range samples {
			name, ok := strings.CutSuffix(series, verdict.Solution)
			if baseline := samples[name+Baseline]; ok && len(baseline) > 0 {
				function := strings.TrimSuffix(name, ": ")
				ratios[function] = append(ratios[function], measure.RatioOf(solution, baseline))
			}
		}
	}
	var all []RecordedPace
	for _, function := range slices.Sorted(maps.Keys(ratios)) {
		r := RecordedPace{Kind: d.Kind, Name: d.Name, Function: function}
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

// AddPaces puts paces of one device into the text of a paces.txt, in the place of what that had of the device.
func AddPaces(text string, paces []RecordedPace) (string, error) {
	recorded, err := ReadPaces(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			b.WriteString(strings.TrimSpace(line) + "\n")
		}
	}
	replaced := func(r RecordedPace) bool {
		return slices.ContainsFunc(paces, func(p RecordedPace) bool { return p.Kind == r.Kind && p.Name == r.Name })
	}
	at := slices.IndexFunc(recorded, replaced)
	if at < 0 {
		at = len(recorded)
	}
	for _, r := range slices.Insert(slices.DeleteFunc(recorded, replaced), at, paces...) {
		fmt.Fprintln(&b, r)
	}
	return b.String(), nil
}
