package class

import (
	"fmt"
	"os"
	"testing"

	"cudalab/grader/machine/self"
)

// TestMain lets the test program be the grader that another test kills.
func TestMain(m *testing.M) {
	self.Hasten() // as cudalab itself does, which BenchmarkClass is to tell of
	if os.Getenv(killResults) == "" {
		os.Exit(m.Run())
	}
	if err := killed(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
