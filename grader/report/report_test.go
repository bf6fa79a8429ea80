package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"cudalab/grader/report"
	"cudalab/grader/suite/verdict"
)

var update = flag.Bool("update", false, "rewrite the golden files from what is printed now")

// source stands for the student's files.
func source(file string, line int) string {
	lines := map[int]string{
		41: "\tif err := cuda.FreeAsync(data, other); err != nil {",
		44: "\treturn kernels.Reduce(grid, block, stream, data, batch.N, batch.Result) // and a comment that makes " +
			"the line longer than a terminal is wide",
		12: "\tx := 3",
	}
	if !strings.HasSuffix(file, "asyncpipeline.go") {
		return ""
	}
	return lines[line]
}

const file = "exercises/asyncpipeline/asyncpipeline.go"

var (
	simulated = verdict.Device{Kind: "sim", Name: "simulated NVIDIA H200"}
	gpu       = verdict.Device{Kind: "gpu", Name: "NVIDIA H200", Driver: "13.0"}
	instead   = verdict.Device{Kind: "sim", Name: "simulated NVIDIA H200", Note: "No NVIDIA driver was found."}
)

func passed(id, name string, points float64, message string) verdict.Check {
	return verdict.Check{ID: id, Name: name, Status: verdict.Passed, Points: points, MaxPoints: points, Message: message}
}

func failed(id, name string, points float64, findings ...verdict.Finding) verdict.Check {
	return verdict.Check{ID: id, Name: name, Status: verdict.Failed, MaxPoints: points, Findings: findings}
}

func skipped(id, name string, points float64, message string) verdict.Check {
	return verdict.Check{ID: id, Name: name, Status: verdict.Skipped, MaxPoints: points, Message: message}
}

var race = verdict.Finding{
	Rule: "free-before-use", Severity: verdict.Error,
	Message: "The allocation is freed on stream 2 while the kernel reduce on stream 1 may still use it.",
	Why:     "streams run independently; a free waits only for what is before it in its own stream",
	Fix:     "free on stream 1, or record an event there after the launch and have stream 2 wait for it",
	File:    file, Line: 41,
	Related: []verdict.Related{{File: file, Line: 44, Message: "used here, on stream 1"},
		{Message: "called for the batches of the grader"}},
	Picture: "stream 1   reduce\n             ┆\n             └┄┄┄┄┄┄┄┐  missing\n                     ▼\n" +
		"stream 2         FreeAsync\n",
}

var remark = verdict.Finding{
	Rule: "needless-wait", Severity: verdict.Remark, File: file, Line: 12,
	Message: "This wait orders nothing that is not ordered already.", Fix: "leave it out",
}

func report42(status verdict.Status, device verdict.Device, checks ...verdict.Check) verdict.Report {
	r := verdict.Report{Schema: verdict.SchemaVersion, Exercise: "async-pipeline", Device: device, Status: status,
		Seed:       42,
		DurationMS: 812, Checks: checks}
	for _, c := range checks {
		r.Score += c.Points
		r.MaxScore += c.MaxPoints
	}
	return r
}

func with(r verdict.Report, change func(*verdict.Report)) verdict.Report {
	change(&r)
	return r
}

// cases is a report of every status.
var cases = map[string]verdict.Report{
	"passed": report42(verdict.Passed, gpu,
		passed("results", "every batch has the right sum", 30, "312 sums, each exact to the bit."),
		verdict.Check{ID: "order", Name: "every use is ordered after its allocation and before its free",
			Status: verdict.Passed,
			Points: 20, MaxPoints: 20, Findings: []verdict.Finding{remark}},
		verdict.Check{ID: "speed", Name: "as fast as overlapping batches allow", Status: verdict.Passed, Points: 12.5,
			MaxPoints: 15,
			Message:   "1.02 times the solution's time.",
			Measurements: []verdict.Measurement{
				{Name: "time / solution's time", Value: 1.02, Unit: "x", Low: 0.99, High: 1.05, Limit: 1.5},
				{Name: "your time", Value: 2310.4, Unit: "µs", Low: 2290, High: 2330},
				{Name: "the baseline's time", Value: 41.25, Unit: "ms"},
			}}),
	"failed": with(report42(verdict.Failed, instead,
		passed("arguments", "refuses bad arguments before any CUDA call", 10, ""),
		failed("order", "every use is ordered after its allocation and before its free", 20, race, remark),
		skipped("speed", "as fast as overlapping batches allow", 15, "time is measured once everything above has passed.")),
		func(r *verdict.Report) {
			r.Output = "starting\n\tbatch 0\x1b[31m red \u202e\n" + strings.Repeat("again and again\n", 30)
			r.Next = "mend the first error above"
		}),
	"unfinished": with(report42(verdict.Failed, simulated,
		passed("arguments", "refuses bad arguments before any CUDA call", 10, "No streams are refused."),
		skipped("results", "every batch has the right sum", 30, "Comes when the code is complete.")),
		func(r *verdict.Report) {
			r.Message = "1 of 5 gaps filled, nothing wrong so far."
			r.Next = "write TODO(1b) in " + file + ":45: Pick the stream of batch i"
			r.Gap = &verdict.Gap{ID: "1b", File: file, Line: 45, Text: "Pick the stream of batch i"}
		}),
	"not-started": with(report42(verdict.NotStarted, simulated,
		skipped("results", "every batch has the right sum", 30, "Comes when the code is complete."),
		skipped("speed", "as fast as overlapping batches allow", 15, "Comes when the code is complete.")),
		func(r *verdict.Report) {
			r.Message = "Not started yet: the skeleton is as it was handed out."
			r.Next = "write TODO(1a) in " + file + ":36: Answer contract.ErrArgument if there are no streams"
			r.Gap = &verdict.Gap{ID: "1a", File: file, Line: 36, Text: "Answer contract.ErrArgument if there are no streams"}
		}),
	"build-failed": report42(verdict.BuildFailed, verdict.Device{},
		failed("build", "compiles", 0, verdict.Finding{Rule: "compile", Severity: verdict.Error, File: file, Line: 12,
			Column:  2,
			Message: "declared and not used: x", Fix: "use the variable, or delete the line that makes it"})),
	"refused": report42(verdict.Refused, verdict.Device{},
		failed("build", "uses only what exercises may use", 0, verdict.Finding{Rule: "import", Severity: verdict.Error,
			File: file,
			Line: 3, Message: `The import of "os" is refused.`, Why: "exercises need nothing from the machine",
			Fix: "leave it out"})),
	"timeout": report42(verdict.Timeout, simulated,
		failed("results", "every batch has the right sum", 30, verdict.Finding{Rule: "timeout", Severity: verdict.Error,
			File: file,
			Line: 12, Message: "After 10s it was still running.", Fix: "look at the loop"})),
	"crashed": report42(verdict.Crashed, simulated,
		failed("results", "every batch has the right sum", 30, verdict.Finding{Rule: "panic", Severity: verdict.Error,
			File: file,
			Line: 12, Message: "It panicked: runtime error: index out of range [4] with length 4.", Fix: "check the index"})),
	"error": with(report42(verdict.Errored, gpu), func(r *verdict.Report) {
		r.Message = "cudalab could not carry the check through: the runner did not greet."
		r.Next = "run `cudalab doctor` to see what is missing"
	}),
}

func terminal(t *testing.T, r verdict.Report, o report.Options) string {
	t.Helper()
	var out bytes.Buffer
	o.Source = source
	require.NoError(t, report.Terminal(&out, r, o))
	return out.String()
}

func TestGolden(t *testing.T) {
	for name, r := range cases {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".txt", terminal(t, r, report.Options{Width: 80}))
			var out bytes.Buffer
			require.NoError(t, report.JSON(&out, r))
			golden(t, name+".json", out.String())
			out.Reset()
			require.NoError(t, report.Lines(&out, r, file))
			golden(t, name+".lines", out.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestColourIsTheOnlyThingColourAdds(t *testing.T) {
	for name, r := range cases {
		colored := terminal(t, r, report.Options{Color: true})
		require.Contains(t, colored, "\x1b[", name)
		for _, code := range []string{"0", "1", "2", "22", "31", "32", "33", "36", "31;1", "0;22", "0;22;0"} {
			colored = strings.ReplaceAll(colored, "\x1b["+code+"m", "")
		}
		require.Equal(t, terminal(t, r, report.Options{}), colored, name)
	}
}

// Only what cannot be broken may stand out: a path, so that it can be clicked.
func TestLinesKeepTheWidth(t *testing.T) {
	for name, r := range cases {
		for _, width := range []int{60, 80, 100} {
			for _, line := range strings.Split(terminal(t, r, report.Options{Width: width}), "\n") {
				if !strings.Contains(line, file) {
					require.LessOrEqual(t, utf8.RuneCountInString(line), width, "%s: %s", name, line)
				}
			}
		}
	}
}

func TestABriefReportTellsTheFirstErrorInFull(t *testing.T) {
	r := report42(verdict.Failed, simulated,
		passed("results", "every batch has the right sum", 30, "312 sums, each exact to the bit."),
		failed("order", "every use is ordered", 20, remark, race),
		failed("leaks", "nothing is left behind", 10, race))
	got := terminal(t, r, report.Options{Width: 100, Brief: true})
	require.NotContains(t, got, "312 sums")
	require.Contains(t, got, "remark needless-wait at "+file+":12\n\n    error free-before-use at "+file+":41\n")
	require.Equal(t, 1, strings.Count(got, race.Message[:40]))
	require.Contains(t, got, "missing")
	require.Contains(t, got, "0/10\n    error free-before-use at "+file+":41\n\nFAILED")
}

func TestAPositionIsNeverBroken(t *testing.T) {
	r := report42(verdict.Failed, simulated, failed("order", "every use is ordered", 20, race))
	for _, width := range []int{60, 100} {
		require.Equal(t, 1, strings.Count(terminal(t, r, report.Options{Width: width}), file+":44\n"))
	}
	require.Contains(t, terminal(t, r, report.Options{Width: 60}), "error free-before-use at\n    "+file+":41\n")
}

func TestAStudentsOutputCannotSteerTheTerminal(t *testing.T) {
	got := terminal(t, cases["failed"], report.Options{})
	require.NotContains(t, got, "\x1b")
	require.NotContains(t, got, "\u202e")
	require.Contains(t, got, `batch 0\x1b[31m red \u202e`)
}

// Whatever a message holds, each line is a whole position, and nothing in it steers a terminal.
func TestLinesAreLines(t *testing.T) {
	r := report42(verdict.Crashed, simulated, failed("results", "r", 30, verdict.Finding{Rule: "panic",
		Severity: verdict.Error,
		Message:  "It panicked: a\nb\r\n\x1b[31mc", Fix: "look\nthere", File: "my file.go", Line: 3}))
	var out bytes.Buffer
	require.NoError(t, report.Lines(&out, r, file))
	require.Equal(t, `my file.go:3:1: error: It panicked: a b \x1b[31mc Fix: look there [panic]`+"\n", out.String())
}

func TestVerdict(t *testing.T) {
	require.Equal(t, "async-pipeline: passed, 62.5 of 65 points", report.Verdict(cases["passed"]))
	require.Equal(t, "async-pipeline: error", report.Verdict(cases["error"]))
}

func TestJSONHasNoNulls(t *testing.T) {
	for name, r := range cases {
		var out bytes.Buffer
		require.NoError(t, report.JSON(&out, r))
		require.NotContains(t, out.String(), "null", name)
		var back verdict.Report
		require.NoError(t, json.Unmarshal(out.Bytes(), &back), name)
		require.Equal(t, r.Status, back.Status)
		require.Len(t, back.Checks, len(r.Checks))
	}
}
