// Package calibrate measures what a GPU has and what its operations cost, and makes the profile that the simulator's
// clock goes by. The constants are what the simulator's model says they are, so that measuring a simulated device gives
// its own profile back.
package calibrate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"cudalab/kernels/probe"
	"cudalab/native/device"
	"cudalab/native/profile"
	"cudalab/native/sim"
)

// step measures some constants, by the names that they have in a file. It may use what the steps before it have put
// into the meter's profile.
type step struct {
	name      string // what is measured, in plain words
	constants []string
	measure   func(m *meter)
}

// steps are all that is measured. A constant that none of them measures is the built-in profile's.
var steps = slices.Concat(deviceSteps, hostSteps, memorySteps, virtualSteps, workSteps, copySteps)

// Progress says that a step is about to begin.
type Progress struct {
	Run         int // the first is 1
	Step, Steps int // likewise
	Name        string
}

// failed is the error where the device did not do what a measurement asks of it.
type failed struct {
	Step string // what was being measured
	Call string // that was answered with Code; "" where no call failed
	Code device.Code
	Why  string // in a sentence, where no call failed

	contradiction bool // what was measured cannot all be so: another run may go better
}

func (e *failed) Error() string {
	if e.Call == "" {
		return fmt.Sprintf("While %s was measured: %s", e.Step, e.Why)
	}
	return fmt.Sprintf("While %s was measured, %s answered %v.", e.Step, e.Call, e.Code)
}

// Unwrap is the code that the call answered.
func (e *failed) Unwrap() error {
	if e.Call == "" {
		return nil
	}
	return e.Code
}

// Measure measures a device that nobody else uses meanwhile: some seconds on a GPU. It does so until two runs agree,
// since other work on the machine shows in no other way; where no two do, the constants are named on which the two
// differ that come closest. A run whose figures contradict each other does not count, and where no two others are left
// it is an error. The device is left as it was found, unless an error is one that has cost it its context. Errors are a
// *failed, the context's, or those of probe.Ready. What comes out of the bounds that a file has is not believed: it
// counts as not measured.
func Measure(ctx context.Context, d device.Device, say func(Progress)) (f *profile.File, unsure []string, err error) {
	var runs []*profile.File
	for n := 1; n <= mostRuns; n++ {
		this, failure := measureOnce(ctx, d, func(p Progress) {
			p.Run = n
			say(p)
		})
		var failed *failed
		switch {
		case errors.As(failure, &failed) && failed.contradiction:
			err = failure
			continue
		case failure != nil:
			return nil, nil, failure
		}
		for _, earlier := range runs {
			if names := Differ(earlier, this); f == nil || len(names) < len(unsure) {
				f, unsure = this, names
			}
		}
		if f != nil && len(unsure) == 0 {
			return f, nil, nil
		}
		runs = append(runs, this)
	}
	if f == nil {
		return nil, nil, err
	}
	return f, unsure, nil
}

// measureOnce measures everything.
func measureOnce(ctx context.Context, d device.Device, say func(Progress)) (f *profile.File, err error) {
	if _, err := probe.Ready(d); err != nil {
		return nil, err
	}
	runtime.LockOSThread() // a thread that is new to the driver makes its first call twice
	defer runtime.UnlockOSThread()
	info := d.Info()
	m := newMeter(d)
	m.profile = sim.H200
	m.profile.Name = strings.TrimPrefix(info.Name, sim.NamePrefix)
	defer func() {
		if left := m.tidy(); err == nil {
			err = left
		}
	}()
	if err := m.attempt("what the clock costs", (*meter).prepare); err != nil {
		return nil, err
	}
	measured := map[string]bool{}
	for i, s := range steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		say(Progress{Step: i + 1, Steps: len(steps), Name: s.name})
		if err := m.attempt(s.name, s.measure); err != nil {
			return nil, err
		}
		for _, name := range s.constants {
			measured[name] = true
		}
	}
	f = &profile.File{Profile: m.profile, Driver: info.Driver, Date: time.Now().Format(time.DateOnly)}
	f.Keep(func(name string) bool { return !measured[name] || m.unknown[name] })
	if _, err := profile.Parse(f.Text()); err != nil {
		return nil, &failed{Step: "the device", Why: fmt.Sprintf("what came out is no profile, because %v.", err),
			contradiction: true}
	}
	return f, nil
}
