package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
)

// benchSeed draws the same workloads for everyone, so that figures can be compared.
const benchSeed = 1

// Bench measures the suite's benchmarks one after another, from number from on. The code under test contends as
// verdict.Yours; withoutYours has its figures left out, where it is the solution too. Where the student's code ends
// one badly, the report says so as one of Check does, and next is that benchmark; otherwise next is behind the
// last. An error is a *NoDevice, or else a fault of cudalab's or the machine's; the report's status is
// verdict.Errored then.
func (r *Runner) Bench(ctx context.Context, code Code, withoutYours bool, from int) (
	report verdict.BenchReport, next int, err error) {
	began := time.Now()
	r.Seed = benchSeed
	c := newChecking(r, code)
	report = verdict.BenchReport{Schema: verdict.BenchSchemaVersion, Exercise: c.Suite.Exercise, Status: verdict.Passed}
	for next = from; next < len(c.Suite.Benchmarks); next++ {
		m := &c.Suite.Benchmarks[next]
		var run caseRun
		if run, err = c.benchmark(ctx, m); err != nil {
			break
		}
		report.Status, report.Findings, err = c.afterBenchmark(m, run, withoutYours)
		if err != nil || report.Status != verdict.Passed {
			break
		}
		skip := func(contender string) bool { return withoutYours && contender == verdict.Yours }
		report.Workloads = append(report.Workloads, m.Workloads(run.notes, c.report.Device, skip)...)
	}
	c.report.Output = bounded(c.report.Output + c.printed())
	report.Device, report.Output = c.report.Device, c.report.Output
	if err != nil {
		report.Device.Kind = cmp.Or(report.Device.Kind, c.Device)
		report.Status, report.Findings = verdict.Errored, nil
		report.Message = "cudalab could not carry the benchmarks through: " + err.Error()
		report.Next = "this is not your code's fault: run `cudalab doctor` to see what is missing"
		if missing := (*NoDevice)(nil); errors.As(err, &missing) {
			report.Message = missing.Problem
		}
	}
	report.DurationMS = time.Since(began).Milliseconds()
	return report, next, err
}

// benchmark has the runner, whose device must be known for the lock, run one benchmark.
func (c *checking) benchmark(ctx context.Context, m *suite.Benchmark) (caseRun, error) {
	if err := c.begun(c.begin(ctx)); err != nil {
		return caseRun{}, err
	}
	cs := m.Case()
	return c.timed(ctx, &cs, 0)
}

// afterBenchmark says how a benchmark ended: verdict.Passed, or how the student's code ended it. Nobody else's may
// fail.
func (c *checking) afterBenchmark(m *suite.Benchmark, run caseRun, withoutYours bool) (verdict.Status,
	[]verdict.Finding, error) {
	for i := range run.notes.Outcomes {
		o := &run.notes.Outcomes[i]
		if yours := strings.HasSuffix(o.Label, verdict.Yours); !o.OK() && (!yours || withoutYours) {
			return "", nil, fmt.Errorf("benchmark %s: %s failed: %s%s", m.ID, o.Label, o.Err, o.Panic)
		}
		o.Label = fmt.Sprintf("the benchmark %q", m.Name)
	}
	status, f, bad, err := verdictOf(run, c.locate)
	switch {
	case err != nil:
		return "", nil, err
	case bad && withoutYours:
		return "", nil, fmt.Errorf("benchmark %s: the solution failed: %s", m.ID, f.Message)
	case bad:
		return status, []verdict.Finding{f}, nil
	}
	for _, o := range run.notes.Outcomes {
		if !o.OK() {
			return verdict.Failed, []verdict.Finding{suite.UnexpectedError("Your code", o)}, nil
		}
	}
	return verdict.Passed, nil, nil
}
