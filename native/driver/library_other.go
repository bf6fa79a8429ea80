//go:build !linux && !windows

package driver

import "runtime"

// openLibrary answers that there is nothing to open.
func openLibrary() (lookup func(name string) uintptr, err error) {
	system := runtime.GOOS
	if system == "darwin" {
		system = "macOS"
	}
	return nil, &Unavailable{Reason: reasonNoLibrary,
		What: "There is no NVIDIA driver on " + system + ".", Do: "Use the simulated device: --device sim."}
}
