package class

import (
	"slices"
	"strings"

	"cudalab/grader/suite/verdict"
)

// statuses are those that an exercise can be graded again for.
var statuses = []verdict.Status{verdict.Passed, verdict.Failed, verdict.NotStarted, verdict.BuildFailed,
	verdict.Refused, verdict.Timeout, verdict.Crashed}

// validAgain refuses what is neither a status nor an exercise.
func (o *Options) validAgain(again string) error {
	name, status, both := strings.Cut(again, "=")
	isExercise := func(name string) bool {
		return slices.ContainsFunc(exercises(*o), func(e Exercise) bool { return e.Name == name })
	}
	isStatus := func(status string) bool { return slices.Contains(statuses, verdict.Status(status)) }
	if both && isExercise(name) && isStatus(status) || !both && (isExercise(name) || isStatus(name)) {
		return nil
	}
	var names []string
	for _, s := range statuses {
		names = append(names, string(s))
	}
	return usagef("Nobody can be graded again for %q: name a status (%s), an exercise that is graded, or both, as in "+
		"slab=timeout.",
		again, strings.Join(names, ", "))
}

// again reports whether a result is one of those to be made again.
func (o *Options) again(old Student) bool {
	return slices.ContainsFunc(o.Again, func(again string) bool {
		name, status, both := strings.Cut(again, "=")
		return slices.ContainsFunc(old.Exercises, func(r verdict.Report) bool {
			if both {
				return r.Exercise == name && string(r.Status) == status
			}
			return string(r.Status) == name || r.Exercise == name && r.Status != verdict.NotStarted
		})
	})
}
