package suite_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/native/trace"
)

func TestProgressKnowsWhatTheHostHasWaitedFor(t *testing.T) {
	launch := func(s trace.ID) trace.Record { return trace.Record{Op: trace.OpLaunch, Stream: s} }
	wait := func(s trace.ID) trace.Record { return trace.Record{Op: trace.OpStreamSynchronize, Stream: s} }
	record := func(e, s trace.ID) trace.Record { return trace.Record{Op: trace.OpEventRecord, Event: e, Stream: s} }
	after := func(s, e trace.ID) trace.Record {
		return trace.Record{Op: trace.OpStreamWaitEvent, Event: e, Stream: s}
	}
	host := func(e trace.ID) trace.Record { return trace.Record{Op: trace.OpEventSynchronize, Event: e} }
	device := trace.Record{Op: trace.OpDeviceSynchronize}
	for name, c := range map[string]struct {
		calls   []trace.Record
		settled bool
	}{
		"nothing":                        {nil, true},
		"work":                           {[]trace.Record{launch(1)}, false},
		"one stream of one":              {[]trace.Record{launch(1), wait(1)}, true},
		"one stream of two":              {[]trace.Record{launch(1), launch(2), wait(1)}, false},
		"both streams":                   {[]trace.Record{launch(1), launch(2), wait(1), wait(2)}, true},
		"work after the wait":            {[]trace.Record{launch(1), wait(1), launch(1)}, false},
		"device":                         {[]trace.Record{launch(1), launch(2), device}, true},
		"joined by an event":             {[]trace.Record{launch(1), launch(2), record(5, 2), after(1, 5), wait(1)}, true},
		"recorded before the work":       {[]trace.Record{launch(1), record(5, 2), launch(2), after(1, 5), wait(1)}, false},
		"recorded again":                 {[]trace.Record{launch(2), record(5, 2), after(1, 5), launch(2), record(5, 2), wait(1)}, false},
		"a chain of events":              {[]trace.Record{launch(1), record(5, 1), after(2, 5), launch(2), record(6, 2), host(6)}, true},
		"an event that is not the last":  {[]trace.Record{launch(1), record(5, 1), launch(1), host(5)}, false},
		"the legacy stream is no device": {[]trace.Record{launch(1), wait(0)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var p suite.Progress
			for at := range c.calls {
				p.Take(at, &c.calls[at])
			}
			require.Equal(t, c.settled, p.Settled())
		})
	}
}
