// Has the reference solution do the work.
//
//cudalab:refused
package crossstreamevents

import (
	"cudalab/native/cuda"
	"cudalab/solutions/crossstreamevents" // want: import
)

func Share(a, b cuda.Stream, n int, out cuda.DevicePtr, independent func(cuda.Stream) error) error {
	return crossstreamevents.Share(a, b, n, out, independent)
}

func FanOut(source cuda.Stream, consumers []cuda.Stream, n int, outs []cuda.DevicePtr) error {
	return crossstreamevents.FanOut(source, consumers, n, outs)
}
