// Has the reference solution do the work.
//
//cudalab:refused
package measure

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
	"cudalab/solutions/measure" // want: import
)

func Time(s cuda.Stream, warm, rounds int, work func(cuda.Stream) error) (float32, error) {
	return measure.Time(s, warm, rounds, work)
}

func Compare(s cuda.Stream, n, rounds int) (contract.Comparison, error) {
	return measure.Compare(s, n, rounds)
}
