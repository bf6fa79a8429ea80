package poolconfig

import (
	"cudalab/grader/suite"
	"cudalab/native/trace"
)

func judgeArguments(e *suite.Evidence) suite.Answer {
	return e.JudgeArguments(caseArguments, len(badArguments), suite.Refusal{
		Function: "Run",
		Fix: "Return contract.ErrArgument for no streams, no sizes, a size below 1, fewer than one round, and a device " +
			"below 0 or not below cuda.GetDeviceCount().",
		FixLate: "Look at all the arguments, every size included, before the first CUDA call but cuda.GetDeviceCount.",
		Allowed: []trace.Op{trace.OpDeviceInfo}, // counting the devices is how one learns that a device is not there
	})
}
