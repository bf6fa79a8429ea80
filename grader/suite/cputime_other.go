//go:build !linux

package suite

// ThreadTime is the time that has passed: these systems do not tell a thread's CPU time without a library of theirs.
func ThreadTime() int64 { return monotonic() }
