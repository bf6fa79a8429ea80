// Package oracle says in Go what the kernels compute.
package oracle

// Tally is the number at result when n threads have added value to it.
func Tally(before uint64, n int, value uint64) uint64 { return before + uint64(n)*value }
