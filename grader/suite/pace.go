package suite

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"cudalab/grader/suite/measure"
	"cudalab/grader/suite/verdict"
)

// SpeedWords are a lesson's own words about the time that its code takes.
type SpeedWords struct {
	Pacing
	Passed      string // the sentence for a pass, a format for the ratio and the speedup of a Pace
	Work, Takes string // what is too slow, and its verb: "32 batches on 4 streams", "take"
	Why, Fix    string
}

// JudgeSpeed says whether the student's code takes at most so many times as long as the solution.
func (e *Evidence) JudgeSpeed(notes *verdict.CaseNotes, w SpeedWords) Answer {
	pace, ok := e.Pace(notes, w.Pacing)
	if !ok {
		return Answer{Skip: "No time could be measured."}
	}
	a := Answer{
		Message:      fmt.Sprintf(w.Passed, pace.Ratio.Value, pace.Speedup.Value),
		Findings:     pace.Remarks,
		Measurements: pace.Measurements,
		Again:        pace.Again,
	}
	if pace.TooSlow(w.Pacing) {
		a.Again = ToConfirm
		a.Findings = append(a.Findings, verdict.Finding{
			Rule: "too-slow", Severity: verdict.Error, Record: -1, Function: w.Function,
			Message: fmt.Sprintf("%s should take at most %.3g times as long as the solution's, but %s %.1f times as long (%.1f "+
				"to %.1f).",
				w.Work, w.Limit, w.Takes, pace.Ratio.Value, pace.Ratio.Low, pace.Ratio.High),
			Why: w.Why, Fix: w.Fix,
		})
	}
	return a
}

// Pacing says what a timed case is judged by.
type Pacing struct {
	// Function is the one whose series are meant, where a case times several: "Share".
	Function string
	Versus   string // the baseline in plain words: "the synchronous baseline"
	Limit    float64
	Beside   string // a contender that is shown beside the others, and nobody is judged by; "" for none
	// Recorded is what the solution took where it was at hand, in the form of ReadPaces: in a handout, which holds no
	// solution, the student's time is held against the baseline's and this.
	Recorded string
}

// Pace is how the student's time compares with others'.
type Pace struct {
	Ratio        measure.Interval // over the solution's time
	Speedup      measure.Interval // of the baseline's time over the student's
	Measurements []verdict.Measurement
	// Remarks say what one has to know of Ratio: that it is unclear, or what it rests on.
	Remarks []verdict.Finding
	// Again is ToTell where the ratio lies beyond the limit, may lie below it, and other samples may tell.
	Again Again
}

// TooSlow reports whether all of the interval lies beyond the limit.
func (p *Pace) TooSlow(q Pacing) bool { return p.Ratio.Against(q.Limit) == measure.Beyond }

// Pace makes figures of what a Race has noted. It is not ok where there are none.
func (e *Evidence) Pace(notes *verdict.CaseNotes, q Pacing) (p Pace, ok bool) {
	prefix := SeriesOf(q.Function, "")
	yours, solution, baseline := notes.Samples[prefix+verdict.Yours], notes.Samples[prefix+verdict.Solution],
		notes.Samples[prefix+Baseline]
	if len(yours) == 0 || len(baseline) == 0 {
		return Pace{}, false
	}
	p.Ratio, p.Speedup = measure.RatioOf(yours, solution), measure.RatioOf(baseline, yours)
	var recorded paceFound
	if len(solution) == 0 {
		if recorded, ok = findPace(q.Recorded, q.Function, e.Device); !ok {
			return Pace{}, false
		}
		p.Ratio = recorded.overSolution(measure.RatioOf(yours, baseline))
		p.Remarks = recorded.remarks(e.Device)
	}
	if p.Ratio.Against(q.Limit) == measure.Unclear {
		p.Remarks = append(p.Remarks, unclear(q, p.Ratio))
		if len(solution) > 0 && p.Ratio.Value > q.Limit {
			p.Again = ToTell
		}
	}
	p.Measurements = []verdict.Measurement{
		Figure(prefix+"time / solution's time", "x", p.Ratio, q.Limit),
		Figure(prefix+"speedup over "+q.Versus, "x", p.Speedup, 0),
		Microseconds(prefix+"your time", yours),
	}
	if len(solution) > 0 {
		p.Measurements = append(p.Measurements, Microseconds(prefix+"the solution's time", solution))
	} else {
		p.Measurements = append(p.Measurements, Figure(prefix+"solution's time / baseline's time, as recorded", "x",
			recorded.interval(), 0))
	}
	p.Measurements = append(p.Measurements, Microseconds(prefix+"the baseline's time", baseline))
	if beside := notes.Samples[prefix+q.Beside]; q.Beside != "" && len(beside) > 0 {
		p.Measurements = append(p.Measurements, Microseconds(prefix+"the time with "+q.Beside, beside))
	}
	return p, true
}

// unclear is the remark on a ratio that may lie on either side of the limit.
func unclear(q Pacing, ratio measure.Interval) verdict.Finding {
	return verdict.Finding{
		Rule: "time-unclear", Severity: verdict.Remark, Record: -1, Function: q.Function,
		Message: fmt.Sprintf("At most %g times the solution's time is asked for. This took %.2f times as long, give or "+
			"take: it may be anything from %.2f to %.2f times, so it counts as a pass.", q.Limit, ratio.Value, ratio.Low,
			ratio.High),
		Why: "What else runs on the machine or on the GPU delays some samples and not others; only code that is too slow " +
			"for certain fails.",
		Fix: "Check again when nothing else runs. If the figure stays beyond the limit, your code is slower than it " +
			"should be.",
	}
}

// RecordedPace is what the solution was seen to take on one device, as a part of the baseline's time: the figure, and
// between which bounds it lay.
type RecordedPace struct {
	Kind, Name       string // the device's
	Function         string // as in Pacing
	Value, Low, High float64
}

// elsewhere is by how much the part of the baseline's time that the solution takes may differ between two models of
// GPU.
const elsewhere = 1.5

// paceFound is a recorded pace for a device.
type paceFound struct {
	RecordedPace
	other bool // it is another device's
}

// findPace is what was recorded on a device. For a GPU of which there is nothing it is what was recorded on the GPU
// whose name begins alike for longest, and of several such the one on which the solution took the most; failing that,
// what was recorded on the simulated device.
func findPace(text, function string, d verdict.Device) (best paceFound, ok bool) {
	all, err := ReadPaces(text)
	if err != nil {
		return paceFound{}, false // a test reads every lesson's
	}
	nearest := func(r RecordedPace) int {
		if r.Kind != d.Kind {
			return -1
		}
		return commonPrefix(r.Name, d.Name)
	}
	for _, r := range all {
		if r.Function != function {
			continue
		}
		was, is := nearest(best.RecordedPace), nearest(r)
		if !ok || is > was || is == was && r.Value > best.Value {
			best, ok = paceFound{r, r.Kind != d.Kind || r.Name != d.Name}, true
		}
	}
	return best, ok
}

// commonPrefix is how many bytes two names have in common at their beginning.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// overSolution makes the ratio over the solution's time out of that over the baseline's.
func (r paceFound) overSolution(v measure.Interval) measure.Interval {
	by := r.interval()
	return measure.Interval{Value: v.Value / by.Value, Low: v.Low / by.High, High: v.High / by.Low}
}

// interval is between what bounds the solution's part of the baseline's time lies.
func (r paceFound) interval() measure.Interval {
	v := measure.Interval{Value: r.Value, Low: r.Low, High: r.High}
	if r.other {
		v.Low, v.High = v.Low/elsewhere, v.High*elsewhere
	}
	return v
}

// remarks say what the ratio rests on where that is another device.
func (r paceFound) remarks(d verdict.Device) []verdict.Finding {
	if !r.other {
		return nil
	}
	return []verdict.Finding{{
		Rule: "recorded-elsewhere", Severity: verdict.Remark, Record: -1,
		Message: fmt.Sprintf("How the solution's time compares with the baseline's was not recorded on the %s, so what the "+
			"%s showed is used, give or take a factor of %g.", d.Name, r.Name, elsewhere),
		Why: "This copy of the course holds no solutions, so your time is held against the baseline's, and GPUs differ in " +
			"what each costs.",
		Fix: "Nothing has to be changed. Where it matters, your instructor's grading measures the solution beside your code.",
	}}
}

// Baseline is the contender that a lesson argues against.
const Baseline = "baseline"

// SeriesOf is the name under which something is noted of a function, where a case times several.
func SeriesOf(function, name string) string {
	if function == "" {
		return name
	}
	return function + ": " + name
}

// PaceSeeds is how many workloads a pace is recorded over: those of the seeds from 1 on.
const PaceSeeds = 8

// PacesOf makes paces of what a Race has noted of the solution and the baseline on one device, once for each seed, by
// the names of the series. There is one for each function that was timed, in order.
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

// ReadPaces reads what String wrote, a line each; lines that begin with # are comments.
func ReadPaces(text string) ([]RecordedPace, error) {
	var all []RecordedPace
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		var r RecordedPace
		_, err := fmt.Sscanf(line+"\n", "%s %q %q %g %g %g\n", &r.Kind, &r.Name, &r.Function, &r.Value, &r.Low, &r.High)
		if err != nil || !(0 < r.Low && r.Low <= r.Value && r.Value <= r.High && r.High < math.Inf(1)) {
			return nil, fmt.Errorf("not a pace: %q", line)
		}
		all = append(all, r)
	}
	return all, nil
}

// String is a line of the form that ReadPaces reads.
func (r RecordedPace) String() string {
	return fmt.Sprintf("%s %q %q %.4g %.4g %.4g", r.Kind, r.Name, r.Function, r.Value, r.Low, r.High)
}
