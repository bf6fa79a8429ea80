// Package suites is the registry of this course's lessons: a line for each.
package suites

import (
	"embed"

	"cudalab/grader/suite"
	"cudalab/grader/suites/course"

	"example.com/outside/grader/suites/tally"
	"example.com/outside/lessons"
)

var all = []*suite.Suite{
	tally.Lesson.Judging(),
}

//go:embed */*.go
var sources embed.FS

// Course is this course.
func Course() course.Definition {
	return course.Definition{Module: "example.com/outside", Texts: lessons.Texts, Suites: all, Sources: sources}
}
