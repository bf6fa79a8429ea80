// Has the reference solution do the work.
//
//cudalab:refused
package ring

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
	"cudalab/solutions/ring" // want: import
)

func Time(s cuda.Stream, warm, rounds int, work func(cuda.Stream) error) (float32, error) {
	return ring.Time(s, warm, rounds, work)
}

func Compare(s cuda.Stream, n, rounds int) (contract.Comparison, error) {
	return ring.Compare(s, n, rounds)
}
