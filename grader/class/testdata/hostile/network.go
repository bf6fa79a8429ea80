// Sends what it finds to somebody.
//
//cudalab:status refused
package asyncpipeline

import (
	"bytes" // want: import
	"fmt"
	"net/http" // want: import

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	_, err := http.Post("http://example.org", "text/plain", bytes.NewBufferString(fmt.Sprint(batches)))
	return err
}
