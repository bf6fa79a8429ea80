package flips_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/proof/flips"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

var (
	curveFile = flag.String("curve", "", "the `file` that TestCurve adds its points to; without one it takes only "+
		"series that the simulator times exactly")
	curveSeries = flag.String("series", "", "only series whose name matches this `regexp`")
	curveAt     = flag.String("curve-at", "0.82,1.22",
		"the `slowdowns` of TestCurve's programs, as multiples of the limit")
	curveChecks = flag.Int("curve-checks", 2, "how `many` checks TestCurve makes of each program")
	curveRuns   = flag.Int("curve-runs", 1, "in how `many` further runs the timed case tells how slow a program really is")
)

// TestCurve slows every solution down by known amounts and sees what its check says: never a failure below the limit by
// the margin, always one beyond it by the margin. How much the programs are slowed down is measured by itself, in runs
// that no verdict comes from. Costs of the host's alone are timed on the simulated device, and only with -curve: no
// test may hang on how fast this machine is at the moment.
func TestCurve(t *testing.T) {
	c := openCourse(t)
	var levels []float64
	for at := range strings.SplitSeq(*curveAt, ",") {
		level, err := strconv.ParseFloat(at, 64)
		require.NoError(t, err, "-curve-at takes numbers, with commas between them")
		levels = append(levels, level)
	}
	until := time.Now().Add(24 * time.Hour)
	if *within > 0 {
		until = time.Now().Add(*within)
	}
	var file sync.Mutex
	header := sync.OnceFunc(func() {
		require.NoError(t, add(fmt.Sprintf("# Programs that are slower than the solution, and what their checks say of "+
			"them: series, slowdown, its limit,\n# checks that passed, that passed unclear, that failed. Written by TestCurve "+
			"on %s.\n", time.Now().Format(time.DateOnly))))
	})
	for _, s := range allSeries(t) {
		if *curveFile == "" && s.Growth() || !regexp.MustCompile(*curveSeries).MatchString(s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			m := slowing{t: t, course: c, series: s, kind: *onDevice}
			if s.Growth() {
				m.kind = "sim"
			}
			for _, extra := range m.extras(levels) {
				if time.Now().After(until) {
					t.Log("no time is left")
					return
				}
				p, device := m.point(extra)
				t.Logf("%d more: %.3f of the limit: %v", extra, p.Of(), p)
				if *curveFile != "" {
					header()
					file.Lock()
					err := add(fmt.Sprintf("%v # %s\n", p, device.Name))
					file.Unlock()
					require.NoError(t, err)
				}
				if m.kind == "sim" && !s.Growth() { // virtual times repeat exactly
					require.Equal(t, p.Of() > 1, p.Failed == p.Checks())
				}
				if flipped := p.Flipped(); flipped != "" {
					t.Error(flipped)
				}
			}
		})
	}
}

// add writes to the end of the curve's file.
func add(text string) error {
	f, err := os.OpenFile(*curveFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// slowing is the programs of one series.
type slowing struct {
	t      *testing.T
	course *course.Course
	series flips.Series
	kind   string
}

// probes is how many programs are tried at most to learn what an extra costs.
const probes = 4

// extras are how much extra brings the program to each of the levels. What an extra costs is measured near the limit,
// which the series' own probe tells roughly.
func (m *slowing) extras(levels []float64) (all []int) {
	without, each, probe := 1.0, 0.0, m.series.Probe // without any it is the solution
	if m.series.Growth() {
		without = m.slowdown(0)
	}
	needed := func(level float64) int { return max(int((level*m.series.Limit-without)/each), 0) }
	for range probes {
		with := m.slowdown(probe)
		require.Greater(m.t, with, 1.05*without, "the probe has to slow down by enough to be measured")
		each = (with - without) / float64(probe)
		if of := with / m.series.Limit; 1/flips.Margin < of && of < flips.Margin {
			break
		}
		probe = needed(1)
	}
	for _, level := range levels {
		all = append(all, needed(level))
	}
	return all
}

// slowdown is how slow the program with so much extra is, by one run.
func (m *slowing) slowdown(extra int) float64 { return m.judged(extra, 1, 0).slowdown }

// point checks the program with so much extra.
func (m *slowing) point(extra int) (flips.Point, verdict.Device) {
	j := m.judged(extra, *curveRuns, *curveChecks)
	return flips.Point{Series: m.series.Name, Slowdown: j.slowdown, Limit: m.series.Limit,
		Passed: j.verdicts[flips.Passed], Unclear: j.verdicts[flips.Unclear], Failed: j.verdicts[flips.Failed]}, j.device
}

// judgement is what was seen of one program.
type judgement struct {
	slowdown float64
	verdicts map[flips.Verdict]int
	device   verdict.Device
}

// judged measures the program with so much extra in so many runs, and checks it so many times.
func (m *slowing) judged(extra, runs, checks int) judgement {
	t, ctx := m.t, context.Background()
	program, err := m.series.Write(t.TempDir(), extra)
	require.NoError(t, err)
	binary, err := flips.Link(ctx, m.course.Root, program)
	require.NoError(t, err)
	defer binary.Close()
	checker := binary.Checker(m.kind, nil)
	defer checker.Close()
	timed, err := flips.Timed(program.Exercise.Suite, m.series.Check)
	require.NoError(t, err)

	j := judgement{verdicts: map[flips.Verdict]int{}}
	var ratios []float64
	for range runs {
		r := checker.Check(ctx, 0, 1+rand.Uint64N(check.MaxSeed), timed)
		require.NoError(t, r.Err)
		for _, notes := range r.Cases {
			ratios = append(ratios, m.series.Ratios(notes)...)
		}
		j.device = r.Report.Device
	}
	require.NotEmpty(t, ratios)
	j.slowdown = flips.Figure(ratios)
	for range checks {
		r := checker.Check(ctx, 0, 1+rand.Uint64N(check.MaxSeed), timed)
		require.NoError(t, r.Err)
		v, _ := flips.VerdictOf(r.Report)
		j.verdicts[v]++
	}
	return j
}
