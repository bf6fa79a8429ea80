package session

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"cudalab/native/trace"
)

const (
	siteFrames     = 12 // frames kept of a call stack, from the innermost outside cudalab on
	internalFrames = 4  // at most so many of cudalab's own lie below it
)

// callStack is a call stack as program counters, innermost first; the rest is zero.
type callStack [siteFrames + internalFrames]uintptr

// known are the lines of the stacks that calls have come from in this process. A call is made from the same places
// again and again, in one trace after another, and to find a stack's lines takes longer than the call.
var known = lineCache{lines: map[callStack]trace.Site{}}

// maxKnown bounds the cache: a program that recurses has stacks without end.
const maxKnown = 1 << 16

type lineCache struct {
	mu    sync.Mutex
	lines map[callStack]trace.Site
}

func (c *lineCache) site(s callStack) trace.Site {
	c.mu.Lock()
	defer c.mu.Unlock()
	site, ok := c.lines[s]
	if !ok {
		if len(c.lines) >= maxKnown {
			clear(c.lines)
		}
		site = s.site()
		c.lines[s] = site
	}
	return site
}

// siteTable numbers the call stacks of one trace, whose lines are looked up at its end.
type siteTable struct {
	index  map[callStack]uint32
	stacks []callStack
}

func newSiteTable() siteTable {
	return siteTable{index: make(map[callStack]uint32), stacks: make([]callStack, 1)}
}

// here is the number of the stack above the caller's, skip as for runtime.Callers.
func (t *siteTable) here(skip int) uint32 {
	var pcs callStack
	runtime.Callers(skip, pcs[:])
	return t.number(pcs)
}

// of is the number of a stack that has a function alone, by where its code begins; with 0 it is here.
func (t *siteTable) of(entry uintptr, skip int) uint32 {
	if entry == 0 {
		return t.here(skip + 1)
	}
	return t.number(callStack{entry + 1}) // a stack has the places behind calls
}

func (t *siteTable) number(pcs callStack) uint32 {
	if i, ok := t.index[pcs]; ok {
		return i
	}
	i := uint32(len(t.stacks))
	t.index[pcs] = i
	t.stacks = append(t.stacks, pcs)
	return i
}

// resolve makes sites of the stacks.
func (t *siteTable) resolve() []trace.Site {
	sites := make([]trace.Site, max(len(t.stacks), 1))
	for i := 1; i < len(t.stacks); i++ {
		sites[i] = known.site(t.stacks[i])
	}
	return sites
}

// site is the lines of a stack, from the innermost outside cudalab on.
func (s *callStack) site() trace.Site {
	pcs := s[:]
	if n := slices.Index(pcs, 0); n >= 0 {
		pcs = pcs[:n]
	}
	site := trace.FramesOf(pcs)
	for len(site) > 0 && internal(site[0].Func) {
		site = site[1:]
	}
	return site[:min(len(site), siteFrames)]
}

// internal reports whether a function belongs to the layers between an exercise and the device, whose lines nobody
// wants to be shown. Every course has a package kernels.
func internal(function string) bool {
	name := strings.LastIndexByte(function, '/') + 1
	pkg, _, _ := strings.Cut(function[name:], ".")
	pkg = function[:name] + pkg
	return pkg == "cudalab/native/session" || pkg == "cudalab/native/cuda" ||
		strings.HasSuffix(pkg, "/kernels") || strings.HasPrefix(pkg, "cudalab/kernels/")
}
