package asyncpipeline

import (
	_ "embed"
	"fmt"
	"math"

	"cudalab/grader/suite"
)

// speedLimit is how much slower than the solution a right program may be. Blocks of 1024 threads put a batch on a quarter of
// the multiprocessors that blocks of 256 use, which takes 1.44 times as long (measured on an H200, driver 580.159.04), and
// 1.53 times where the streams are filled one after the other besides; batches that wait for each other take 3.9 times.
const speedLimit = 2.5

//go:embed paces.txt
var paces string

func judgeSpeed(e *suite.Evidence) suite.Answer {
	notes := e.Cases[caseSpeed]
	if spoilt := notes.Spoilt("Run", wrongWhenTimed); spoilt != nil {
		return suite.Answer{Findings: spoilt}
	}
	return e.JudgeSpeed(notes, suite.SpeedWords{
		Pacing: suite.Pacing{Versus: "the synchronous baseline", Limit: speedLimit, Recorded: paces},
		Passed: func(ratio, speedup float64) string {
			return fmt.Sprintf("%.2f times the solution's time; %.1f times as fast as the synchronous baseline.", ratio, speedup)
		},
		Work: fmt.Sprintf("%d batches on %d streams", speedBatches, speedStreams), Takes: "take",
		Why: "One batch fills only a part of the GPU, so batches in different streams can run at the same time.",
		Fix: "Keep every stream supplied: no call that waits for the device, batch i on streams[i%len(streams)], and blocks of 128 to " +
			"512 threads.",
	})
}

// wrongWhenTimed looks at the results of the timed runs, and at what audited ones did: speed counts only where they are right too.
func wrongWhenTimed(notes *suite.CaseNotes) []suite.Finding {
	wrong := suite.Finding{
		Rule: "wrong-when-timed", Severity: suite.Error, Record: -1,
		Why: "Work that is left out or reused from an earlier call is not faster work.",
		Fix: "Compute every batch anew in every call, whatever was computed before.",
	}
	for _, i := range notes.Values[noteLeftOut] {
		wrong.Message = fmt.Sprintf("Run should have kernels.Process and kernels.Reduce compute every sum in each call, but in a call among the "+
			"timed ones that of batches[%d] did not come from them; the same code did all its work before.", i)
		return []suite.Finding{wrong}
	}
	sums := notes.Values[noteTimedSum]
	for _, bits := range notes.Values[noteMultiplier] {
		w := speedWorkload(math.Float32frombits(uint32(bits)))
		for i := range w.batches {
			if len(sums) > i && sums[i] == w.want(i) {
				continue
			}
			wrong.Message = fmt.Sprintf("Run should compute every sum in each call, but while it was timed with %s, that of batches[%d] was wrong; "+
				"the same code was right before.", w.label, i)
			return []suite.Finding{wrong}
		}
		sums = sums[len(w.batches):]
	}
	return nil
}
