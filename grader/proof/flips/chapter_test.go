package flips_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/flips"
)

var recordChapter = flag.Bool("record-chapter", false,
	"write what was recorded of the GPU into the instructors' chapter")

// recorded is what TestCurve and TestNoFlips saw on a GPU.
const (
	recordedCurve   = "testdata/curve-h200.txt"
	recordedNoFlips = "testdata/noflips-*.txt" // a file for each time
)

// readNoFlips reads the counts of each time.
func readNoFlips(t *testing.T) (texts []string) {
	t.Helper()
	files, err := filepath.Glob(recordedNoFlips)
	require.NoError(t, err)
	for _, file := range files {
		texts = append(texts, readRecorded(t, file))
	}
	require.NotEmpty(t, texts)
	return texts
}

func readRecorded(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

func readCurve(t *testing.T) []flips.Point {
	t.Helper()
	points, err := flips.ReadCurve(readRecorded(t, recordedCurve))
	require.NoError(t, err)
	return points
}

func allSeries(t *testing.T) []flips.Series {
	t.Helper()
	all, err := flips.AllSeries(openCourse(t))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// near is how far from the limit, as a factor, a series has to have been seen on either side. What passes nearer to it
// than flips.Margin would pass there too.
const near = 1.25

// TestRecordedCurve holds what was recorded on a GPU to the promise.
func TestRecordedCurve(t *testing.T) {
	points := readCurve(t)
	require.NotEmpty(t, points)
	seen, pass, fail := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range points {
		require.Empty(t, p.Flipped())
		seen[p.Series] = true
		pass[p.Series] = pass[p.Series] || p.Of() >= 1/near && p.Failed == 0
		fail[p.Series] = fail[p.Series] || p.Of() <= near && p.Failed == p.Checks()
	}
	for _, s := range allSeries(t) {
		if !seen[s.Name] {
			t.Logf("%s was not yet measured on a GPU: TestCurve does it", s.Name)
			continue
		}
		require.True(t, pass[s.Name], "no program of %s was seen that is near the limit and always passes", s.Name)
		require.True(t, fail[s.Name], "no program of %s was seen that is near the limit and always fails", s.Name)
	}
}

// TestRecordedNoFlips does the same for the checks of the solutions: more than a thousand, half of them under load, and
// none failed.
func TestRecordedNoFlips(t *testing.T) {
	const enough = 50
	made, of := map[string]int{}, map[string]int{}
	for _, text := range readNoFlips(t) {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		for _, line := range lines[2:] { // below the device and the heads of the columns
			var exercise, machine string
			var checks, passed, unclear, failed, errored int
			_, err := fmt.Sscan(line, &exercise, &machine, &checks, &passed, &unclear, &failed, &errored)
			require.NoError(t, err, line)
			require.Equal(t, checks, passed+unclear, line)
			made[machine] += checks
			of[exercise] += checks
		}
	}
	require.GreaterOrEqual(t, made["quiet"], 500)
	require.GreaterOrEqual(t, made["load"], 500)
	for _, e := range openCourse(t).Exercises {
		if of[e.Name] < enough {
			t.Logf("%s was checked %d times on a GPU, of %d that are wanted: TestNoFlips does it", e.Name, of[e.Name], enough)
		}
		delete(of, e.Name)
	}
	require.Empty(t, of, "no exercises")
}

// TestChapterShowsWhatWasRecorded holds the figures in the instructors' chapter to the recordings.
func TestChapterShowsWhatWasRecorded(t *testing.T) {
	noFlips, points := strings.Join(readNoFlips(t), "\n"), readCurve(t)
	const file = "../../../lessons/instructors/fairness.md"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	chapter := string(text)
	for name, shown := range map[string]string{
		"no flips":      "```text\n" + noFlips + "```\n",
		"curve":         "```text\n" + flips.Picture(allSeries(t), points) + "```\n",
		"curve's table": flips.Table(allSeries(t), points),
	} {
		begin, end := "<!-- "+name+" -->\n", "<!-- end -->\n"
		before, rest, ok := strings.Cut(chapter, begin)
		require.True(t, ok, "the chapter has a place for %s", name)
		was, after, ok := strings.Cut(rest, end)
		require.True(t, ok)
		if !*recordChapter {
			require.Equal(t, shown, was, "write it again with -record-chapter")
		}
		chapter = before + begin + shown + end + after
	}
	if *recordChapter {
		require.NoError(t, os.WriteFile(file, []byte(chapter), 0o644))
	}
}

func TestFlipped(t *testing.T) {
	for name, c := range map[string]struct {
		point flips.Point
		says  string
	}{
		"below, all pass": {flips.Point{Series: "x", Slowdown: 1.25, Limit: 1.5, Passed: 9, Unclear: 1}, ""},
		"below, one fails": {flips.Point{Series: "x", Slowdown: 1.25, Limit: 1.5, Passed: 9, Failed: 1},
			"1 of 10 checks fail a program at 0.83"},
		"near, either":     {flips.Point{Series: "x", Slowdown: 1.6, Limit: 1.5, Passed: 3, Failed: 7}, ""},
		"beyond, all fail": {flips.Point{Series: "x", Slowdown: 1.8, Limit: 1.5, Failed: 10}, ""},
		"beyond, one unclear": {flips.Point{Series: "x", Slowdown: 1.8, Limit: 1.5, Unclear: 1, Failed: 9},
			"1 of 10 checks pass a program at 1.20"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.says == "" {
				require.Empty(t, c.point.Flipped())
				return
			}
			require.Contains(t, c.point.Flipped(), c.says)
		})
	}
}

func TestCurveIsDrawn(t *testing.T) {
	points, err := flips.ReadCurve("# a comment\nslab/growth 36 30 0 0 10\nslab/growth 15 30 10 0 0\nslab/growth 30 30 " +
		"2 3 5\npool-config 1.501 1.5 3 0 7\npool-config 1.5 1.5 9 1 0\n")
	require.NoError(t, err)
	require.Len(t, points, 5)
	require.Equal(t, "pool-config 1.5 1.5 9 1 0", points[0].String())
	require.Equal(t, ""+
		"of the limit:             0.5          1/1.2  1       1.2         1.5                 2\n"+
		"pool-config                                   3\n"+
		"slab/growth               .                   5       #\n", flips.Picture(allSeries(t), points))
	require.Contains(t, flips.Table(allSeries(t), points),
		"| slab/growth | a search through some of the blocks | 30 | 30 | 15.00 | 36.00 |\n")
	require.Contains(t, flips.Table(allSeries(t), points), "| pool-config | more launches | 1.5 | 20 | 1.50 | – |\n")
	_, err = flips.ReadCurve("pool-config 1.5 x 9 1 0")
	require.Error(t, err)
}
