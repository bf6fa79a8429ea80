package session

import (
	"runtime"
	"slices"
	"strings"

	"cudalab/native/trace"
)

const (
	siteFrames     = 12 // frames kept of a call stack, from the innermost outside cudalab on
	internalFrames = 4  // at most so many of cudalab's own lie below it
)

type callStack [siteFrames + internalFrames]uintptr

// siteTable holds each distinct call stack once, as program counters: a call is recorded far more often than its
// position is read.
type siteTable struct {
	index  map[callStack]uint32
	stacks []callStack
}

func newSiteTable() siteTable {
	return siteTable{index: make(map[callStack]uint32), stacks: make([]callStack, 1)}
}

// here is the number of the stack above the caller's, skip as for runtime.Callers.
func (t *siteTable) here(skip int) uint32 {
	var stack callStack
	runtime.Callers(skip, stack[:])
	if i, ok := t.index[stack]; ok {
		return i
	}
	i := uint32(len(t.stacks))
	t.index[stack] = i
	t.stacks = append(t.stacks, stack)
	return i
}

// resolve makes frames of the program counters.
func (t *siteTable) resolve() []trace.Site {
	sites := make([]trace.Site, max(len(t.stacks), 1))
	for i := 1; i < len(t.stacks); i++ {
		sites[i] = resolveStack(t.stacks[i][:])
	}
	return sites
}

func resolveStack(stack []uintptr) trace.Site {
	if n := slices.Index(stack, 0); n >= 0 {
		stack = stack[:n]
	}
	site := trace.FramesOf(stack)
	for len(site) > 0 && internal(site[0].Func) {
		site = site[1:]
	}
	return site[:min(len(site), siteFrames)]
}

// internal reports whether a function belongs to the layers between an exercise and the device, whose lines nobody
// wants to be shown.
func internal(function string) bool {
	return strings.HasPrefix(function, "cudalab/native/session.") ||
		strings.HasPrefix(function, "cudalab/native/cuda.") ||
		strings.HasPrefix(function, "cudalab/kernels.") ||
		strings.HasPrefix(function, "cudalab/kernels/")
}
