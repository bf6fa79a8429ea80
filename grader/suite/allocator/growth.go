package allocator

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"time"

	"cudalab/grader/suite"
	"cudalab/grader/suite/measure"
	"cudalab/grader/suite/verdict"
)

// How much dearer an operation may be among a thousand times as many blocks. A search through all of them is some
// thousand times as dear; what is independent of their number is not, but meets the processor's caches, which on
// ordinary machines costs up to five times.
const (
	growthPasses = 8  // up to here the cost does not grow
	growthFails  = 30 // from here on it does; between the two lies a remark

	growthClear       = 1.5 * growthFails // neither the machine nor more blocks would bring it back below growthFails
	growthBeyondDoubt = 5 * growthFails   // nor any chance: it needs no second run
)

// The contenders of a growth measurement beside the solution.
const (
	few  = "few"
	many = "many"
)

// Bounds on a growth measurement.
const (
	growthRounds = 9                    // at most, behind one that only warms up
	growthSome   = 2                    // the same before there are as many blocks as there may be
	growthLooks  = 3                    // to see whether those are worth while
	growthChunk  = 100                  // operations between two looks at the clock
	growthOps    = 50_000               // in one sample at most, so that it gets around among as many blocks
	growthOpsFew = 10_000               // and among few, and of the solution
	growthBudget = 8 * time.Millisecond // of CPU time, after which a sample ends with what it has
)

// growthParts are the parts of the many blocks with which the operation may prove dear already. One that searches
// through all blocks does with a small part of them, and to hand out all would take it seconds.
var growthParts = []int{32, 16, 8, 6, 4, 3, 2, 1}

// noteBlocks are the numbers of blocks, few and many, that a growth was measured with.
const noteBlocks = "blocks"

// growing is what growth needs of a Load.
type growing interface {
	Fill(blocks int) error
	Work(operations int) error
}

// growth times an operation of the host's alone, among few and among many blocks. judgeGrowth takes the least sample of
// each. It ends early where, cold or warm, even the slowest of the many is far from growthPasses times the cheapest of
// the few, and where even the fastest of the many is far beyond growthFails times the slowest of the few: that may be
// before there are as many blocks as there were to be. Where the cost grows, solution makes one to be timed among many
// too, if it is not nil: whoever is right does not wait for it. The first error ends it, also one under the clock,
// which is noted as an outcome; growth reports whether there was none: then all loads were filled.
func growth(b *suite.Bench, fewBlocks, manyBlocks int, among [2]growing,
	solution func() (growing, error)) (filled bool) {
	fill := func(l growing, blocks int) bool {
		o := b.Call("an allocator with many blocks", func() error { return l.Fill(blocks) })
		return o.OK()
	}
	if !fill(among[0], fewBlocks) {
		return false
	}
	work := func(name string, l growing, operations int) suite.Contender {
		return suite.Contender{Name: name, Operations: growthChunk, Repeat: operations / growthChunk, Within: growthBudget,
			Run: func() error { return l.Work(growthChunk) }}
	}
	contenders := []suite.Contender{work(few, among[0], growthOpsFew), work(many, among[1], growthOps)}
	for _, part := range growthParts {
		blocks := manyBlocks / part
		if !fill(among[1], blocks) {
			return false
		}
		rounds := growthRounds
		if part > 1 {
			rounds = growthSome
			looks, ok := b.Time(suite.Timing{Span: suite.OnThread, Rounds: growthLooks}, work(few, among[0], 1),
				work(many, among[1], 1))
			if !ok {
				return false
			}
			if fastest(looks[many]) < growthClear*fastest(looks[few]) {
				continue
			}
		}
		runtime.GC()
		samples, ok := b.Time(suite.Timing{Span: suite.OnThread, Warm: 1, Rounds: rounds, Enough: decided}, contenders...)
		if !ok {
			return false
		}
		if part > 1 && !beyond(samples) {
			continue
		}
		if solution != nil && fastest(samples[many]) > growthPasses*fastest(samples[few]) {
			s, err := solution()
			b.Must(err)
			if !fill(s, blocks) {
				return false
			}
			reference, _ := b.Time(suite.Timing{Span: suite.OnThread, Warm: 1, Rounds: 1}, work(verdict.Solution, s,
				growthOpsFew))
			b.Note(reference)
		}
		b.Value(noteBlocks, uint64(fewBlocks))
		b.Value(noteBlocks, uint64(blocks))
		b.Note(samples)
		return true
	}
	return true
}

func fastest(s suite.Series) int64 { return slices.Min(s.Times) }
func slowest(s suite.Series) int64 { return slices.Max(s.Times) }

// decided reports whether further rounds would say nothing else.
func decided(s suite.Samples) bool {
	return len(s[few].Times) > 0 && (2*slowest(s[many]) <= growthPasses*fastest(s[few]) || beyond(s))
}

// beyond reports whether even the fastest of the many is far beyond growthFails times the slowest of the few.
func beyond(s suite.Samples) bool { return fastest(s[many]) >= growthClear*slowest(s[few]) }

// blockCounts are the numbers of few and of many blocks that growth has measured with; it is not ok where it has not
// come to that.
func blockCounts(notes *verdict.CaseNotes) (few, many uint64, ok bool) {
	if v := notes.Values[noteBlocks]; len(v) == 2 {
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

// judgeGrowth says whether an operation costs the same among few and many blocks. What disturbs a sample can only add
// to its CPU time, so the least of each is held against the other: not the slowest of the few, which on a busy machine
// would let code pass that is far beyond growthFails. Unless a failure is beyond doubt judgeGrowth asks for a second
// run before it.
func judgeGrowth(notes *verdict.CaseNotes, w GrowthWords) suite.Answer {
	cheap, dear := notes.Samples[few], notes.Samples[many]
	fewBlocks, manyBlocks, ok := blockCounts(notes)
	if !ok || len(cheap) == 0 || len(dear) == 0 || slices.Min(cheap) <= 0 {
		return suite.Answer{Skip: "No time could be measured."}
	}
	withFew, withMany := "with "+grouped(fewBlocks)+" "+w.Things, "with "+grouped(manyBlocks)+" "+w.Things
	growth := measure.Interval{
		Value: ratio(slices.Min(dear), slices.Min(cheap)),
		Low:   ratio(slices.Min(dear), slices.Max(cheap)),
		High:  ratio(slices.Max(dear), slices.Min(cheap)),
	}
	each := func(name string, samples []int64) verdict.Measurement {
		low := float64(slices.Min(samples)) / growthChunk
		return verdict.Measurement{Name: name, Unit: "ns", Value: low, Low: low,
			High: float64(slices.Max(samples)) / growthChunk}
	}
	amongFew, amongMany := each("time "+withFew, cheap), each("time "+withMany, dear)
	a := suite.Answer{
		Message: fmt.Sprintf("%.0f ns for %s %s, %.0f ns %s: the cost does not grow with their number.",
			amongFew.Value, w.Operation, withFew, amongMany.Value, withMany),
		Measurements: []verdict.Measurement{suite.Figure("growth", "x", growth, growthPasses), amongFew, amongMany},
	}
	if solution := notes.Samples[verdict.Solution]; len(solution) > 0 {
		a.Measurements = append(a.Measurements, each("the solution's time "+withMany, solution))
	}
	if growth.Value <= growthPasses {
		return a
	}
	f := verdict.Finding{
		Rule: "grows", Severity: verdict.Remark, Record: -1, Function: "Alloc",
		Message: fmt.Sprintf("W%s, %s should take about as long as %s, but took %.0f ns instead of %.0f, which is %.0f "+
			"times as long.",
			withMany[1:], w.Operation, withFew, amongMany.Value, amongFew.Value, growth.Value),
		Why: w.Why, Fix: w.Fix,
	}
	if growth.Value >= growthFails {
		f.Severity = verdict.Error
		if growth.Low < growthBeyondDoubt {
			a.Again = suite.ToConfirm
		}
	} else {
		a.Message = "The cost grows somewhat with the number of blocks."
	}
	a.Findings = []verdict.Finding{f}
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
