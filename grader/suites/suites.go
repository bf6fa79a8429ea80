// Package suites is the registry of the course's lessons: a line for each.
package suites

import (
	"embed"

	"cudalab/grader/suite"
	"cudalab/grader/suites/asyncpipeline"
	"cudalab/grader/suites/blockpool"
	"cudalab/grader/suites/buddy"
	"cudalab/grader/suites/bugclinic"
	"cudalab/grader/suites/crossstreamevents"
	"cudalab/grader/suites/devicebump"
	"cudalab/grader/suites/growable"
	"cudalab/grader/suites/measure"
	"cudalab/grader/suites/overlap"
	"cudalab/grader/suites/poolconfig"
	"cudalab/grader/suites/ring"
	"cudalab/grader/suites/slab"
	"cudalab/grader/suites/streampool"
	"cudalab/grader/suites/tracker"
	"cudalab/grader/suites/vmmarena"
)

// All are the lessons' suites in the order of the course, with no code to run.
func All() []*suite.Suite { return all }

var all = []*suite.Suite{
	asyncpipeline.Lesson.Judging(),
	poolconfig.Lesson.Judging(),
	crossstreamevents.Lesson.Judging(),
	slab.Lesson.Judging(),
	buddy.Lesson.Judging(),
	vmmarena.Lesson.Judging(),
	measure.Lesson.Judging(),
	overlap.Lesson.Judging(),
	ring.Lesson.Judging(),
	bugclinic.Lesson.Judging(),
	blockpool.Lesson.Judging(),
	growable.Lesson.Judging(),
	devicebump.Lesson.Judging(),
	streampool.Lesson.Judging(),
	tracker.Lesson.Judging(),
}

// Sources are the suites' files, each in the folder of its package.
//
//go:embed */*.go
var Sources embed.FS
