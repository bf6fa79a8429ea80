package classpage

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class"
	"cudalab/grader/suite/verdict"
)

// Whatever became of a class, each student is in one column of each exercise, and has a grade or has none.
func TestTheNumbersAddUp(t *testing.T) {
	all := []verdict.Status{verdict.Passed, verdict.Failed, verdict.NotStarted, verdict.BuildFailed, verdict.Refused,
		verdict.Timeout, verdict.Crashed}
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := &class.Class{Exercises: []class.Exercise{{Name: "slab", MaxScore: 10, Checks: []class.Check{{ID: "a",
			MaxPoints: 4}, {ID: "b", MaxPoints: 6}}}, {Name: "ring", MaxScore: 5}}}
		for range r.IntN(30) {
			s := class.Student{Status: []class.Status{class.Graded, class.Graded, class.Errored, class.Unread}[r.IntN(4)],
				Withdrawn: r.IntN(9) == 0}
			for _, e := range c.Exercises {
				report := verdict.Report{Exercise: e.Name, Status: all[r.IntN(len(all))]}
				for _, k := range e.Checks {
					report.Checks = append(report.Checks, verdict.Check{ID: k.ID, Status: []verdict.Status{verdict.Passed,
						verdict.Failed}[r.IntN(2)]})
				}
				if s.Status != class.Graded && r.IntN(2) == 0 {
					report.Status = verdict.Unread
				}
				s.Exercises = append(s.Exercises, report)
			}
			if s.Status == class.Errored && r.IntN(2) == 0 {
				s.Exercises = nil
			}
			c.Students = append(c.Students, s)
		}
		p := newContent(c)
		require.Equal(t, len(c.Students), p.Graded+p.NoGrade)
		require.Len(t, p.Matrix.Rows, len(c.Students))
		for _, e := range p.Exercises {
			require.Equal(t, len(c.Students), e.Passed+e.Failed+e.Crashed+e.Unbuilt+e.Refused+e.Missing+e.Undecided,
				"%s, seed %d", e.Name, seed)
			require.Equal(t, p.Graded-e.Missing, e.HandedIn)
			for _, k := range e.Checks {
				require.Equal(t, e.HandedIn, k.Passed+k.Failed+k.NotAsked)
			}
		}
		for _, s := range p.Stuck {
			require.LessOrEqual(t, s.Percent, 100)
			require.NotEmpty(t, s.Who)
		}
	}
}
