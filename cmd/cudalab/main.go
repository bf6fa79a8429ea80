// Command cudalab checks the course's exercises and says what is wrong, where and why.
package main

import (
	"cudalab/cmd/cudalab/cli"
	"cudalab/grader/suites/course"
)

func main() { cli.Main(course.Own()) }
