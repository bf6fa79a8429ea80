package suite

import (
	"cudalab/grader/suite/verdict"
	"fmt"
)

// Rule is what is said of a mistake wherever it is made: its name in reports, why it is one, and what mends it.
type Rule struct{ ID, Why, Fix string }

// Finding is an error of the line of a record of the call; of none, where record is -1. Its message begins with the call's
// workload, "With 5 batches on 2 streams, ", and goes on with the sentence that is given here.
func (m *Made[W]) Finding(record int, r Rule, format string, args ...any) verdict.Finding {
	message := "With " + m.W.Label() + ", " + fmt.Sprintf(format, args...)
	return m.At(record, verdict.Finding{Rule: r.ID, Message: message, Why: r.Why, Fix: r.Fix})
}
