package order

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/trace"
)

// What a wait covers is what was enqueued when it began, and it counts for the host only once it has returned.
func TestWaitsOfOtherGoroutines(t *testing.T) {
	h := newHandmade()
	m := ready(h)
	s1, s2 := two(h)
	h.Launch(w, m, 0, kB/2, s1)
	enter := h.add(trace.Record{Op: trace.OpStreamSynchronize, Phase: trace.Enter, Stream: s1})
	h.Launch(r, m, 0, 8, s2)       // another goroutine's, before the wait is over
	h.Launch(w, m, kB/2, kB/2, s1) // and after it began
	h.add(trace.Record{Op: trace.OpStreamSynchronize, Phase: trace.Leave, Pair: int32(enter), Stream: s1})
	h.Launch(r, m, 8, 8, s2)
	h.Launch(r, m, kB/2, 8, s2)
	made := h.finish()
	found := Check(made)
	require.Equal(t, []string{
		"data-race: the launch of read on stream 2 / the launch of write on stream 1",
		"data-race: the launch of read on stream 2 / the launch of write on stream 1",
	}, summary(made, found))
	require.Equal(t, int64(0), made.Records[found[0].At].Accesses[0].Offset)
	require.Equal(t, int64(kB/2), made.Records[found[1].At].Accesses[0].Offset)
}

// An elapsed time can only be told once both events are over.
func TestElapsedTimeIsAWait(t *testing.T) {
	h := newHandmade()
	m := ready(h)
	s1, s2 := two(h)
	start, end := h.Event(), h.Event()
	h.Launch(w, m, 0, kB/2, s1)
	h.Record(start, s1)
	h.Launch(w, m, kB/2, kB/2, s2)
	h.Record(end, s2)
	h.add(trace.Record{Op: trace.OpEventElapsedTime, Event: start, Event2: end, Code: notReady})
	h.add(trace.Record{Op: trace.OpEventElapsedTime, Event: start, Event2: end})
	h.Launch(r, m, 0, kB, h.Stream(nonBlocking))
	require.Empty(t, Check(h.finish()))
}

// A trace may end within a call, where the program was stopped or has crashed.
func TestTraceThatEndsWithinACall(t *testing.T) {
	h := newHandmade()
	m, buffer := ready(h), h.MallocHost(kB)
	s := h.Stream(0)
	h.CopyOutAsync(buffer, m, kB, s)
	h.DestroyStream(s)
	h.FreeAsync(m, 0)
	h.add(trace.Record{Op: trace.OpFreeHost, Phase: trace.Enter, Alloc: buffer})
	require.Equal(t, []string{"free-before-use: FreeHost / MemcpyDtoHAsync on stream 1"}, summary(&h.t, Check(&h.t)))
}

func TestEmptyTrace(t *testing.T) {
	require.Empty(t, Check(&trace.Trace{}))
}

// Streams, events and memory from before the trace get the benefit of the doubt.
func TestWhatTheTraceDoesNotShow(t *testing.T) {
	h := newHandmade()
	m := ready(h)
	const unseen = 7
	h.Launch(w, m, 0, kB, unseen)
	h.Memset(m, kB) // ordered if stream 7 blocks
	s := h.Stream(nonBlocking)
	h.Wait(s, unseen) // an event that may have been recorded before
	h.sizes = append(h.sizes, make([]int64, 10)...)
	h.Launch(r, unseen, 0, kB, s) // memory that may have been written before
	h.DestroyStream(s)
	h.SyncDevice()
	h.Free(m)
	require.Empty(t, Check(&h.t))
}

func TestAddressesOfNothing(t *testing.T) {
	h := newHandmade()
	s := h.Stream(0)
	h.Launch(w, 0, 0, 8, s)
	h.Launch(w, 0, 0x1234, 8, s)
	h.add(trace.Record{Op: trace.OpFree, Addr: 0x1234, Code: invalidValue})
	h.add(trace.Record{Op: trace.OpFree}) // of a null pointer, which is legal
	h.DestroyStream(s)
	var messages []string
	for _, f := range Check(&h.t) {
		messages = append(messages, f.Rule+": "+f.Message)
	}
	require.Equal(t, []string{
		"out-of-bounds: The launch of write on stream 1 should use memory of this program, but it writes 8 bytes through a " +
			"null pointer.",
		"out-of-bounds: The launch of write on stream 1 should use memory of this program, but it writes 8 bytes at " +
			"address 0x1234, where there never was any.",
		"invalid-free: Free should be given a pointer that an allocation returned, but is given the address 0x1234, where " +
			"no allocation of this program starts.",
	}, messages)
}
