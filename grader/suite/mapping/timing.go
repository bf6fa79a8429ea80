package mapping

import (
	"time"

	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/native/cuda"
)

// rest is how long a GPU is left alone before a sample is taken of code that maps memory. On a host with two H200
// (driver 580.159.04, 26 November 2026) the driver was at what an arena of 256 MiB had given back for up to a
// millisecond longer, though the device was idle: of 1,220 samples that came at once 388 took 1 ms more than the
// others' 0.4, and many 0.35. Behind 1 ms of rest 4 did, behind 3 ms 2.
const rest = 2 * time.Millisecond

// Timing is how samples are taken of code that maps memory. Virtual times repeat exactly, and nothing there has to be
// warmed. On a GPU 61 ratios give an interval that tells 1.2 times the limit from the limit.
func Timing(b *suite.Bench) suite.Timing {
	return b.TimingFor(suite.Timing{Rounds: 1}, suite.Timing{Warm: 2, Rounds: 61, Rest: rest})
}

// SpeedWords are the words about code that grows by mapping memory, and should not grow too often. work is what is
// timed, "Growing to 256 MiB".
func SpeedWords(work string, limit float64, recorded string) suite.SpeedWords {
	return suite.SpeedWords{
		Pacing: suite.Pacing{Versus: "growing by copying", Limit: limit, Recorded: recorded},
		Passed: "%.2f times the solution's time; growing by copying takes %.1f times as long as yours.",
		Work:   work, Takes: "takes",
		Why: "Every growth costs about 30 µs of CUDA calls, most of it in MemSetAccess, however little it adds.",
		Fix: "Grow by a factor, so that few growths are needed, and call cuda.MemSetAccess once for all that a growth has " +
			"mapped.",
	}
}

// Unusable counts the pieces from base on that are not among those held, or that the device may not write to. A granule
// is mapped as a whole or not at all, so its first piece tells of all. Then it waits, since the memory is given back
// next.
func Unusable(b *suite.Bench, base cuda.DevicePtr, piece, pieces, held int64) (unusable uint64) {
	granule, missing := sequence.Granularity(b), false
	for i := range pieces {
		at := base + cuda.DevicePtr(i*piece)
		if i == 0 || int64(at)%granule == 0 {
			missing = cuda.Memset(at, 1, 8) != nil
		}
		if missing || i >= held {
			unusable++
		}
	}
	b.Must(cuda.DeviceSynchronize())
	return unusable
}
