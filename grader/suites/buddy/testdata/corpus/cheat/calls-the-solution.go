// Has the reference solution do the work.
//
//cudalab:refused
package buddy

import (
	"cudalab/solutions/buddy" // want: import
)

type Allocator = buddy.Allocator

func New(total, minBlock int64) (*Allocator, error) { return buddy.New(total, minBlock) }
