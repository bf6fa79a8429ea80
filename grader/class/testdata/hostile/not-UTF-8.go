// Says what is no text.
//
//cudalab:status failed
package asyncpipeline

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	fmt.Println("\xff\xfe\x00\x1b]0;title\a\u202e")
	return errors.New("\xc3\x28 \x1b[2J \u202e")
}
