package mapping

import (
	"time"

	"cudalab/grader/suite"
	"cudalab/native/device"
)

// rest is how long a GPU is left alone before a sample is taken of code that maps memory. On a host with two H200 (driver 580.159.04,
// 26 November 2026) the driver was at what an arena of 256 MiB had given back for up to a millisecond longer, though the device was
// idle: of 1,220 samples that came at once 388 took 1 ms more than the others' 0.4, and many 0.35. Behind 1 ms of rest 4 did, behind 3 ms 2.
const rest = 2 * time.Millisecond

// Timing is how samples are taken of code that maps memory. Virtual times repeat exactly, and nothing there has to be warmed. On a
// GPU 61 ratios give an interval that tells 1.2 times the limit from the limit.
func Timing(b *suite.Bench) suite.Timing {
	if b.Session.Device().Info().Kind == device.Sim {
		return suite.Timing{Rounds: 1}
	}
	return suite.Timing{Warm: 2, Rounds: 61, Rest: rest}
}
