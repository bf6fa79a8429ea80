//go:build !linux

package suite

// threadTime is the time that has passed: these systems do not tell a thread's CPU time without a library of theirs.
func threadTime() int64 { return monotonic() }
