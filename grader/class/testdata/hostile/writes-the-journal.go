// Gives itself a grade.
//
//cudalab:status refused
package asyncpipeline

import (
	"os"            // want: import
	"path/filepath" // want: import

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	journals, _ := filepath.Glob("/*/*/journal.jsonl")
	for _, journal := range journals {
		_ = os.WriteFile(journal, []byte(`{"schema":1,"id":"me","status":"graded","score":100}`), 0o600)
	}
	return nil
}
