package lessontest

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/prove"
	"cudalab/grader/order/schedule"
	"cudalab/grader/report"
	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// requireFilm sees to it that a film shows what can be: each take does all steps, each stream's in its order, none
// twice, a wait behind its record; only the last take goes wrong; and every frame says something.
func requireFilm(t *testing.T, f *schedule.Film) {
	t.Helper()
	for n, take := range f.Takes {
		require.Equal(t, n == len(f.Takes)-1, take.Wrong >= 0)
		require.Len(t, take.Frames, len(f.Steps)+1)
		next := make([]int, len(f.Lanes)) // by lane, the least step that may come
		done := map[int]int{}             // by step: when
		for k, frame := range take.Frames {
			require.NotEmpty(t, frame.Caption)
			require.Len(t, frame.Memory, len(f.Memory))
			require.Equal(t, k == take.Wrong, slices.ContainsFunc(frame.Memory, func(h schedule.Held) bool { return h.Bad }),
				frame.Caption)
			if k == 0 {
				require.Equal(t, -1, frame.Done)
				continue
			}
			s := f.Steps[frame.Done]
			require.NotContains(t, done, frame.Done)
			done[frame.Done] = k
			require.GreaterOrEqual(t, frame.Done, next[s.Lane], "a stream does its work in its order")
			next[s.Lane] = frame.Done + 1
			require.Equal(t, s.N == 0, slices.Contains([]trace.Op{trace.OpEventRecord, trace.OpStreamWaitEvent}, s.Op))
		}
		if f.Edge != nil {
			require.Less(t, done[f.Edge[0]], done[f.Edge[1]], "a wait is over behind its record")
		}
		if f.Early >= 0 {
			require.Equal(t, n == 1, done[f.Early] < done[f.Late])
		}
	}
}

// screens are terminals that a film has to fit on, in columns and lines.
var screens = [][2]int{{80, 24}, {120, 40}, {60, 20}}

// requireFits sees to it that the frames of a film fit on a terminal, whose last line is the keys', that all have as
// many lines, and that every stream is there, from 80 columns on in both orders.
func requireFits(t *testing.T, f *prove.Fault) {
	t.Helper()
	for _, size := range screens {
		high := 0
		for k := range report.Frames(f) {
			text := report.Frame(f, k, report.Options{Width: size[0], Height: size[1]})
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			require.Less(t, len(lines), size[1], "at %v:\n%s", size, text)
			require.True(t, k == 0 || len(lines) == high, "%d lines, and not %d:\n%s", len(lines), high, text)
			high = len(lines)
			for _, line := range lines {
				require.LessOrEqual(t, utf8.RuneCountInString(line), size[0], line)
			}
			for _, lane := range f.Film.Lanes {
				require.Contains(t, text, string([]rune(lane)[:min(utf8.RuneCountInString(lane), 11)]), text)
			}
			if titles := f.Film.Titles(); size[0] >= 80 {
				require.Contains(t, text, titles[0], text)
			}
		}
	}
}

// requireDrawings sees to it that what is drawn of an allocator lies where a row is.
func requireDrawings(t *testing.T, r verdict.Report) {
	t.Helper()
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			if f.Drawing == nil {
				continue
			}
			require.NotEmpty(t, f.Drawing.Frames, f.Message)
			rows := len(f.Drawing.Frames[0].Rows)
			require.Positive(t, rows, f.Message)
			for _, frame := range f.Drawing.Frames {
				require.NotEmpty(t, frame.Op)
				require.Len(t, frame.Rows, rows)
				for _, row := range frame.Rows {
					requireRow(t, row)
				}
			}
		}
		if c.Run == nil {
			continue
		}
		for _, u := range c.Run.Steps {
			require.True(t, 0 <= u.Asked && u.Asked <= u.Out && u.Out <= u.Total && u.Largest <= u.Total-u.Out, "%+v", u)
		}
	}
}

func requireRow(t *testing.T, row verdict.Row) {
	t.Helper()
	require.NotEmpty(t, row.Name)
	for i, c := range row.Cells {
		require.NotEmpty(t, c.Text)
		require.True(t, 0 <= c.From && c.From < c.To && c.To <= 1 && 0 <= c.Asked && c.Asked <= 1, "%s: %+v", row.Name, c)
		for _, o := range row.Cells[:i] { // what is right has bytes of its own
			right := func(c verdict.Cell) bool {
				return slices.Contains([]verdict.CellKind{verdict.Out, verdict.Spilled, verdict.Free}, c.Kind)
			}
			require.False(t, right(c) && right(o) && c.From < o.To && o.From < c.To, "%s: %+v lies in %+v", row.Name, c, o)
		}
	}
}
