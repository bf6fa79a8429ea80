package self

import "runtime/debug"

// collectAt is how much garbage there may be for every hundred bytes in use: it is soon all garbage, and there is
// memory enough to let it pile up rather than have somebody wait for the collector.
//
// Huge pages are left alone. In a virtual machine that gives free memory back to its host (Linux 6.18, November 2026)
// to touch a MiB in pages of 4 KiB takes 0.4 ms; in huge ones 0.09 ms if another process has just ended, but 1.1 ms a
// few seconds later, which is when somebody saves: a check of slab then took 393 ms, and 292 without them.
const collectAt = 400

// Hasten has the Go heap of a process that lives for a second grow cheaply. It is for the beginning of main.
func Hasten() { debug.SetGCPercent(collectAt) }
