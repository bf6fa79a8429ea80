package check

import (
	"context"

	"cudalab/grader/judge/compile"
	"cudalab/grader/suites/course"
)

// Precompile is what makes building many submissions of these exercises cheaper; nil where that has to be left to
// go build. What is wrong then shows in the first build. Preparing may be nil; it is as in compile.Course.
func Precompile(ctx context.Context, root string, exercises []course.Exercise, preparing func()) *compile.Precompiled {
	// Its error says no more than the nil.
	p, _ := compile.Precompile(ctx, compile.Course{Root: root, Preparing: preparing}, linked(root, exercises)...)
	return p
}

// Recall is Precompile for one check, with what the checks before it have left in the user's cache folder.
func Recall(ctx context.Context, q Request) *compile.Precompiled {
	p, _ := compile.Recall(ctx, q.Course, q.Code[0].linked(q.Root)) // as above
	return p
}

// Packages are those that runners of these exercises consist of, and all that they could import, but for the
// students' own.
func Packages(root string, exercises []course.Exercise) []string {
	return compile.Packages(root, linked(root, exercises))
}

func linked(root string, exercises []course.Exercise) (all []compile.Exercise) {
	for _, e := range exercises {
		all = append(all, Code{Exercise: e}.linked(root))
	}
	return all
}
