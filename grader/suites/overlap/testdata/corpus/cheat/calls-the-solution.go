// Has the reference solution do the work.
//
//cudalab:refused
package overlap

import (
	"cudalab/native/cuda"
	"cudalab/solutions/overlap" // want: import
)

func Run(streams []cuda.Stream, in, out cuda.HostBuffer, n, chunk, work int) error {
	return overlap.Run(streams, in, out, n, chunk, work)
}

func Efficiency(streams []cuda.Stream, in, out cuda.HostBuffer, n, chunk, work int) (float32, error) {
	return overlap.Efficiency(streams, in, out, n, chunk, work)
}
