// Has the reference solution do the work.
//
//cudalab:refused
package slab

import "cudalab/solutions/slab" // want: import

type Allocator = slab.Allocator

func New(classes []int64, blocksPerClass int) (*Allocator, error) {
	return slab.New(classes, blocksPerClass)
}
