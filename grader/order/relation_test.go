package order

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/trace"
)

// beforeAgainst compares Before with a reference on one program, and counts the pairs that are in order and those that
// are not.
func beforeAgainst(t *testing.T, p *steps, relate func(machine) relation, pairs *[2]int) {
	b := p.build()
	want, got := relate(b.machine), Of(&b.trace)
	for j := range b.calls {
		for i := range j {
			if b.machine[i].idle || b.machine[j].idle {
				continue
			}
			first, then := b.calls[i].record, b.calls[j].record
			before := got.Before(first, then)
			require.Equal(t, want.ordered(i, j), before, "call %d before call %d of\n%s", i, j, p)
			require.False(t, got.Before(then, first))
			if wait := got.Wait(first, then); wait >= 0 {
				require.True(t, before)
				require.True(t, first < wait && wait <= then)
			}
			if before {
				pairs[1]++
			} else {
				pairs[0]++
			}
		}
	}
}

// Before is what all interleavings of a program show, for any two of its calls.
func TestBeforeAgainstEveryInterleaving(t *testing.T) {
	var pairs [2]int
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 5))
		beforeAgainst(t, randomProgram(random, 4+random.IntN(14), 3, 3), func(m machine) relation { return m.observe() },
			&pairs)
	}
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 6))
		beforeAgainst(t, randomProgram(random, 20+random.IntN(40), 6, 3), machine.graph, &pairs)
	}
	require.Greater(t, pairs[0], 2000)
	require.Greater(t, pairs[1], 2000)
}

func TestWhatTheHostHasWaitedFor(t *testing.T) {
	const a, b = 1, 2 // streams
	launch := func(s trace.ID) trace.Record { return trace.Record{Op: trace.OpLaunch, Stream: s} }
	query := func(s trace.ID) trace.Record { return trace.Record{Op: trace.OpStreamQuery, Stream: s} }
	record := func(e, s trace.ID) trace.Record { return trace.Record{Op: trace.OpEventRecord, Event: e, Stream: s} }
	wait := func(s, e trace.ID) trace.Record {
		return trace.Record{Op: trace.OpStreamWaitEvent, Event: e, Stream: s}
	}
	host := func(e trace.ID) trace.Record { return trace.Record{Op: trace.OpEventQuery, Event: e} }
	refused := func(r trace.Record) trace.Record { r.Code = invalidValue; return r }
	device := trace.Record{Op: trace.OpDeviceSynchronize}
	read := trace.Record{Op: trace.OpHostRead}
	for name, c := range map[string]struct {
		calls []trace.Record // of which the first is asked about, and the last is what has to come after it
		wait  int            // the call that makes it so; -1: none does
	}{
		"nothing between":                {[]trace.Record{launch(a), read}, -1},
		"its stream":                     {[]trace.Record{launch(a), query(a), read}, 1},
		"another stream":                 {[]trace.Record{launch(a), query(b), read}, -1},
		"the device":                     {[]trace.Record{launch(a), device, read}, 1},
		"the device, for another stream": {[]trace.Record{launch(a), device, launch(b)}, 1},
		"an event for the host":          {[]trace.Record{launch(a), record(5, a), host(5), read}, 2},
		"an event for a stream":          {[]trace.Record{launch(a), record(5, a), launch(b), wait(b, 5), launch(b)}, 3},
		"an event from before":           {[]trace.Record{launch(a), record(5, b), wait(b, 5), launch(b)}, -1},
		"a wait ahead of the record":     {[]trace.Record{launch(a), wait(b, 5), record(5, a), launch(b)}, -1},
		"by way of a third stream": {[]trace.Record{launch(a), record(5, a), wait(3, 5), record(6, 3), wait(b, 6),
			launch(b)}, 4},
		"the wait itself is what is behind":  {[]trace.Record{launch(a), record(5, a), wait(b, 5)}, 2},
		"a wait that was refused":            {[]trace.Record{launch(a), record(5, a), refused(wait(b, 5)), launch(b)}, -1},
		"joined by an event, and one stream": {[]trace.Record{launch(a), record(5, a), wait(b, 5), query(b), read}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			made := &trace.Trace{Records: []trace.Record{
				{Op: trace.OpStreamCreate, Stream: a, Flags: nonBlocking}, {Op: trace.OpStreamCreate, Stream: b,
					Flags: nonBlocking},
				{Op: trace.OpStreamCreate, Stream: 3, Flags: nonBlocking}, {Op: trace.OpEventCreate, Event: 5},
				{Op: trace.OpEventCreate, Event: 6},
			}}
			first := len(made.Records)
			made.Records = append(made.Records, c.calls...)
			want := -1
			if c.wait >= 0 {
				want = first + c.wait
			}
			last := len(made.Records) - 1
			require.Equal(t, want >= 0, Of(made).Before(first, last))
			require.Equal(t, want, Of(made).Wait(first, last))
		})
	}
}

func TestNothingIsBeforeACallThatWasRefused(t *testing.T) {
	made := &trace.Trace{Records: []trace.Record{
		{Op: trace.OpLaunch, Stream: 1}, {Op: trace.OpLaunch, Stream: 1, Code: invalidValue}, {Op: trace.OpLaunch, Stream: 1},
	}}
	r := Of(made)
	require.True(t, r.Before(0, 2))
	require.False(t, r.Before(0, 1))
	require.False(t, r.Before(1, 2))
	require.False(t, r.Before(-1, 2))
	require.False(t, r.Before(0, 3))
	require.False(t, r.Before(0, 0))
}

// Of a call that waits the first record is its beginning, and the second its return.
func TestACallThatWaitsHasTwoPlaces(t *testing.T) {
	h := newHandmade()
	s := h.Stream(nonBlocking)
	m := h.MallocAsync(8, s)
	h.SyncStream(s)
	h.FreeAsync(m, s)
	made := h.finish()
	r, enter := Of(made), 2
	require.Equal(t, trace.Enter, made.Records[enter].Phase)
	require.False(t, r.Before(1, enter))
	require.True(t, r.Before(1, enter+1))
}
