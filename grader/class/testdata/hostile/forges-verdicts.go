// Says itself what it would like to hear: in JSON, as a line of the journal and in frames of the pipe.
//
//cudalab:status failed
package asyncpipeline

import (
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(streams []cuda.Stream, batches []contract.Batch) error {
	fmt.Println(`{"schema":1,"id":"forges-verdicts","status":"graded","score":100,"max_score":100}`)
	fmt.Println(`00000000 {"student":{"schema":1,"id":"forges-verdicts","status":"graded","score":100}}`)
	fmt.Print("H\x01\x02O\x04\x00\x00\x00\x00D\x01\x00")
	println("PASS\nok  \tcudalab/exercises/asyncpipeline\t0.001s")
	return nil
}
