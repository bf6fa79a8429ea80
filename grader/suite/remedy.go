package suite

import (
	"fmt"
	"math"
	"strings"
)

// maxThreads is how many threads a block has at most, on every GPU.
const maxThreads = 1024

// Remedy is what mends the cause that the text of a CUDA call's error names; "" where it names none that is known.
func Remedy(text string) string {
	if grid, block, ok := extents(text); ok {
		switch {
		case grid == 0:
			return "Round the number of blocks up, (n + block - 1) / block: a division alone comes to 0 blocks where " +
				"there are fewer elements than threads in a block."
		case block > maxThreads:
			return "Have so many blocks of at most 1024 threads that there is one for each element. A launch is given " +
				"the grid first and then the block: see that the two are not exchanged."
		}
	}
	switch {
	case strings.Contains(text, "ElapsedTime") && strings.Contains(text, "CUDA_ERROR_INVALID_HANDLE"):
		return "Make both events with cuda.EventCreate, which takes times (cuda.EventDisableTiming makes one that takes " +
			"none), record both, and destroy them when you have asked."
	case strings.Contains(text, "CUDA_ERROR_INVALID_HANDLE"):
		return "Give the call a stream or an event that has been created and not been destroyed yet; a variable that " +
			"nothing was put into is none."
	case strings.Contains(text, "ElapsedTime") && strings.Contains(text, "CUDA_ERROR_NOT_READY"):
		return "Wait for the later of the two events first, with cuda.EventSynchronize: until it is done there is no time " +
			"between them."
	}
	return badSize(text)
}

// badSize is the remedy for a size that an error's text names and that no memory can have; "" where it names none.
func badSize(text string) string {
	_, said, named := strings.Cut(text, ": the size is ")
	var size int64
	if n, _ := fmt.Sscanf(said, "%d bytes", &size); !named || n != 1 || size > 0 {
		return ""
	}
	switch {
	case size == 0:
		return "Look at how the size is worked out that the call is given: it comes to 0."
	case size >= math.MinInt32:
		return "Look at how the size is worked out that the call is given. A product of 32-bit factors keeps 32 bits, " +
			"whatever it is converted to afterwards, and from 2^31 on it is below 0: convert the factors to int64 first."
	}
	return "Look at how the size is worked out that the call is given: a sum or a product beyond 2^63-1 is below 0. " +
		"Compare with what there is room for before you add or multiply."
}

// extents are how many blocks, and threads in each, the first dimension of a launch has that was refused, as package
// cuda's error tells them. A regular expression would be plainer, but of all symbols of a runner, which is linked for
// every check, package regexp brings a sixth.
func extents(text string) (grid, block uint32, ok bool) {
	_, launch, refused := strings.Cut(text, " with a grid of ")
	var y, z uint32
	read, _ := fmt.Sscanf(launch, "%d x %d x %d blocks of %d x", &grid, &y, &z, &block)
	return grid, block, refused && read == 4
}
