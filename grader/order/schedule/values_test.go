package schedule_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/order/schedule"
	"cudalab/kernels/listed"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

func kernelNamed(entry string) *device.Kernel {
	all := listed.All()
	if i := slices.IndexFunc(all, func(k *device.Kernel) bool { return k.Entry() == entry }); i >= 0 {
		return all[i]
	}
	return nil
}

// launch launches a kernel with one block of threads for each 32 elements.
func (w world) launch(t *testing.T, entry string, s *session.Stream, n int, args ...uint64) {
	l := &device.Launch{Kernel: kernel(t, entry), Grid: device.Dim{X: uint32(n+31) / 32}, Block: device.Dim{X: 32}}
	copy(l.Args[:], args)
	require.Zero(t, w.Launch(l, s))
}

// What an order computes, in the order that happened, is what the device computed.
func TestValuesAreTheDevices(t *testing.T) {
	const n = size / 4
	var seen [][]byte // what the host has read, in order
	tr := given(t, func(w world) {
		fromPageable, filled, sum, moved := w.next(), w.next(), w.next(), w.next()
		pinned, _ := w.MallocHost(size)
		some := make([]byte, size)
		for i := range some {
			some[i] = byte(i * 7)
		}
		read := func() {
			bytes := make([]byte, size)
			require.Zero(t, w.HostRead(pinned, 0, bytes))
			seen = append(seen, bytes)
		}
		require.Zero(t, w.HostWrite(pinned, 0, some))
		read()
		require.Zero(t, w.MemcpyHtoD(fromPageable, session.Host{Slice: some}, size))
		require.Zero(t, w.DeviceSynchronize())
		require.Zero(t, w.MemcpyHtoDAsync(moved, session.Host{Buffer: pinned}, size, w.a))
		require.Zero(t, w.MemsetAsync(sum, 0, size, w.a))
		w.launch(t, "fill", w.a, n, uint64(filled), n)
		w.launch(t, "checksum", w.a, n, uint64(filled), n, uint64(sum))
		require.Zero(t, w.MemcpyDtoDAsync(moved+16, filled+32, size-32, w.a))
		for _, p := range []device.Ptr{fromPageable, moved, sum, filled} {
			require.Zero(t, w.MemcpyDtoHAsync(session.Host{Buffer: pinned}, p, size, w.a))
			require.Zero(t, w.StreamSynchronize(w.a))
			read()
		}
	})
	p := schedule.New(tr)
	require.Empty(t, faults(p))
	reads := ops(tr, trace.OpHostRead)
	require.Len(t, reads, len(seen))
	for k, at := range reads {
		v, ok := p.Values(p.Happened(), at, kernelNamed)
		require.True(t, ok)
		require.Equal(t, seen[k:k+1], v.Finds)
	}
}

// given is record with what the calls were given.
func given(t *testing.T, program func(w world)) *trace.Trace {
	return recordOn(t, program, 250, func(s *session.Session) { s.RecordGiven(true) })
}

func TestWhatIsComputedInABadOrder(t *testing.T) {
	const n = 50
	race := func(w world) {
		data, sum := w.next(), w.next()
		require.Zero(t, w.Memset(data, 0, size))
		require.Zero(t, w.Memset(sum, 0, size))
		require.Zero(t, w.DeviceSynchronize())
		w.launch(t, "fill", w.a, n, uint64(data), n)
		w.launch(t, "checksum", w.b, n, uint64(data), n, uint64(sum))
	}
	story := func(tr *trace.Trace, kernels schedule.Kernels) string {
		p := schedule.New(tr)
		c, ok := p.Counterexample(faults(p)[0])
		require.True(t, ok)
		for _, s := range p.Story(c, kernels).Steps {
			if s.Wrong != "" {
				return s.Wrong
			}
		}
		return ""
	}
	const finds = "it finds what step 2 has written, and not what step 3 writes"
	require.Regexp(t, "^"+finds+`, so what it adds up comes to 0 instead of [1-9][0-9,]+$`, story(given(t, race),
		kernelNamed))
	require.Equal(t, finds, story(record(t, race), kernelNamed), "where it was not recorded")
	require.Equal(t, finds, story(given(t, race), func(string) *device.Kernel { return nil }),
		"where the kernel is not known")
	require.Equal(t, finds, story(given(t, race), nil))

	copied := func(w world) {
		data, to := w.next(), w.next()
		require.Zero(t, w.Memset(data, 1, size))
		require.Zero(t, w.DeviceSynchronize())
		require.Zero(t, w.MemsetAsync(data, 2, size, w.a))
		require.Zero(t, w.MemcpyDtoDAsync(to, data, size, w.b))
	}
	require.Equal(t, finds+", so the word at byte 0 is 0x01010101 instead of 0x02020202", story(given(t, copied),
		kernelNamed))
}

// What nothing has written, or what was there before, has no value that could be told.
func TestWhatIsNotKnownHasNoValues(t *testing.T) {
	tr := given(t, func(w world) {
		require.Zero(t, w.MemcpyDtoDAsync(w.next(), w.next(), size, w.a))
	})
	p := schedule.New(tr)
	_, ok := p.Values(p.Happened(), ops(tr, trace.OpMemcpyDtoDAsync)[0], kernelNamed)
	require.False(t, ok)

	d := sim.New(sim.Options{})
	defer d.Close()
	s := session.New(d)
	host, _ := s.MallocHost(size)
	s.RecordGiven(true)
	s.StartTrace()
	require.Zero(t, s.HostRead(host, 0, make([]byte, size)))
	tr = s.StopTrace()
	p = schedule.New(tr)
	_, ok = p.Values(p.Happened(), ops(tr, trace.OpHostRead)[0], kernelNamed)
	require.False(t, ok)
}
