// Package heap has the Go heap of a process that lives for a second grow cheaply: the collector comes late, and memory comes in
// huge pages.
package heap

import (
	"runtime"
	"runtime/debug"
)

const (
	// collectAt is how much garbage there may be for every hundred bytes in use: it is soon all garbage, and there is memory enough to
	// let it pile up rather than have somebody wait for the collector.
	collectAt = 400
	// early is how many bytes are asked for in huge pages; what is never used of them takes no memory.
	early = 128 << 20
)

// Hasten is for the beginning of main. The kernel gives memory out a page of 4 KiB at a time, each when it is first touched, for
// 2.2 µs (Linux 6.18 in a virtual machine, November 2026): a tenth and more of the wait for a check. With transparent huge
// pages, where there are any, it is one of 2 MiB; Go leaves it to whoever runs the machine to have them everywhere, and most ask for
// them by madvise.
func Hasten() {
	debug.SetGCPercent(collectAt)
	if hugePages(early) {
		runtime.GC() // so that the heap has the memory, and takes it first
	}
}
