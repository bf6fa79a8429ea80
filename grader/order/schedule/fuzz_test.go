package schedule_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/order"
	"cudalab/grader/order/schedule"
	"cudalab/kernels/listed"
	"cudalab/native/codec"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/trace"
)

// FuzzOrders looks for orders of whatever can be read as a trace: what a runner sends need not be what a session
// records.
func FuzzOrders(f *testing.F) {
	for _, look := range []bool{false, true} {
		var w codec.Writer
		seedTrace(f, look).Encode(&w)
		f.Add(w.Bytes())
	}
	kernels := func(entry string) *device.Kernel {
		for _, k := range listed.All() {
			if k.Entry() == entry {
				return k
			}
		}
		return nil
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		made, err := trace.Decode(codec.NewReader(b))
		if err != nil || len(made.Records) > 200 {
			return
		}
		p := schedule.New(made)
		require.Positive(t, p.Count().Count.Sign())
		schedule.Legal(made, p.Happened())
		p.Same()(p.Random(rand.New(rand.NewPCG(1, 1))))
		for _, x := range order.Check(made) {
			if c, ok := p.Counterexample(x); ok {
				story := p.Story(c, kernels)
				require.NotEmpty(t, story.Steps)
				require.NotEmpty(t, p.Film(c, story, func(int) bool { return true }).Takes)
			}
		}
	})
}

// seedTrace has two streams, and no edge between them.
func seedTrace(f *testing.F, host bool) *trace.Trace {
	return recordOn(f, func(w world) {
		p, _ := w.MallocAsync(size, w.a)
		w.MemsetAsync(p, 1, size, w.a)
		if host {
			pinned, _ := w.MallocHost(size)
			w.HostWrite(pinned, 0, make([]byte, size))
			w.MemcpyDtoHAsync(session.Host{Buffer: pinned}, p, size, w.b)
			w.HostRead(pinned, 0, make([]byte, size))
		}
		w.MemcpyDtoDAsync(p, p+512, 256, w.b)
		w.FreeAsync(p, w.b)
	}, 0, func(s *session.Session) { s.RecordGiven(true) })
}
