// Has the reference solution do the work.
//
//cudalab:refused
package tracker

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
	"cudalab/solutions/tracker" // want: import
)

type Tracker = tracker.Tracker

func Wrap(inner contract.Allocator, memory cuda.DevicePtr, bytes, limit int64) (*Tracker, error) {
	return tracker.Wrap(inner, memory, bytes, limit)
}
