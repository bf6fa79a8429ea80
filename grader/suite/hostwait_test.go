package suite_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// given is what code has that may wait: stream held is busy for PendingDelay and stream free is not; each event was
// recorded in held before the call.
type given struct {
	must       func(error)
	held, free cuda.Stream
	events     []cuda.Event
	memory     cuda.DevicePtr
	pinned     cuda.HostBuffer
}

const givenSize = 1 << 20 // more than a copy from pageable memory has staged

// fresh is an event that is recorded in held now.
func (g *given) fresh() cuda.Event {
	e, err := cuda.EventCreateWithFlags(cuda.EventDisableTiming)
	g.must(err)
	g.must(cuda.EventRecord(e, g.held))
	return e
}

// happened reports whether all has happened that is in held, by a fresh event that has had time to be there.
func (g *given) happened() bool {
	e := g.fresh()
	for range 20 {
		_, _, err := cuda.MemGetInfo()
		g.must(err)
	}
	return cuda.EventQuery(e) == nil
}

func (g *given) work(s cuda.Stream) { g.must(cuda.MemsetAsync(g.memory, 0, 1, s)) }

var hostWaits = map[string]struct {
	do   func(g *given)
	want trace.Op // that makes the host wait; OpNone: none does
}{
	"a stream is synchronised": {func(g *given) { g.must(cuda.StreamSynchronize(g.free)) }, trace.OpStreamSynchronize},
	"an event is synchronised": {func(g *given) { g.must(cuda.EventSynchronize(g.events[0])) }, trace.OpEventSynchronize},
	"a copy that the host waits for": {func(g *given) {
		g.must(cuda.MemcpyDtoH(make(cuda.Pageable, 1), g.memory, 1))
	}, trace.OpMemcpyDtoH},
	"a copy to pageable memory, with Async in its name": {func(g *given) {
		g.must(cuda.MemcpyDtoHAsync(make(cuda.Pageable, 1), g.memory, 1, g.free))
	}, trace.OpMemcpyDtoHAsync},
	"a copy from pageable memory too large to be staged, behind held-back work": {func(g *given) {
		g.must(cuda.MemcpyHtoDAsync(g.memory, make(cuda.Pageable, givenSize), givenSize, g.held))
	}, trace.OpMemcpyHtoDAsync},
	"the same where nothing is held back": {func(g *given) {
		g.must(cuda.MemcpyHtoDAsync(g.memory, make(cuda.Pageable, givenSize), givenSize, g.free))
	}, trace.OpNone},
	"a staged copy": {func(g *given) {
		g.must(cuda.MemcpyHtoDAsync(g.memory, make(cuda.Pageable, 8), 8, g.held))
	}, trace.OpNone},
	"copies with pinned memory": {func(g *given) {
		g.must(cuda.MemcpyHtoDAsync(g.memory, g.pinned, 8, g.held))
		g.must(cuda.MemcpyDtoHAsync(g.pinned, g.memory, 8, g.held))
	}, trace.OpNone},
	"a full queue": {func(g *given) {
		for range 2000 {
			g.work(g.held)
		}
	}, trace.OpMemsetAsync},
	"a stream is asked until it is done": {func(g *given) {
		for cuda.StreamQuery(g.held) != nil {
		}
	}, trace.OpStreamQuery},
	"an event is asked until it has happened, with another call between": {func(g *given) {
		for e := g.fresh(); cuda.EventQuery(e) != nil; {
			_, _, err := cuda.MemGetInfo()
			g.must(err)
		}
	}, trace.OpEventQuery},
	"a fresh event is asked each time": {func(g *given) {
		for !g.happened() {
		}
	}, trace.OpEventQuery},
	"one event, recorded anew each time": {func(g *given) {
		e := g.fresh()
		for range 5 {
			_ = cuda.EventQuery(e)
			g.must(cuda.EventRecord(e, g.held))
		}
	}, trace.OpEventQuery},
	"streams are asked in turns": {func(g *given) {
		for cuda.StreamQuery(g.held) != nil || cuda.StreamQuery(g.free) != nil {
		}
	}, trace.OpStreamQuery},
	"the time between events is asked for until there is one": {func(g *given) {
		start, err := cuda.EventCreate()
		g.must(err)
		end, err := cuda.EventCreate()
		g.must(err)
		g.must(cuda.EventRecord(start, g.held))
		g.must(cuda.EventRecord(end, g.held))
		for err = cuda.ErrorNotReady; err != nil; {
			_, err = cuda.EventElapsedTime(start, end)
		}
	}, trace.OpEventElapsedTime},
	"work that nobody needs between questions": {func(g *given) {
		for cuda.StreamQuery(g.held) != nil {
			g.work(g.free)
		}
	}, trace.OpStreamQuery},
	"the same, behind a fresh event each time": {func(g *given) {
		for !g.happened() {
			g.work(g.free)
		}
	}, trace.OpEventQuery},
	"a question at each step": {func(g *given) {
		for range 50 {
			if cuda.StreamQuery(g.held) != nil {
				g.must(cuda.StreamWaitEvent(g.free, g.events[0]))
			}
			g.work(g.free)
		}
	}, trace.OpNone},
	"a question about each of many events": {func(g *given) {
		for _, e := range g.events {
			if cuda.EventQuery(e) != nil {
				g.must(cuda.StreamWaitEvent(g.free, e))
			}
		}
	}, trace.OpNone},
	"a question about what each step has put there": {func(g *given) {
		for range 50 {
			g.work(g.held)
			if e := g.fresh(); cuda.EventQuery(e) != nil {
				g.must(cuda.StreamWaitEvent(g.free, e))
			}
		}
	}, trace.OpNone},
}

func TestWaitsInWhateverTheyAreCalled(t *testing.T) {
	for name, c := range hostWaits {
		t.Run(name, func(t *testing.T) {
			on := session.New(sim.New(sim.Options{Seed: 1, Jitter: true}))
			on.Limit(100_000) // who asks for ever is to come to an end
			on.Use()
			on.StartTrace()
			n := &notes{verdict.CaseNotes{ID: "a case", Values: map[string][]uint64{}}}
			b := &suite.Bench{Session: on, CaseID: "a case", Notes: n}
			g := &given{must: func(err error) { require.NoError(t, err) }}
			s := b.NewStage()
			g.held, g.free = s.Stream("held"), s.Stream("free")
			s.Lend(givenSize)
			g.memory = s.Memory[0]
			var err error
			g.pinned, err = cuda.MallocHost(8)
			g.must(err)
			g.must(cuda.DeviceSynchronize())
			g.must(probe.Delay(g.held, suite.PendingDelay))
			for range 9 {
				g.events = append(g.events, g.fresh())
			}

			o := b.Call(name, func() error { c.do(g); return nil })
			require.True(t, o.OK(), o.Panic)
			n.Trace = on.StopTrace()
			e := &suite.Evidence{Cases: map[string]*verdict.CaseNotes{n.ID: &n.CaseNotes}, Device: verdict.Device{Kind: "sim"}}

			found := map[trace.Op]bool{}
			for at, how := range e.WaitsIn(&n.CaseNotes) {
				require.NotEmpty(t, how)
				found[n.Trace.Records[at].Op] = true
			}
			want := map[trace.Op]bool{}
			if c.want != trace.OpNone {
				want[c.want] = true
			}
			require.Equal(t, want, found)
		})
	}
}

// What waits in one call says nothing of the next, and what the grader does between is nobody's wait.
func TestWaitsInAreCountedByCall(t *testing.T) {
	on := session.New(sim.New(sim.Options{}))
	on.Use()
	on.StartTrace()
	n := &notes{verdict.CaseNotes{ID: "a case", Values: map[string][]uint64{}}}
	b := &suite.Bench{Session: on, CaseID: "a case", Notes: n}
	s := b.NewStage()
	held := s.Stream("held")
	s.Busy(held, suite.PendingDelay)
	for range 5 {
		b.Call("asks once", func() error {
			require.ErrorIs(t, cuda.StreamQuery(held), cuda.ErrorNotReady)
			return nil
		})
	}
	b.Call("has the grader wait", func() error {
		require.ErrorIs(t, cuda.StreamQuery(held), cuda.ErrorNotReady)
		return b.Callback("wait", cuda.DeviceSynchronize)
	})
	n.Trace = on.StopTrace()
	e := &suite.Evidence{Cases: map[string]*verdict.CaseNotes{n.ID: &n.CaseNotes}, Device: verdict.Device{Kind: "sim"}}
	require.Empty(t, e.WaitsIn(&n.CaseNotes))
}
