package fidelity

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Row is a program's recorded times beside the predicted ones.
type Row struct {
	Slow, Fast          string // the two ways, in plain words
	Measured, Predicted Timing
}

// factor is how far a prediction is off: 1.1 where it is a tenth too high, or so much too low.
func factor(measured, predicted float64) float64 {
	return math.Exp(math.Abs(math.Log(predicted / measured)))
}

func (r Row) String() string {
	return fmt.Sprintf("%s: measured %s and %s µs, %s times as fast; predicted %s and %s µs, %s times as fast (%s)", r.Measured.Name,
		figure(r.Measured.Slow.Value), figure(r.Measured.Fast.Value), figure(r.Measured.Speedup.Value),
		figure(r.Predicted.Slow.Value), figure(r.Predicted.Fast.Value), figure(r.Predicted.Speedup.Value), r.off())
}

// holds reports whether the prediction is within the bounds.
func (r Row) holds() bool {
	return factor(r.Measured.Speedup.Value, r.Predicted.Speedup.Value) <= SpeedupBound &&
		factor(r.Measured.Slow.Value, r.Predicted.Slow.Value) <= TimeBound &&
		factor(r.Measured.Fast.Value, r.Predicted.Fast.Value) <= TimeBound
}

// off is by how much the predicted speedup differs, in per cent.
func (r Row) off() string {
	return fmt.Sprintf("%+.0f %%", math.Round(100*(r.Predicted.Speedup.Value/r.Measured.Speedup.Value-1))+0)
}

// Table is the rows in Markdown: the times, those of programs that the recording has not, and what the programs do.
func Table(r *Recording, rows, unmeasured []Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# The simulator's clock beside the GPU's

Each program does one piece of work in a slow way and in a fast one. The times are microseconds, medians; the speedup is how
many times as fast the fast way is, measured with its 99 %% interval. Measured on one %s (driver: CUDA %s, %s),
predicted by the simulated device. The test of this package holds every speedup to %.0f %% of the measured one and every time
to %.0f %%, and writes this file: `+"`go test ./grader/proof/fidelity -record`"+`.

`, r.Device, r.Driver, r.Date, 100*(SpeedupBound-1), 100*(TimeBound-1))
	b.WriteString(times(rows))
	if len(unmeasured) > 0 {
		b.WriteString("\n## Not yet measured on a GPU\n\n| program | slow, predicted | fast, predicted | speedup, predicted |\n|---|--:|--:|--:|\n")
		for _, row := range unmeasured {
			p := row.Predicted
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p.Name, figure(p.Slow.Value), figure(p.Fast.Value), figure(p.Speedup.Value))
		}
	}
	b.WriteString("\n## The programs\n\n| program | slow way | fast way |\n|---|---|---|\n")
	for _, row := range slices.Concat(rows, unmeasured) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", row.Predicted.Name, row.Slow, row.Fast)
	}
	return b.String()
}

// times is the rows' times in Markdown.
func times(rows []Row) string {
	var b strings.Builder
	b.WriteString("| program | slow, measured | predicted | fast, measured | predicted | speedup, measured | predicted | off |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, row := range rows {
		m, p := row.Measured, row.Predicted
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s, %s to %s | %s | %s |\n", m.Name, figure(m.Slow.Value), figure(p.Slow.Value),
			figure(m.Fast.Value), figure(p.Fast.Value), figure(m.Speedup.Value), figure(m.Speedup.Low), figure(m.Speedup.High),
			figure(p.Speedup.Value), row.off())
	}
	return b.String()
}

// How far off a prediction may be, as a factor. A student is shown the speedup; the time of a whole way may be off for
// what the virtual clock does not count, such as Go's own.
const (
	SpeedupBound = 1.25
	TimeBound    = 1.6
)
