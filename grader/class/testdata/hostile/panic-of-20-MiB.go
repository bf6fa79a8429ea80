// Panics with a text that fills the report.
//
//cudalab:status crashed
package asyncpipeline

import (
	"strings"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	panic(strings.Repeat("much ado ", 20<<20/9)) // want: panic
}
