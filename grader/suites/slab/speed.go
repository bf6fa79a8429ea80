package slab

import (
	_ "embed"

	"cudalab/grader/suite/allocator"
)

//go:embed paces.txt
var paces string

var speed = allocator.OneStream[Make, layout](lastGap, paces, func(f Make) (allocator.OnHost, error) {
	classes := []int64{64 << 10, 256 << 10, 1 << 20, 4 << 20}
	return f(lent(classes)[:len(classes)], 2)
})
