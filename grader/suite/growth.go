package suite

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"cudalab/grader/measure"
)

// How much dearer an operation may be among a thousand times as many things. A search through all of them is some
// thousand times as dear; what is independent of their number is not, but meets the processor's caches, which on
// ordinary machines costs up to five times.
const (
	GrowthPasses = 8  // up to here the cost does not grow
	GrowthFails  = 30 // from here on it does; between the two lies a remark

	growthBeyondDoubt = 5 * GrowthFails // no chance of the machine's explains it: more samples would change nothing
)

// The series of a growth measurement, in nanoseconds for growthUnit operations.
const (
	seriesFew       = "few"
	seriesMany      = "many"
	seriesReference = "solution"
	growthUnit      = 1000
)

// Bounds on a growth measurement.
const (
	growthSamples = 9                     // at most
	growthChunk   = 100                   // operations between two looks at the clock
	growthOps     = 100_000               // in one sample at most, so that it gets around among as many things
	growthOpsFew  = 20_000                // and among few
	growthBudget  = 40 * time.Millisecond // of CPU time, after which a sample ends with what it has
)

// monotonic is a clock for systems that do not tell a thread's CPU time.
func monotonic() int64 { return int64(time.Since(start)) }

var start = time.Now()

// Growth times an operation of the host's alone, among few and among many things, and the solution's among many: each
// function carries its operation out so many times; solution is nil where there is none. Times are CPU time of this
// thread, with the collector off; samples take turns, and JudgeGrowth takes the least of each. It ends early where, cold or
// warm, even the dearest of the many is far from GrowthPasses times the cheapest of the few, and where even the cheapest of
// the many is far beyond GrowthFails times the dearest of the few. The first error ends it as well; it is noted as an
// outcome.
func (b *Bench) Growth(few, many, solution func(operations int) error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	order := rand.New(rand.NewPCG(b.Seed, uint64(b.Attempt)+1))
	contenders := []Contender{
		{Name: seriesFew, Run: func() error { return few(growthChunk) }},
		{Name: seriesMany, Run: func() error { return many(growthChunk) }},
	}
	if solution != nil {
		contenders = append(contenders, Contender{Name: seriesReference, Run: func() error { return solution(growthChunk) }})
	}
	samples := map[string][]int64{}
	for round := range growthSamples + 1 { // the first only warms up
		if round > 1 && decided(samples[seriesFew], samples[seriesMany]) {
			return
		}
		for _, i := range order.Perm(len(contenders)) {
			took, ok := b.sampleGrowth(contenders[i])
			if !ok {
				return
			}
			name := contenders[i].Name
			samples[name] = append(samples[name], took)
			if round > 0 {
				b.Notes.Sample(name, took)
			}
		}
	}
}

// sampleGrowth is the CPU time of growthUnit operations, measured over as many as the budget allows.
func (b *Bench) sampleGrowth(c Contender) (nanoseconds int64, ok bool) {
	o := Outcome{Label: c.Name}
	operations := growthOps
	if c.Name == seriesFew {
		operations = growthOpsFew
	}
	began := threadTime()
	for done := growthChunk; ; done += growthChunk {
		o.keep(guard(&o, c.Run))
		if !o.OK() {
			b.Notes.Outcome(o)
			return 0, false
		}
		if took := threadTime() - began; done >= operations || took > int64(growthBudget) {
			return took * growthUnit / int64(done), true
		}
	}
}

// decided reports whether further samples would change nothing.
func decided(few, many []int64) bool {
	return 2*slices.Max(many) <= GrowthPasses*slices.Min(few) || slices.Min(many) >= growthBeyondDoubt*slices.Max(few)
}

// GrowthWords are a lesson's own words about growth.
type GrowthWords struct {
	Operation string // "an Alloc and a Free"
	Few, Many string // "100 blocks", "100,000 blocks"
	Why, Fix  string
}

// JudgeGrowth says whether an operation costs the same among few and many things. It fails only what is beyond
// GrowthFails with the dearest of the few held against the cheapest of the many, and unless it is beyond doubt asks for a
// second run before it.
func JudgeGrowth(notes *CaseNotes, w GrowthWords) Answer {
	few, many := notes.Samples[seriesFew], notes.Samples[seriesMany]
	if len(few) == 0 || len(many) == 0 || slices.Min(few) <= 0 {
		return Answer{Skip: "No time could be measured."}
	}
	growth := measure.Interval{
		Value: ratio(slices.Min(many), slices.Min(few)),
		Low:   ratio(slices.Min(many), slices.Max(few)),
		High:  ratio(slices.Max(many), slices.Min(few)),
	}
	each := func(name string, samples []int64) Measurement {
		low := float64(slices.Min(samples)) / growthUnit
		return Measurement{Name: name, Unit: "ns", Value: low, Low: low, High: float64(slices.Max(samples)) / growthUnit}
	}
	cheap, dear := each("time with "+w.Few, few), each("time with "+w.Many, many)
	a := Answer{
		Message: fmt.Sprintf("%.0f ns for %s with %s, %.0f ns with %s: the cost does not grow with their number.",
			cheap.Value, w.Operation, w.Few, dear.Value, w.Many),
		Measurements: []Measurement{Figure("growth", "x", growth, GrowthPasses), cheap, dear},
	}
	if solution := notes.Samples[seriesReference]; len(solution) > 0 {
		a.Measurements = append(a.Measurements, each("the solution's time with "+w.Many, solution))
	}
	if growth.Value <= GrowthPasses {
		return a
	}
	f := Finding{
		Rule: "grows", Severity: Remark, Record: -1, Function: "Alloc",
		Message: fmt.Sprintf("With %s, %s should take about as long as with %s, but took %.0f ns instead of %.0f, which is %.0f times as long.",
			w.Many, w.Operation, w.Few, dear.Value, cheap.Value, growth.Value),
		Why: w.Why, Fix: w.Fix,
	}
	if growth.Low >= GrowthFails {
		f.Severity, a.Confirm = Error, growth.Low < growthBeyondDoubt
	} else {
		a.Message = "The cost grows somewhat with the number of blocks."
	}
	a.Findings = []Finding{f}
	return a
}

func ratio(a, b int64) float64 { return float64(a) / float64(b) }
