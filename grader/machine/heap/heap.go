// Package heap has the Go heap of a process that lives for a second grow cheaply: the collector comes late, and memory comes in
// huge pages. The second a program has by importing it, and the first by debug.SetGCPercent(CollectAt) at the beginning of main.
package heap

import "runtime"

// CollectAt is how much garbage there may be for every hundred bytes in use: it is soon all garbage, and there is memory enough to
// let it pile up rather than have somebody wait for the collector.
const CollectAt = 400

// early is how many bytes are asked for in huge pages; what is never used of them takes no memory.
const early = 128 << 20

// The kernel gives memory out a page of 4 KiB at a time, each when it is first touched, for 2.2 µs (Linux 6.18 in a virtual machine,
// November 2026): a tenth and more of the wait for a check. With transparent huge pages, where there are any, it is one of 2 MiB; Go
// leaves it to whoever runs the machine to have them everywhere, and most ask for them by madvise.
//
// It comes before other packages make their tables, which are megabytes of garbage: what the collector has freed by the beginning of main
// may be where the huge pages begin, and then Go fills all of them with zeros, for 70 ms. Of packages that may be next Go begins with the
// first by name; runtime/debug, which this one therefore does without, is among the last.
func init() {
	if hugePages(early) {
		runtime.GC() // so that the heap has the memory, and takes it first
	}
}
