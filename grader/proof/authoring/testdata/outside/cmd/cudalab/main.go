// Command cudalab is cudalab for this course.
package main

import (
	"cudalab/cmd/cudalab/cli"

	"example.com/outside/grader/suites"
)

func main() { cli.Main(suites.Course()) }
