package fidelity

import (
	"fmt"
	"strings"
	"time"

	"cudalab/grader/suite/measure"
	"cudalab/native/device"
)

// Recording is what a GPU was seen to take.
type Recording struct {
	Device, Driver, Date string
	Timings              []Timing
}

// NewRecording is a recording of a device, without any timings yet.
func NewRecording(d device.Device, now time.Time) *Recording {
	info := d.Info()
	return &Recording{Device: info.Name, Driver: info.Driver, Date: now.Format(time.DateOnly)}
}

const heading = `# device: %s
# driver: CUDA %s
# date: %s
#
# For each program the slow way's time, the fast way's and the speedup: median, and its 99 %% interval. Times are in
# microseconds. Written by go test ./grader/proof/fidelity -device gpu -record.
`

// String is the form that Parse reads.
func (r *Recording) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, heading, r.Device, r.Driver, r.Date)
	for _, t := range r.Timings {
		fmt.Fprintf(&b, "%-32s", t.Name)
		for _, v := range []measure.Interval{t.Slow, t.Fast, t.Speedup} {
			fmt.Fprintf(&b, "  %s %s %s", figure(v.Value), figure(v.Low), figure(v.High))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// figure is a number with three digits or more.
func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Parse reads what String wrote.
func Parse(text string) (*Recording, error) {
	r := &Recording{}
	head := map[string]*string{"# device: ": &r.Device, "# driver: CUDA ": &r.Driver, "# date: ": &r.Date}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || line == "" {
			for key, value := range head {
				if rest, ok := strings.CutPrefix(line, key); ok {
					*value = rest
				}
			}
			continue
		}
		var t Timing
		s, f, v := &t.Slow, &t.Fast, &t.Speedup
		_, err := fmt.Sscan(line, &t.Name, &s.Value, &s.Low, &s.High, &f.Value, &f.Low, &f.High, &v.Value, &v.Low, &v.High)
		if err != nil {
			return nil, fmt.Errorf("not a timing: %q: %w", line, err)
		}
		r.Timings = append(r.Timings, t)
	}
	return r, nil
}
