package suite

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"cudalab/grader/suite/measure"
)

// How much dearer an operation may be among a thousand times as many things. A search through all of them is some
// thousand times as dear; what is independent of their number is not, but meets the processor's caches, which on
// ordinary machines costs up to five times.
const (
	GrowthPasses = 8  // up to here the cost does not grow
	GrowthFails  = 30 // from here on it does; between the two lies a remark

	growthClear       = 1.5 * GrowthFails // neither the machine nor more things would bring it back below GrowthFails
	growthBeyondDoubt = 5 * GrowthFails   // nor any chance: it needs no second run
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
	growthSamples = 9                    // of each series at most, besides one that only warms up
	growthSome    = 2                    // the same before there are as many things as there may be
	growthChunk   = 100                  // operations between two looks at the clock
	growthOps     = 50_000               // in one sample at most, so that it gets around among as many things
	growthOpsFew  = 10_000               // and among few, and of the solution
	growthBudget  = 8 * time.Millisecond // of CPU time, after which a sample ends with what it has
	growthLooks   = 3                    // chunks, to see whether sampling is worth while
)

// growthParts are the parts of the many things with which the operation may prove dear already. One that searches through
// all things does with a small part of them, and to hand out all would take it seconds.
var growthParts = []int{32, 16, 8, 6, 4, 3, 2, 1}

// noteThings are the numbers of things, few and many, that a growth was measured with.
const noteThings = "things"

// monotonic is a clock for systems that do not tell a thread's CPU time.
func monotonic() int64 { return int64(time.Since(start)) }

var start = time.Now()

// Load is what Growth times: something that holds things, and an operation on them.
type Load struct {
	Things int                        // how many it is to hold
	Fill   func(things int) error     // makes it hold so many, more each time it is called
	Work   func(operations int) error // carries out the operation so many times
}

// Growth times an operation of the host's alone, among few and among many things, and the solution's among many, which is
// nil where there is none. Times are CPU time of this thread, with the collector off; samples take turns, and JudgeGrowth
// takes the least of each. It ends early where, cold or warm, even the dearest of the many is far from GrowthPasses times
// the cheapest of the few, and where even the cheapest of the many is far beyond GrowthFails times the dearest of the few:
// that may be before there are as many things as there were to be. The label says what it takes to fill a load; it is
// filled in a Call. The first error ends it, also one under the clock, which is noted as an outcome. Growth reports whether
// there was none: then all loads were filled.
func (b *Bench) Growth(label string, few, many Load, solution *Load) (filled bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fill := func(l *Load, things int) bool {
		o := b.Call(label, func() error { return l.Fill(things) })
		return o.OK()
	}
	if !fill(&few, few.Things) {
		return false
	}
	contenders := []Contender{{Name: seriesFew, Run: few.chunk}, {Name: seriesMany, Run: many.chunk}}
	for _, part := range growthParts {
		things := many.Things / part
		if !fill(&many, things) {
			return false
		}
		rounds := growthSamples
		if part > 1 {
			if rounds = growthSome; !b.steep(contenders) {
				continue
			}
		}
		samples, ok := b.sampleAll(contenders, rounds)
		if !ok {
			return false
		}
		if part > 1 && !beyond(samples[seriesFew], samples[seriesMany]) {
			continue
		}
		if solution != nil {
			if !fill(solution, things) {
				return false
			}
			reference, _ := b.sampleAll([]Contender{{Name: seriesReference, Run: solution.chunk}}, 1)
			maps.Copy(samples, reference)
		}
		b.noteGrowth(few.Things, things, samples)
		return true
	}
	return true
}

// chunk carries out some operations.
func (l *Load) chunk() error { return l.Work(growthChunk) }

// noteGrowth notes samples, but for the first of each series.
func (b *Bench) noteGrowth(few, many int, samples map[string][]int64) {
	b.Value(noteThings, uint64(few))
	b.Value(noteThings, uint64(many))
	for _, name := range slices.Sorted(maps.Keys(samples)) {
		for _, took := range samples[name][1:] {
			b.Notes.Sample(name, took)
		}
	}
}

// steep reports whether a short look at few and at many suggests that the many are dear already.
func (b *Bench) steep(contenders []Contender) bool {
	least := map[string]int64{}
	for look := range growthLooks {
		for _, c := range contenders {
			var o Outcome
			began := threadTime()
			err := guard(&o, c.Run)
			took := threadTime() - began
			if err != nil || !o.OK() {
				return true // for the samples to find again
			}
			if look == 0 || took < least[c.Name] {
				least[c.Name] = took
			}
		}
	}
	return least[seriesMany] >= growthClear*least[seriesFew]
}

// sampleAll takes a sample of each contender, which only warms up, and then so many at most, until more would change
// nothing. It is not ok where one of them failed.
func (b *Bench) sampleAll(contenders []Contender, rounds int) (samples map[string][]int64, ok bool) {
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	order := rand.New(rand.NewPCG(b.Seed, uint64(b.Attempt)+1))
	samples = map[string][]int64{}
	for round := range 1 + rounds {
		few, many := samples[seriesFew], samples[seriesMany]
		if round > 1 && len(few) > 0 && (2*slices.Max(many) <= GrowthPasses*slices.Min(few) || beyond(few, many)) {
			break
		}
		for _, i := range order.Perm(len(contenders)) {
			took, ok := b.sampleGrowth(contenders[i])
			if !ok {
				return nil, false
			}
			samples[contenders[i].Name] = append(samples[contenders[i].Name], took)
		}
	}
	return samples, true
}

// beyond reports whether even the cheapest of the many is far beyond GrowthFails times the dearest of the few.
func beyond(few, many []int64) bool { return slices.Min(many) >= growthClear*slices.Max(few) }

// sampleGrowth is the CPU time of growthUnit operations, measured over as many as the budget allows.
func (b *Bench) sampleGrowth(c Contender) (nanoseconds int64, ok bool) {
	o := Outcome{Label: c.Name}
	operations := growthOpsFew
	if c.Name == seriesMany {
		operations = growthOps
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

// Grown are the numbers of few and of many things that Growth has measured with; it is not ok where it has not come to that.
func (c *CaseNotes) Grown() (few, many uint64, ok bool) {
	if v := c.Values[noteThings]; len(v) == 2 {
		return v[0], v[1], true
	}
	return 0, 0, false
}

// Shuffled puts one thing more among others that are in an order without a pattern, and leaves them in one.
func Shuffled(r *rand.Rand, things []int, thing int) []int {
	things = append(things, thing)
	i, last := r.IntN(len(things)), len(things)-1
	things[i], things[last] = things[last], things[i]
	return things
}

// GrowthWords are a lesson's own words about growth.
type GrowthWords struct {
	Operation string // "an Alloc and a Free"
	Things    string // "blocks"
	Why, Fix  string
}

// JudgeGrowth says whether an operation costs the same among few and many things. What disturbs a sample can only add to its
// CPU time, so the least of each is held against the other: not the dearest of the few, which on a busy machine would let code
// pass that is far beyond GrowthFails. Unless a failure is beyond doubt JudgeGrowth asks for a second run before it.
func JudgeGrowth(notes *CaseNotes, w GrowthWords) Answer {
	few, many := notes.Samples[seriesFew], notes.Samples[seriesMany]
	fewThings, manyThings, ok := notes.Grown()
	if !ok || len(few) == 0 || len(many) == 0 || slices.Min(few) <= 0 {
		return Answer{Skip: "No time could be measured."}
	}
	withFew, withMany := "with "+grouped(fewThings)+" "+w.Things, "with "+grouped(manyThings)+" "+w.Things
	growth := measure.Interval{
		Value: ratio(slices.Min(many), slices.Min(few)),
		Low:   ratio(slices.Min(many), slices.Max(few)),
		High:  ratio(slices.Max(many), slices.Min(few)),
	}
	each := func(name string, samples []int64) Measurement {
		low := float64(slices.Min(samples)) / growthUnit
		return Measurement{Name: name, Unit: "ns", Value: low, Low: low, High: float64(slices.Max(samples)) / growthUnit}
	}
	cheap, dear := each("time "+withFew, few), each("time "+withMany, many)
	a := Answer{
		Message: fmt.Sprintf("%.0f ns for %s %s, %.0f ns %s: the cost does not grow with their number.",
			cheap.Value, w.Operation, withFew, dear.Value, withMany),
		Measurements: []Measurement{Figure("growth", "x", growth, GrowthPasses), cheap, dear},
	}
	if solution := notes.Samples[seriesReference]; len(solution) > 0 {
		a.Measurements = append(a.Measurements, each("the solution's time "+withMany, solution))
	}
	if growth.Value <= GrowthPasses {
		return a
	}
	f := Finding{
		Rule: "grows", Severity: Remark, Record: -1, Function: "Alloc",
		Message: fmt.Sprintf("W%s, %s should take about as long as %s, but took %.0f ns instead of %.0f, which is %.0f times as long.",
			withMany[1:], w.Operation, withFew, dear.Value, cheap.Value, growth.Value),
		Why: w.Why, Fix: w.Fix,
	}
	if growth.Value >= GrowthFails {
		f.Severity, a.Confirm = Error, growth.Low < growthBeyondDoubt
	} else {
		a.Message = "The cost grows somewhat with the number of blocks."
	}
	a.Findings = []Finding{f}
	return a
}

// grouped writes a number with a comma before every three digits.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func ratio(a, b int64) float64 { return float64(a) / float64(b) }
