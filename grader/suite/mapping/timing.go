package mapping

import (
	"time"

	"cudalab/grader/suite"
	"cudalab/native/device"
)

// rest is how long a GPU is left alone before a sample is taken of code that maps memory. On a host with two H200 (driver 580.159.04,
// 26 November 2026) the driver was at what an arena of 256 MiB had given back for up to a millisecond longer, though the device was
// idle: of samples that came at once a quarter to a half took 0.35 or 1.04 ms more. Behind 1 ms of rest none did.
const rest = 2 * time.Millisecond

// Timing is how samples are taken of code that maps memory. Virtual times repeat exactly, and nothing there has to be warmed. On a
// GPU 61 ratios give an interval that tells 1.2 times the limit from the limit.
func Timing(b *suite.Bench) suite.Timing {
	if b.Session.Device().Info().Kind == device.Sim {
		return suite.Timing{Rounds: 1}
	}
	return suite.Timing{Warm: 2, Rounds: 61, Rest: rest}
}
