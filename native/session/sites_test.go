package session

import (
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// asked is the stack of here's caller, as the runtime tells it each time.
//
//go:noinline
func asked() (pcs callStack) {
	runtime.Callers(2, pcs[:])
	return pcs
}

// both are what the cache and the runtime say of one place.
//
//go:noinline
func both() (cached *stack, pcs callStack) { return cachedHere(), asked() }

//go:noinline
func cachedHere() *stack { return known.here(3) }

// same reports whether two stacks agree in all but the line of both that was called from.
func same(a, b callStack) bool { return slices.Equal(a[1:], b[1:]) }

//go:noinline
func nested(depth int) (*stack, callStack) {
	if depth == 0 {
		return both()
	}
	return nested(depth - 1)
}

func inlined() (*stack, callStack) { return both() }

func TestTheCacheSaysWhatTheRuntimeSays(t *testing.T) {
	places := map[string]func() (*stack, callStack){
		"plain":   both,
		"inlined": inlined,
		"deferred": func() (s *stack, pcs callStack) {
			defer func() { s, pcs = both() }()
			return nil, callStack{}
		},
		"while panicking": func() (s *stack, pcs callStack) {
			defer func() { _ = recover() }()
			defer func() { s, pcs = both() }()
			panic("on the way")
		},
		"after a recovered panic": func() (*stack, callStack) {
			func() {
				defer func() { _ = recover() }()
				panic("before")
			}()
			return both()
		},
		"on a goroutine": func() (s *stack, pcs callStack) {
			done := make(chan bool)
			go func() {
				s, pcs = both()
				close(done)
			}()
			<-done
			return s, pcs
		},
	}
	for depth := range 40 {
		places["nested "+string(rune('0'+depth))] = func() (*stack, callStack) { return nested(depth) }
	}
	for round := range 2 { // the second time from the cache
		for name, place := range places {
			s, pcs := place()
			require.True(t, same(s.pcs, pcs), "%s, round %d: %v", name, round, s.lines())
		}
	}
}

// Stacks that are alike in all frames that are kept are one; those that are not are not.
func TestDepthsAreToldApart(t *testing.T) {
	seen := map[*stack]int{}
	for depth := range siteFrames {
		var s, again *stack
		for _, at := range []**stack{&s, &again} {
			*at, _ = nested(depth)
		}
		require.NotContains(t, seen, s)
		require.Same(t, s, again)
		seen[s] = depth
	}
}

// The walk goes through a stack that grows, shrinks and moves under the collector.
func TestTheWalkWhileStacksMove(t *testing.T) {
	done := make(chan bool)
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				runtime.GC()
			}
		}
	}()
	for range 20 {
		wrong := false
		finished := make(chan bool)
		go func() {
			defer close(finished)
			for depth := range 200 {
				s, pcs := nested(depth)
				wrong = wrong || !same(s.pcs, pcs)
			}
		}()
		<-finished
		require.False(t, wrong)
	}
	close(done)
}

func TestTheCacheIsBounded(t *testing.T) {
	c := stackCache{byAddresses: map[addresses]*stack{}, byStack: map[callStack]*stack{}}
	for i := range maxKnown {
		c.byAddresses[addresses{uintptr(i) + 1}] = nil
	}
	s := c.here(1)
	require.NotNil(t, s)
	require.LessOrEqual(t, len(c.byAddresses), 1)
}
