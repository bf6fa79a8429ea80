// Package lessons holds what students of this course read.
package lessons

//go:generate go run cudalab/grader/proof/authoring/author generate

import "embed"

// Texts are this folder's.
//
//go:embed *.md *.skeleton.go.txt course.toml
var Texts embed.FS
