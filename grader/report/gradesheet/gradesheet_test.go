package gradesheet_test

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/proof/reporttest"
	"cudalab/grader/report/gradesheet"
)

func write(t *testing.T, c *class.Class) []byte {
	t.Helper()
	var out, again bytes.Buffer
	require.NoError(t, gradesheet.Write(&out, c))
	require.NoError(t, gradesheet.Write(&again, c))
	require.Equal(t, out.String(), again.String())
	return out.Bytes()
}

// rows reads the sheet and checks what RFC 4180 asks for: lines that end in CR LF and have the same number of fields.
func rows(t *testing.T, c *class.Class) [][]string {
	t.Helper()
	text, marked := strings.CutPrefix(string(write(t, c)), "\ufeff")
	require.True(t, marked, "spreadsheets take it for UTF-8")
	require.True(t, utf8.ValidString(text))
	require.Equal(t, strings.Count(text, "\n"), strings.Count(text, "\r\n"))
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	require.Len(t, all, 1+len(c.Students))
	return all
}

func TestASheet(t *testing.T) {
	reporttest.Golden(t, "grades.csv", write(t, reporttest.Sample()))
}

func TestARowHasEveryColumnsFigure(t *testing.T) {
	for _, c := range []*class.Class{reporttest.Sample(), reporttest.Partial(), reporttest.Large(30), reporttest.Class()} {
		all := rows(t, c)
		head := all[0]
		require.Equal(t, []string{"student", "status", "total", "maximum"}, head[:4])
		require.Equal(t, "problem", head[len(head)-1])
		require.Equal(t, "page", head[len(head)-2])
		require.Len(t, head, 6+3*len(c.Exercises))
		for i, s := range c.Students {
			row := all[i+1]
			require.Equal(t, s.ID, row[0])
			require.Equal(t, string(s.Status), row[1])
			if s.Status != class.Graded {
				require.Empty(t, row[2], "no grade is not a zero")
				require.Empty(t, row[4])
				continue
			}
			total := 0.0
			for j, r := range s.Exercises {
				require.Equal(t, string(r.Status), row[6+3*j])
				score, err := strconv.ParseFloat(row[4+3*j], 64)
				require.NoError(t, err)
				total += score
			}
			require.Equal(t, strconv.FormatFloat(total, 'f', -1, 64), row[2])
		}
	}
}

func TestNoCellIsAFormula(t *testing.T) {
	begins := 0
	for _, row := range rows(t, reporttest.Hostile())[1:] {
		for _, cell := range row {
			if _, err := strconv.ParseFloat(cell, 64); err == nil {
				continue
			}
			require.NotRegexp(t, `^\s*[=+\-@＝＋－＠\t\r]`, cell)
			if strings.HasPrefix(cell, "'") {
				begins++
			}
		}
	}
	require.GreaterOrEqual(t, begins, 7, "what began like a formula is marked as text")
}
