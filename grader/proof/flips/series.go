package flips

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/measure"
	"cudalab/grader/suites/course"
)

// Series is one timed check together with programs that it has to judge: the solution, slowed down by a known amount.
type Series struct {
	Name     string // one word
	Exercise string
	Check    string
	// Slow makes the solution slower by something that students do too, in proportion to "extra": Edits are texts of the
	// solution and what stands in their place.
	Slow  string // in words: what there is more of
	Edits [][2]string
	// Probe is an extra that slows down by enough to be measured, from which those for other slowdowns are worked out.
	Probe int
	// Samples names the series of the contenders, in front of "yours" and "solution"; with Growth set there is none.
	Samples string
	Growth  bool // the check is on how cost grows, and Limit is where it fails
	Limit   float64
}

// scan is a search through extra of every hundred thousand entries of a list, which stops at none.
const scan = `	for i := 0; i < len(%[1]s)*extra/100_000; i++ {
		if %[1]s[i] == %[2]s {
			scanned++
		}
	}
`

// AllSeries are the timed checks of the course.
var AllSeries = []Series{
	{
		Name: "async-pipeline", Exercise: "async-pipeline", Check: "speed", Limit: 2.5, Slow: "longer kernels", Probe: 5000,
		Edits: [][2]string{{
			"	if err := kernels.Process(",
			"	if err := kernels.Process(grid, block, stream, data, batch.N, batch.Multiplier, batch.Work*extra/10_000); err != nil {\n" +
				"		return errors.Join(err, cuda.FreeAsync(data, stream))\n	}\n" +
				"	if err := kernels.Process(",
		}},
	},
	{
		Name: "pool-config", Exercise: "pool-config", Check: "speed", Limit: 1.5, Slow: "more launches", Probe: 150,
		Edits: [][2]string{{
			"	// Whatever went wrong, the blocks that there are go back.\n",
			"	n := len(report.Rounds)\n" +
				"	for range extra*(n+1)/config.Rounds - extra*n/config.Rounds {\n" +
				"		err = errors.Join(err, kernels.Touch(1, 32, config.Streams[0], blocks[0], 1, 0))\n	}\n",
		}},
	},
	{
		Name: "cross-stream-events/Share", Exercise: "cross-stream-events", Check: "speed", Samples: "Share: ", Limit: 1.5,
		Slow: "longer kernels", Probe: 35_000,
		Edits: [][2]string{{
			"	if err := kernels.Fill(grid, block, a, data, n); err != nil {",
			"	if err := kernels.Process(1, block, a, data, 1, 1, extra); err != nil {\n		return err\n	}\n" +
				"	if err := kernels.Fill(grid, block, a, data, n); err != nil {",
		}},
	},
	{
		Name: "cross-stream-events/FanOut", Exercise: "cross-stream-events", Check: "speed", Samples: "FanOut: ", Limit: 1.5,
		Slow: "longer kernels", Probe: 35_000,
		Edits: [][2]string{{
			"	if err := kernels.Fill(grid, block, source, data, n); err != nil {",
			"	if err := kernels.Process(1, block, source, data, 1, 1, extra); err != nil {\n		return err\n	}\n" +
				"	if err := kernels.Fill(grid, block, source, data, n); err != nil {",
		}},
	},
	{
		Name: "vmm-arena", Exercise: "vmm-arena", Check: "speed", Limit: 8, Slow: "more growths", Probe: 80,
		Edits: [][2]string{{
			"	err := a.commit(generous - a.committed)",
			"	if a.committed < extra*a.granularity {\n		generous = least\n	}\n" +
				"	err := a.commit(generous - a.committed)",
		}},
	},
	{
		Name: "vmm-arena/growth", Exercise: "vmm-arena", Check: "cost", Limit: allocator.GrowthFails, Growth: true,
		Slow: "a search through some of the blocks", Probe: 300,
		Edits: [][2]string{
			{"	closed      bool\n}", "	closed      bool\n	blocks      []int32\n}\n\nvar scanned int"},
			{"	p := a.base + cuda.DevicePtr(a.used)\n", "	if len(a.blocks) < 100_000 {\n		a.blocks = append(a.blocks, 1)\n	}\n" +
				fmt.Sprintf(scan, "a.blocks", "0") + "	p := a.base + cuda.DevicePtr(a.used)\n"},
			{"	a.used = 0\n	return nil", "	a.used, a.blocks = 0, a.blocks[:0]\n	return nil"},
		},
	},
	{
		Name: "slab/growth", Exercise: "slab", Check: "cost", Limit: allocator.GrowthFails, Growth: true,
		Slow: "a search through some of the blocks", Probe: 1000,
		Edits: [][2]string{
			{"	for i := fits; i < len(a.classes); i++ {\n", fmt.Sprintf(scan, "a.classes[fits].live", "false") +
				"	for i := fits; i < len(a.classes); i++ {\n"},
			{"// New gets", "var scanned int\n\n// New gets"},
		},
	},
	{
		Name: "buddy/growth", Exercise: "buddy", Check: "cost", Limit: allocator.GrowthFails, Growth: true,
		Slow: "a search through some of the blocks", Probe: 800,
		Edits: [][2]string{
			{"	ready := a.ready >> order\n", fmt.Sprintf(scan, "a.live", "255") + "	ready := a.ready >> order\n"},
			{"// New makes an allocator whose", "var scanned int\n\n// New makes an allocator whose"},
		},
	},
}

// Program writes the series' program with so much extra into a folder.
func (s *Series) Program(c *course.Course, dir string, extra int) (Program, error) {
	e, err := c.Find(s.Exercise)
	if err != nil {
		return Program{}, err
	}
	file := e.Package + ".go"
	text, err := os.ReadFile(filepath.Join(c.Root, e.SolutionFolder(), file))
	if err != nil {
		return Program{}, err
	}
	slowed := string(text)
	for _, edit := range s.Edits {
		if strings.Count(slowed, edit[0]) != 1 {
			return Program{}, fmt.Errorf("the solution of %s no longer has once what a slower one is made from: %q", s.Exercise, edit[0])
		}
		slowed = strings.Replace(slowed, edit[0], edit[1], 1)
	}
	slowed += fmt.Sprintf("\nconst extra = %d\n", extra)
	return Program{e, dir}, os.WriteFile(filepath.Join(dir, file), []byte(slowed), 0o644)
}

// Figure makes the program's slowness out of the ratios of several runs, one at least, as the suite's check does.
func (s *Series) Figure(of *suite.Suite, ratios []float64) float64 {
	if of.Mean && !s.Growth {
		return measure.TrimmedMean(ratios)
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// Ratios are what one run of the timed case shows of the program's slowness: for each round its time over the solution's, or
// what the cost among many things is over that among few.
func (s *Series) Ratios(notes *suite.CaseNotes) (all []float64) {
	if s.Growth {
		few, many := notes.Samples["few"], notes.Samples["many"]
		if len(few) == 0 || len(many) == 0 {
			return nil
		}
		return []float64{float64(slices.Min(many)) / float64(slices.Min(few))} // what disturbs only adds
	}
	yours, solution := notes.Samples[s.Samples+suite.Yours], notes.Samples[s.Samples+suite.Solution]
	for i := range min(len(yours), len(solution)) {
		all = append(all, float64(yours[i])/float64(solution[i]))
	}
	return all
}
