package verdict

import (
	"cmp"
	"slices"
)

// The contenders that most benchmarks have, by the names that they are shown under.
const (
	Yours    = "yours"
	Solution = "solution"
)

// BenchSchemaVersion is the version of BenchReport's JSON form.
const BenchSchemaVersion = 1

// BenchReport is what cudalab has measured of one exercise: `bench --json` prints it. Fields are only ever added within
// one schema version.
type BenchReport struct {
	Schema   int    `json:"schema"`
	Exercise string `json:"exercise"`
	Device   Device `json:"device"`
	// Status is Passed where all that was asked for was measured, else why the student's code was not.
	Status     Status       `json:"status"`
	Message    string       `json:"message,omitempty"` // one sentence on the whole, where the status needs one
	Next       string       `json:"next,omitempty"`    // what to do next
	DurationMS int64        `json:"duration_ms"`
	Workloads  []Comparison `json:"workloads"`
	Findings   []Finding    `json:"findings"`         // how the student's code ended, where it did not end well
	Output     string       `json:"output,omitempty"` // what the student's code printed; of much, the start and the end
}

// Comparison is the figures of one benchmark.
type Comparison struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Operation string     `json:"operation"` // what a figure is of
	Unit      string     `json:"unit"`      // of the figures: "ns", or "B" for bytes
	Note      string     `json:"note,omitempty"`
	Standings []Standing `json:"standings"`
}

// Clock is what a time was taken with.
type Clock string

// The clocks; see Span.
const (
	Wall    Clock = "wall"    // the machine's
	Virtual Clock = "virtual" // the simulated device's
	CPU     Clock = "cpu"     // the thread's on this machine
)

// Standing is how one contender did: the median of one operation, with the 99 % interval around it.
type Standing struct {
	Contender string  `json:"contender"`
	Value     float64 `json:"value"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Clock     Clock   `json:"clock,omitempty"` // empty for bytes
	Samples   int     `json:"samples"`
	Batch     int     `json:"batch"` // operations in one sample
	// Ratio is the time over the solution's in the same rounds; nil for the solution itself and where their clocks differ.
	Ratio *Quotient `json:"ratio,omitempty"`
}

// Quotient is a ratio with its 99 % interval.
type Quotient struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// The units of a Comparison.
const (
	Nanoseconds = "ns"
	ByteCount   = "B"
)

// Sorted puts the student's code first, then the solution, then what they stand for, the quickest first.
func (w Comparison) Sorted() Comparison {
	rank := func(s Standing) int {
		if i := slices.Index([]string{Yours, Solution}, s.Contender); i >= 0 {
			return i
		}
		return 2
	}
	slices.SortFunc(w.Standings, func(a, b Standing) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Contender, b.Contender))
	})
	return w
}
