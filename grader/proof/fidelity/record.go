package fidelity

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/machine/calibrate"
	"cudalab/grader/suite/measure"
	"cudalab/native/device"
	"cudalab/native/profile"
	"cudalab/native/sim"
)

// recording is what a GPU was seen to take, in the machine that it was in: a call's time is the processor's.
type recording struct {
	Device, Driver, Date string
	Profile              *sim.Profile // what calibrate measured of it; nil: the built-in profile is of this machine
	// the profile's constants on which calibrate's runs did not agree: others used the machine
	Unsure  string
	Timings []timing
}

// newRecording measures a device and then takes its timings. Profile and timings are of one machine only if it kept its
// pace, so the device is measured once more behind them: what has changed counts as unsure.
func newRecording(d device.Device, take func(device.Device) ([]timing, error)) (*recording, *profile.File, error) {
	say := func(calibrate.Progress) {}
	before, unsure, err := calibrate.Measure(context.Background(), d, say)
	if err != nil {
		return nil, nil, err
	}
	timings, err := take(d)
	if err != nil {
		return nil, nil, err
	}
	after, stillUnsure, err := calibrate.Measure(context.Background(), d, say)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Concat(stillUnsure, calibrate.Differ(before, after)) {
		if !slices.Contains(unsure, name) {
			unsure = append(unsure, name)
		}
	}
	info := d.Info()
	return &recording{Device: info.Name, Driver: info.Driver, Date: before.Date, Profile: &before.Profile,
		Unsure: strings.Join(unsure, " "), Timings: timings}, before, nil
}

// path is the recording's in a folder, without the end: its times' is .txt and its profile's .json.
func (r *recording) path(folder string) string {
	return filepath.Join(folder, strings.ToLower(strings.ReplaceAll(r.Device, " ", "-"))+"-"+r.Date)
}

// readRecordings reads all recordings of a folder, by date.
func readRecordings(folder string) (all []*recording, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		r, err := parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		switch f, err := profile.Load(strings.TrimSuffix(file, ".txt") + ".json"); {
		case err == nil:
			r.Profile = &f.Profile
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *recording) int { return strings.Compare(a.Date, b.Date) })
	return all, err
}

const heading = `# device: %s
# driver: CUDA %s
# date: %s
# unsure: %s
#
# For each program the slow way's time, the fast way's and the speedup: median, and its 99 %% interval. Times are in
# microseconds. Written by go test ./grader/proof/fidelity -device gpu -record.
`

// String is the form that parse reads.
func (r *recording) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, heading, r.Device, r.Driver, r.Date, r.Unsure)
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

// parse reads what String wrote.
func parse(text string) (*recording, error) {
	r := &recording{}
	head := map[string]*string{"# device: ": &r.Device, "# driver: CUDA ": &r.Driver, "# date: ": &r.Date,
		"# unsure: ": &r.Unsure}
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
		var t timing
		s, f, v := &t.Slow, &t.Fast, &t.Speedup
		_, err := fmt.Sscan(line, &t.Name, &s.Value, &s.Low, &s.High, &f.Value, &f.Low, &f.High, &v.Value, &v.Low, &v.High)
		if err != nil {
			return nil, fmt.Errorf("not a timing: %q: %w", line, err)
		}
		r.Timings = append(r.Timings, t)
	}
	return r, nil
}
