package allocator

import (
	"cudalab/grader/suite/verdict"
)

// NotedGranularity is what Granularity has noted in a case; it is not ok where the case ended before.
func NotedGranularity(notes *verdict.CaseNotes) (g int64, ok bool) {
	for _, v := range notes.Values[noteGranularity] {
		g = int64(v)
	}
	return g, g >= 256 && g <= 1<<40 // any device's
}
