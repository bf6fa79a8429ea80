//go:build !linux

package heap

func hugePages(int) bool { return false }
