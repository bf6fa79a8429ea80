package flips

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"cudalab/grader/proof/corpus"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// Series is one timed check together with programs that it has to judge: the solution, slowed down by a known amount.
type Series struct {
	Name     string // "cross-stream-events/Share"
	Exercise course.Exercise
	corpus.Slower
}

// Growth reports whether the check is on how cost grows, and Limit is where it fails.
func (s *Series) Growth() bool { return s.Check == "cost" }

// AllSeries are the timed checks of the course, of which there are slower programs.
func AllSeries(c *course.Course) (all []Series, err error) {
	for _, e := range c.Exercises {
		programs, err := corpus.SlowerPrograms(c.Root, e.Package)
		if err != nil {
			return nil, err
		}
		for _, p := range programs {
			s := Series{e.Name, e, p}
			switch {
			case s.Growth():
				s.Name += "/growth"
			case p.Function != "":
				s.Name += "/" + p.Function
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// Write writes the series' program with so much extra into a folder.
func (s *Series) Write(dir string, extra int) (Program, error) {
	text := fmt.Sprintf("%s\nconst extra = %d\n", s.Text, extra)
	return Program{s.Exercise, dir}, os.WriteFile(filepath.Join(dir, s.Exercise.Package+".go"), []byte(text), 0o644)
}

// Figure makes the program's slowness out of the ratios of several runs, one at least, as the suite's check does.
func Figure(ratios []float64) float64 {
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// Ratios are what one run of the timed case shows of the program's slowness: for each round its time over the
// solution's, or what the cost among many things is over that among few.
func (s *Series) Ratios(notes *verdict.CaseNotes) (all []float64) {
	if s.Growth() {
		few, many := notes.Samples["few"], notes.Samples["many"]
		if len(few) == 0 || len(many) == 0 {
			return nil
		}
		return []float64{float64(slices.Min(many)) / float64(slices.Min(few))} // what disturbs only adds
	}
	yours, solution := notes.Samples[suite.SeriesOf(s.Function, verdict.Yours)],
		notes.Samples[suite.SeriesOf(s.Function, verdict.Solution)]
	for i := range min(len(yours), len(solution)) {
		all = append(all, float64(yours[i])/float64(solution[i]))
	}
	return all
}
