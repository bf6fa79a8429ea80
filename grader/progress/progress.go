// Package progress remembers what the last check of each exercise said, in .cudalab/progress.json under the course's
// root. It is a convenience: where the file is lost, damaged or cannot be written, nothing else suffers.
package progress

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cudalab/grader/lock"
	"cudalab/grader/suite"
)

// Entry is the last verdict on one exercise.
type Entry struct {
	Status   suite.Status `json:"status"`
	Score    float64      `json:"score"`
	MaxScore float64      `json:"max_score"`
	Device   string       `json:"device"`
	// FailingSeed drew the workloads that the code failed on; the next check begins with it. 0: none.
	FailingSeed uint64    `json:"failing_seed,omitempty"`
	When        time.Time `json:"when"`
}

// Progress is the last verdicts by exercise.
type Progress map[string]Entry

const (
	folder = ".cudalab"
	file   = "progress.json"
)

// Load reads the progress under a course's root; it is empty where there is none to be read.
func Load(root string) Progress {
	text, err := os.ReadFile(filepath.Join(root, folder, file))
	if err != nil {
		return Progress{}
	}
	p := Progress{}
	if json.Unmarshal(text, &p) != nil || p == nil {
		return Progress{}
	}
	return p
}

// Record keeps the verdict of a report. Two checks that end at once lose nothing of each other's; the file is whole at
// every moment.
func Record(ctx context.Context, root string, r suite.Report) error {
	dir := filepath.Join(root, folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	release, err := lock.Acquire(ctx, filepath.Join(dir, "progress.lock"))
	if err != nil {
		return err
	}
	defer release()

	e := Entry{Status: r.Status, Score: r.Score, MaxScore: r.MaxScore, Device: r.Device.Kind, When: time.Now().Truncate(time.Second)}
	p := Load(root)
	switch r.Status {
	case suite.Failed, suite.Timeout, suite.Crashed:
		e.FailingSeed = r.Seed
	case suite.BuildFailed, suite.Refused:
		e.FailingSeed = p[r.Exercise].FailingSeed // nothing was run: what failed before may still fail
	}
	p[r.Exercise] = e
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
