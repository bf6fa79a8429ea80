package class

import (
	"fmt"
	"os"
	"testing"
)

// TestMain lets the test program be the grader that another test kills.
func TestMain(m *testing.M) {
	if os.Getenv(killResults) == "" {
		os.Exit(m.Run())
	}
	if err := killed(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
