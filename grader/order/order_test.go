package order

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/trace"
)

var update = flag.Bool("update", false, "write the findings' words to testdata instead of comparing them")

// finish frees and destroys, in good order, whatever the program left.
func (h *handmade) finish() *trace.Trace {
	h.SyncDevice()
	live := map[trace.Op]map[trace.ID]bool{}
	for _, op := range []trace.Op{trace.OpStreamCreate, trace.OpEventCreate, trace.OpMemPoolCreate, trace.OpMalloc,
		trace.OpMallocHost} {
		live[op] = map[trace.ID]bool{}
	}
	for _, x := range slices.Clone(h.t.Records) {
		switch x.Op {
		case trace.OpStreamCreate:
			live[x.Op][x.Stream] = true
		case trace.OpStreamDestroy:
			delete(live[trace.OpStreamCreate], x.Stream)
		case trace.OpEventCreate:
			live[x.Op][x.Event] = true
		case trace.OpEventDestroy:
			delete(live[trace.OpEventCreate], x.Event)
		case trace.OpMemPoolCreate:
			live[x.Op][x.Pool] = true
		case trace.OpMemPoolDestroy:
			delete(live[trace.OpMemPoolCreate], x.Pool)
		case trace.OpMalloc, trace.OpMallocAsync, trace.OpMallocFromPoolAsync:
			live[trace.OpMalloc][x.Alloc] = true
		case trace.OpMallocHost:
			live[x.Op][x.Alloc] = x.Alloc != 0
		}
	}
	for m := range live[trace.OpMalloc] {
		if !h.freed[m] {
			h.Free(m)
		}
	}
	for m, made := range live[trace.OpMallocHost] {
		if made && !h.freed[m] {
			h.FreeHost(m)
		}
	}
	h.finishVirtual()
	for x := range live[trace.OpMemPoolCreate] {
		h.DestroyPool(x)
	}
	for e := range live[trace.OpEventCreate] {
		h.DestroyEvent(e)
	}
	for s := range live[trace.OpStreamCreate] {
		h.DestroyStream(s)
	}
	return &h.t
}

// summary is the findings as scenarios name them.
func summary(t *trace.Trace, found []Finding) []string {
	w := words{t: t}
	short := []string{}
	for _, f := range found {
		s := f.Rule + ": " + name(&w, f.At)
		if f.Severity == Remark {
			s = "remark " + s
		}
		if len(f.Related) > 0 {
			s += " / " + name(&w, f.Related[0].At)
		}
		short = append(short, s)
	}
	return short
}

func name(w *words, i int) string {
	switch w.record(i).Op {
	case trace.OpEventCreate, trace.OpEventDestroy, trace.OpEventSynchronize, trace.OpEventQuery, trace.OpMemPoolCreate,
		trace.OpMemPoolDestroy:
		return w.call(i)
	}
	return w.callOn(i)
}

func allScenarios() []scenario {
	return slices.Concat(orderings, moreFaults, right, virtualMemory, allocatorBlocks, aroundBlocks, blocksInStreams,
		destroyedObjects)
}

func (s *scenario) handmade() *trace.Trace {
	h := newHandmade()
	s.run(h)
	if s.keep {
		return &h.t
	}
	return h.finish()
}

func TestScenariosByHand(t *testing.T) {
	for _, s := range allScenarios() {
		t.Run(s.name, func(t *testing.T) {
			made := s.handmade()
			require.ElementsMatch(t, s.faults, summary(made, Check(made)))
		})
	}
}

// Every finding's whole text is kept in testdata, to be read: run the test with -update after a change of words.
func TestWords(t *testing.T) {
	var b strings.Builder
	rules := map[string]bool{}
	for _, s := range allScenarios() {
		made := s.handmade()
		w := words{t: made}
		found := Check(made)
		if len(found) == 0 {
			continue
		}
		b.WriteString("== " + s.name + "\n")
		for _, f := range found {
			rules[f.Rule] = true
			b.WriteString(f.Severity.String() + " " + f.Rule + " at " + name(&w, f.At) + "\n")
			b.WriteString("  " + f.Message + "\n  Why: " + f.Why + "\n  Fix: " + f.Fix + "\n")
			if f.Cause != nil {
				b.WriteString("  - cause, " + name(&w, f.Cause.At) + ": " + f.Cause.What + " " + f.Cause.Fix + "\n")
			}
			if f.Follows != nil {
				b.WriteString("  - mended by the wait that " + f.Follows.Rule + " at " + name(&w, f.Follows.At) + " asks for\n")
			}
			for _, x := range f.Related {
				b.WriteString("  - " + name(&w, x.At) + ": " + x.Note + "\n")
			}
		}
		b.WriteString("\n")
	}
	for _, rule := range []string{UseBeforeAlloc, UseAfterFree, FreeBeforeUse, DoubleFree, InvalidFree, DataRace, HostRace,
		UninitializedRead, OutOfBounds, Leak, WaitUnrecorded, UseAfterDestroy, NeedlessWait, freeWhilePending, LegacyStream,
		StagedCopy, RevokeBeforeUse, OverlappingCopy} {
		require.True(t, rules[rule], "no scenario shows the words of %s", rule)
	}
	file := filepath.Join("testdata", "words.txt")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}
