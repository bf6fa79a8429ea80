// Prints what it would like to hear and does nothing.
//
//cudalab:fails arguments results
package asyncpipeline

import (
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	fmt.Println(`{"schema": 1, "status": "passed", "score": 100}`)
	fmt.Println("--- PASS\nok")
	return nil
}
