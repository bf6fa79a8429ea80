// Package progress remembers what the last check of each exercise said, the best that any has said, and which hints
// were given, in .cudalab/progress.json under the course's root. It is a convenience: where the file is lost, damaged
// or cannot be written, nothing else suffers.
package progress

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cudalab/grader/machine/lock"
	"cudalab/grader/suite/verdict"
)

// Entry is what is remembered of one exercise.
type Entry struct {
	// Status is the last verdict; "" before the first check, where only hints have been given.
	Status   verdict.Status `json:"status"`
	Score    float64        `json:"score"`
	MaxScore float64        `json:"max_score"`
	Device   string         `json:"device"`
	// FailingSeed drew the workloads that the code failed on; the next check begins with it. 0: none.
	FailingSeed uint64 `json:"failing_seed,omitempty"`
	// When is the time at which the last check began: files that are younger were not checked.
	When time.Time `json:"when"`
	// FirstPassed is when the exercise passed for the first time; zero if it never has.
	FirstPassed time.Time `json:"first_passed,omitzero"`
	// Best is the check with the most points, the first of several, whatever came later; nil where none had any.
	Best *Best `json:"best,omitempty"`
	// Findings are the errors of the last check, each rule once in each place, the first to be mended first.
	Findings []Finding `json:"findings,omitempty"`
	// Hints counts the hints that were given for each TODO.
	Hints map[string]int `json:"hints,omitempty"`
	// Why is what cudalab why has told since the code passed the last time; nil: nothing.
	Why *Why `json:"why,omitempty"`
}

// Why is what has been told of the cause of a failure.
type Why struct {
	Code    string `json:"code"`              // a digest of the code that it was told of
	Told    int    `json:"told"`              // the steps that were
	Changed bool   `json:"changed,omitempty"` // the code was changed after something had been told
}

// Best is how far a check found the code, and when.
type Best struct {
	Score    float64   `json:"score"`
	MaxScore float64   `json:"max_score"`
	Device   string    `json:"device"`
	When     time.Time `json:"when"`
}

// best is the best of all checks, the last one included. What is remembered may be from before there was a Best.
func (e Entry) best() *Best {
	best := e.Best
	if best == nil && !e.FirstPassed.IsZero() {
		best = &Best{e.MaxScore, e.MaxScore, e.Device, e.FirstPassed}
	}
	if e.Score > 0 && (best == nil || e.Score > best.Score) {
		best = &Best{e.Score, e.MaxScore, e.Device, e.When}
	}
	return best
}

// Checked reports whether the exercise has ever been checked.
func (e Entry) Checked() bool { return e.Status != "" }

// Finding is where the last check found which fault.
type Finding struct {
	Rule string `json:"rule"`
	File string `json:"file,omitempty"` // its name within the exercise's folder; "" where no line is at fault
	Line int    `json:"line,omitempty"`
}

// Progress is what is remembered, by exercise.
type Progress map[string]Entry

const (
	// Folder is where cudalab keeps what is the student's own and no exercise, relative to the course's root.
	Folder = ".cudalab"

	file  = "progress.json"
	aside = "progress.damaged.json"
)

// Load reads the progress under a course's root; it is empty where there is none to be read.
func Load(root string) Progress {
	p, err := read(root)
	if err != nil {
		return Progress{}
	}
	return p
}

// errDamaged is the error of read where there is a file that holds no progress.
var errDamaged = errors.New("damaged")

func read(root string) (Progress, error) {
	text, err := os.ReadFile(filepath.Join(root, Folder, file))
	if err != nil {
		return nil, err
	}
	return parse(text)
}

func parse(text []byte) (Progress, error) {
	var p Progress
	if json.Unmarshal(text, &p) != nil || p == nil {
		return nil, errDamaged
	}
	if _, err := json.Marshal(p); err != nil { // a time in a zone that there is none of: nothing could ever be added
		return nil, errDamaged
	}
	for name, e := range p {
		e.Best = e.best()
		p[name] = e
	}
	return p, nil
}

// Repair puts a damaged file out of the way, so that it is spoken of once. What it returns is for the student: "" where
// nothing is wrong.
func Repair(root string) string {
	if _, err := read(root); !errors.Is(err, errDamaged) {
		return ""
	}
	from, to := filepath.Join(root, Folder, file), filepath.Join(root, Folder, aside)
	said := fmt.Sprintf("%s cannot be read, so nothing is known of your progress. Your code is untouched: check it again.",
		from)
	if os.Rename(from, to) == nil {
		said += fmt.Sprintf(" The damaged file is kept as %s.", aside)
	}
	return said
}

// Current is the exercise that one is at, of the course's exercises in their order: the one that was worked on last, if
// it has not passed, else the first that has not, else the last of all.
func (p Progress) Current(names []string) string {
	current, first := "", ""
	for _, name := range names {
		e := p[name]
		if e.Status == verdict.Passed {
			continue
		}
		if first == "" {
			first = name
		}
		begun := e.Checked() && e.Status != verdict.NotStarted || len(e.Hints) > 0
		if begun && (current == "" || e.When.After(p[current].When)) {
			current = name
		}
	}
	switch {
	case current != "":
		return current
	case first == "" && len(names) > 0:
		return names[len(names)-1]
	}
	return first
}

// Record keeps the verdict of a report. Two checks that end at once lose nothing of each other's; the file is whole at
// every moment.
func Record(ctx context.Context, root string, r verdict.Report) error {
	return change(ctx, root, func(p Progress) {
		last := p[r.Exercise]
		took := time.Duration(r.DurationMS) * time.Millisecond
		e := Entry{Status: r.Status, Score: r.Score, MaxScore: r.MaxScore, Device: r.Device.Kind,
			When: time.Now().Add(-took).Truncate(time.Millisecond), FirstPassed: last.FirstPassed, Best: last.Best,
			Findings: findings(r), Hints: last.Hints}
		switch r.Status {
		case verdict.Failed, verdict.Timeout, verdict.Crashed:
			e.FailingSeed, e.Why = r.Seed, last.Why
		case verdict.BuildFailed, verdict.Refused:
			e.FailingSeed, e.Why = last.FailingSeed, last.Why // nothing was run: what failed before may still fail
		case verdict.Passed:
			if e.FirstPassed.IsZero() {
				e.FirstPassed = e.When
			}
		}
		e.Best = e.best()
		p[r.Exercise] = e
	})
}

// findings are the errors that a report names, in its order; those that come of others last.
func findings(r verdict.Report) []Finding {
	var found, following []Finding
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			kept := Finding{Rule: f.Rule, Line: f.Line}
			if f.File != "" {
				kept.File = filepath.Base(f.File)
			}
			switch {
			case f.Severity != verdict.Error || slices.Contains(found, kept) || slices.Contains(following, kept):
			case f.Root():
				found = append(found, kept)
			default:
				following = append(following, kept)
			}
		}
	}
	return append(found, following...)
}

// Hinted remembers that so many hints have been given for a TODO of an exercise.
func Hinted(ctx context.Context, root, exercise, todo string, given int) error {
	return change(ctx, root, func(p Progress) {
		e := p[exercise]
		e.Hints = maps.Clone(e.Hints)
		if e.Hints == nil {
			e.Hints = map[string]int{}
		}
		e.Hints[todo] = max(e.Hints[todo], given)
		p[exercise] = e
	})
}

// Asked is how far cudalab why may go for an exercise whose code has that digest, at most so many steps: one further
// than it went for the same code, and to the last, which is the change itself, only for code that was changed since
// something was told. What it answers is remembered.
func Asked(ctx context.Context, root, exercise, code string, most int) (steps int, err error) {
	err = change(ctx, root, func(p Progress) {
		e := p[exercise]
		e.Why = e.Why.next(code, most)
		steps = e.Why.Told
		p[exercise] = e
	})
	return steps, err
}

// last is the step that takes a change of the code first.
const last = 4

func (w *Why) next(code string, most int) *Why {
	switch {
	case w == nil:
		return &Why{Code: code, Told: min(1, most)}
	case w.Code != code:
		return &Why{Code: code, Told: min(1, most), Changed: true}
	case w.Changed:
		return &Why{Code: code, Told: min(w.Told+1, most, last), Changed: true}
	}
	return &Why{Code: code, Told: min(w.Told+1, most, last-1)}
}

// Forget takes an exercise back to where it was before the first check, but for the best that was reached.
func Forget(ctx context.Context, root, exercise string) error {
	return change(ctx, root, func(p Progress) {
		last := p[exercise]
		delete(p, exercise)
		if last.Best != nil {
			p[exercise] = Entry{FirstPassed: last.FirstPassed, Best: last.Best}
		}
	})
}

// Rename has what is remembered of an exercise under a name that it had remembered under the one that it has now,
// unless there is something already.
func Rename(ctx context.Context, root, from, to string) error {
	return change(ctx, root, func(p Progress) {
		if e, found := p[from]; found && !p[to].Checked() {
			p[to] = e
			delete(p, from)
		}
	})
}

// Join takes what is remembered elsewhere of some exercises for what is remembered here; of the best the better stays.
func Join(ctx context.Context, root string, elsewhere Progress, exercises []string) error {
	return change(ctx, root, func(p Progress) {
		for _, name := range exercises {
			e, found := elsewhere[name]
			if !found {
				continue
			}
			here := p[name]
			if here.Best != nil && (e.Best == nil || here.Best.Score > e.Best.Score) {
				e.Best = here.Best
			}
			if e.FirstPassed.IsZero() {
				e.FirstPassed = here.FirstPassed
			}
			p[name] = e
		}
	})
}

// Parse reads what another course remembers, in the form of the file. It is not ok where it holds no progress.
func Parse(text []byte) (p Progress, ok bool) {
	p, err := parse(text)
	return p, err == nil
}

// change applies a change to what is remembered, alone among all processes.
func change(ctx context.Context, root string, apply func(Progress)) error {
	dir := filepath.Join(root, Folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	release, err := lock.Acquire(ctx, filepath.Join(dir, "progress.lock"))
	if err != nil {
		return err
	}
	defer release()
	p := Load(root)
	apply(p)
	return write(filepath.Join(dir, file), p)
}

// write replaces a file as a whole.
func write(path string, p Progress) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("progress: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), file+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails once it has its name
	_, err = temp.Write(append(text, '\n'))
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
