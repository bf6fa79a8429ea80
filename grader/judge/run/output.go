package run

import (
	"fmt"
	"strings"

	"cudalab/grader/machine/child"
	"cudalab/grader/suite/verdict"
)

// bounded is what a report keeps of what the code printed in all of its processes: as much as of one of them, from the
// start and from the end.
func bounded(text string) string {
	const half = child.DefaultOutput / 2
	if len(text) <= 2*half {
		return text
	}
	start, end := strings.ToValidUTF8(text[:half], ""), strings.ToValidUTF8(text[len(text)-half:], "")
	return fmt.Sprintf("%s\n… %d bytes left out …\n%s", start, len(text)-2*half, end)
}

// longest is how long a name may make what is said of a related place, in bytes: a function's may have any length.
const longest = 1000

// shorten cuts what names of any length make of the places that findings are related to.
func shorten(checks []verdict.Check) {
	for _, ch := range checks {
		for _, f := range ch.Findings {
			for i := range f.Related {
				if m := &f.Related[i].Message; len(*m) > longest {
					*m = strings.ToValidUTF8((*m)[:longest], "") + "…"
				}
			}
		}
	}
}
