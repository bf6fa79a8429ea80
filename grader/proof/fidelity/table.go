package fidelity

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// row is a program's recorded times beside the predicted ones.
type row struct {
	Slow, Fast          string // the two ways, in plain words
	Measured, Predicted timing
}

// factor is how far a prediction is off: 1.1 where it is a tenth too high, or so much too low.
func factor(measured, predicted float64) float64 {
	return math.Exp(math.Abs(math.Log(predicted / measured)))
}

func (r row) String() string {
	return fmt.Sprintf("%s: measured %s and %s µs, %s times as fast; predicted %s and %s µs, %s times as fast (%s)",
		r.Measured.Name, figure(r.Measured.Slow.Value), figure(r.Measured.Fast.Value), figure(r.Measured.Speedup.Value),
		figure(r.Predicted.Slow.Value), figure(r.Predicted.Fast.Value), figure(r.Predicted.Speedup.Value), r.off())
}

// holds reports whether the prediction is within bounds.
func (r row) holds(b bounds) bool {
	return factor(r.Measured.Speedup.Value, r.Predicted.Speedup.Value) <= b.Speedup &&
		factor(r.Measured.Slow.Value, r.Predicted.Slow.Value) <= b.Time &&
		factor(r.Measured.Fast.Value, r.Predicted.Fast.Value) <= b.Time
}

// off is by how much the predicted speedup differs, in per cent.
func (r row) off() string {
	return fmt.Sprintf("%+.0f %%", math.Round(100*(r.Predicted.Speedup.Value/r.Measured.Speedup.Value-1))+0)
}

// comparison is a recording's programs beside what the simulated device predicts with the recording's profile.
type comparison struct {
	*recording
	Rows []row
}

// table is all comparisons in Markdown, the programs that no recording has, and what the programs do.
func table(compared []comparison, unmeasured []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# The simulator's clock beside the GPU's

Each program does one piece of work in a slow way and in a fast one. The times are microseconds, medians; the speedup is how
many times as fast the fast way is, measured with its 99 %% interval. The simulated device predicts them with the profile
that was measured of the same GPU in the same machine. The test of this package holds it to the bounds that are named, and writes
this file: `+"`go test ./grader/proof/fidelity -record`"+`.
`)
	does := map[string]row{}
	var names []string
	for _, row := range unmeasured {
		does[row.Predicted.Name] = row
		names = append(names, row.Predicted.Name)
	}
	for _, c := range compared {
		fmt.Fprintf(&b, "\n## %s, %s\n\n%s", c.Device, c.Date, c)
		for _, row := range c.Rows {
			if _, ok := does[row.Predicted.Name]; !ok {
				names = append(names, row.Predicted.Name)
			}
			does[row.Predicted.Name] = row
		}
	}
	if len(unmeasured) > 0 {
		b.WriteString("\n## Not yet measured on a GPU\n\n| program | slow, predicted | fast, predicted | speedup, " +
			"predicted |\n|---|--:|--:|--:|\n")
		for _, row := range unmeasured {
			p := row.Predicted
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p.Name, figure(p.Slow.Value), figure(p.Fast.Value),
				figure(p.Speedup.Value))
		}
	}
	b.WriteString("\n## The programs\n\n| program | slow way | fast way |\n|---|---|---|\n")
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, does[name].Slow, does[name].Fast)
	}
	return b.String()
}

// String is the comparison in Markdown.
func (c comparison) String() string {
	var b strings.Builder
	which := "with the profile measured then"
	if c.Profile == nil {
		which = "with the built-in profile, which is of this machine"
	}
	fmt.Fprintf(&b, "%s (CUDA %s), %s; predicted %s, %v.", c.Device, c.Driver, c.Date, which, c.bounds())
	if c.Unsure != "" {
		fmt.Fprintf(&b, "\nOther work disturbed the machine: no two runs of `cudalab calibrate` agreed on %s.", c.Unsure)
	}
	b.WriteString("\n\n")
	b.WriteString("| program | slow, measured | predicted | fast, measured | predicted | speedup, measured | " +
		"predicted | off |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, row := range c.Rows {
		m, p := row.Measured, row.Predicted
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s, %s to %s | %s | %s |\n", m.Name, figure(m.Slow.Value),
			figure(p.Slow.Value), figure(m.Fast.Value), figure(p.Fast.Value), figure(m.Speedup.Value), figure(m.Speedup.Low),
			figure(m.Speedup.High), figure(p.Speedup.Value), row.off())
	}
	return b.String()
}

// bounds are how far off a prediction may be, as factors. A student is shown the speedup; the time of a whole way may
// be off for what the virtual clock does not count, such as Go's own.
type bounds struct{ Speedup, Time float64 }

var (
	quiet  = bounds{Speedup: 1.25, Time: 1.45}
	shared = bounds{Speedup: 1.4, Time: 1.9} // others used the machine while it was measured, now more and now less
)

// bounds are those that a recording's programs are held to.
func (r *recording) bounds() bounds {
	if r.Unsure != "" {
		return shared
	}
	return quiet
}

// String says the bounds in words.
func (b bounds) String() string {
	return fmt.Sprintf("every speedup within %.0f %% of the measured one and every time within %.0f %%", 100*(b.Speedup-1),
		100*(b.Time-1))
}
