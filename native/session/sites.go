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
	recorderFrames = 8  // and at most so many of this package's below those, which are skipped
)

// callStack is a call stack as program counters, innermost first; the rest is zero.
type callStack [siteFrames + internalFrames]uintptr

// addresses are return addresses, innermost first: all that a callStack is made of, and what is skipped.
type addresses [recorderFrames + siteFrames + internalFrames]uintptr

// known are the call stacks that calls have come from in this process. A call is made from the same places again and
// again, in one trace after another, and to walk a stack and find its lines takes longer than the call.
var known = stackCache{byAddresses: map[addresses]*stack{}, byStack: map[callStack]*stack{}}

// maxKnown bounds the cache: a program that recurses has stacks without end.
const maxKnown = 1 << 16

type stackCache struct {
	mu          sync.Mutex
	byAddresses map[addresses]*stack // by what returnAddresses answers
	byStack     map[callStack]*stack // by what runtime.Callers answers
}

// stack is one call stack.
type stack struct {
	pcs  callStack // with the calls that the compiler has inlined
	once sync.Once
	site trace.Site // its lines, once somebody has asked
}

// here is the stack above the caller's, skip as for runtime.Callers.
func (c *stackCache) here(skip int) *stack {
	var from addresses
	found := returnAddresses(&from)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.byAddresses[from]; found && s != nil {
		return s
	}
	var pcs callStack
	runtime.Callers(skip, pcs[:])
	s := c.byStack[pcs]
	if s == nil {
		if len(c.byAddresses) >= maxKnown {
			clear(c.byAddresses)
			clear(c.byStack)
		}
		s = &stack{pcs: pcs}
		c.byStack[pcs] = s
	}
	if found {
		c.byAddresses[from] = s
	}
	return s
}

// lines makes a site of a stack.
func (s *stack) lines() trace.Site {
	s.once.Do(func() {
		pcs := s.pcs[:]
		if n := slices.Index(pcs, 0); n >= 0 {
			pcs = pcs[:n]
		}
		site := trace.FramesOf(pcs)
		for len(site) > 0 && internal(site[0].Func) {
			site = site[1:]
		}
		s.site = site[:min(len(site), siteFrames)]
	})
	return s.site
}

// siteTable numbers the stacks of one trace.
type siteTable struct {
	index  map[*stack]uint32
	stacks []*stack
}

func newSiteTable() siteTable {
	return siteTable{index: make(map[*stack]uint32), stacks: make([]*stack, 1)}
}

// here is the number of the stack above the caller's, skip as for runtime.Callers.
func (t *siteTable) here(skip int) uint32 {
	s := known.here(skip + 1)
	if i, ok := t.index[s]; ok {
		return i
	}
	i := uint32(len(t.stacks))
	t.index[s] = i
	t.stacks = append(t.stacks, s)
	return i
}

// resolve makes sites of the stacks.
func (t *siteTable) resolve() []trace.Site {
	sites := make([]trace.Site, max(len(t.stacks), 1))
	for i := 1; i < len(t.stacks); i++ {
		sites[i] = t.stacks[i].lines()
	}
	return sites
}

// internal reports whether a function belongs to the layers between an exercise and the device, whose lines nobody
// wants to be shown.
func internal(function string) bool {
	return strings.HasPrefix(function, "cudalab/native/session.") ||
		strings.HasPrefix(function, "cudalab/native/cuda.") ||
		strings.HasPrefix(function, "cudalab/kernels.") ||
		strings.HasPrefix(function, "cudalab/kernels/")
}
