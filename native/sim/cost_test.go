package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// What an allocation costs the host goes by how its memory is found: on two streams that have used the pool, with
// blocks of all that it holds.
func TestPoolSearchCosts(t *testing.T) {
	const size = 32 * mib
	p := H200
	for _, c := range []struct {
		name    string
		before  func(d *Device, s []device.Stream) // after a block was freed in s[0] and the host has waited for it
		size    uint64
		extra   int64 // beyond MallocAsync
		without int64 // the same without opportunistic reuse
	}{
		{"what the host has seen freed", func(*Device, []device.Stream) {}, size, 3 * p.PoolSearch, 0},
		{"half of that", func(*Device, []device.Stream) {}, size / 2, 3*p.PoolSearch + p.PoolSplit, p.PoolSplit},
		{"what the stream has just freed", func(d *Device, s []device.Stream) {
			ok(t, d.MemFreeAsync(mallocAsync(t, d, size, s[0]), s[0]))
		}, size, 0, 0},
		{"what the other stream has just freed", func(d *Device, s []device.Stream) {
			ok(t, d.MemFreeAsync(mallocAsync(t, d, size, s[1]), s[1]))
		}, size, p.PoolSearch, p.PoolGrow.At(size)},
		{"what the stream is ordered behind the free of", func(d *Device, s []device.Stream) {
			ok(t, d.MemFreeAsync(mallocAsync(t, d, size, s[1]), s[1]))
			e := must[device.Event](t)(d.EventCreate(device.EventDisableTiming))
			ok(t, d.EventRecord(e, s[1]))
			ok(t, d.StreamWaitEvent(s[0], e))
		}, size, 0, 0},
		{"work has run in both streams", func(d *Device, s []device.Stream) {
			delay(t, d, s[0], 0)
			delay(t, d, s[1], 0)
			ok(t, d.CtxSynchronize())
		}, size, 3 * (p.PoolSearch + p.PoolSearchWork), 0},
		{"the other stream is busy", func(d *Device, s []device.Stream) { delay(t, d, s[1], long) }, size, p.PoolSearch, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, opportunistic := range []bool{true, false} {
				d := New(Options{})
				setPool(t, d, device.PoolReleaseThreshold, keepAll)
				s := []device.Stream{newStream(t, d), newStream(t, d)}
				want := c.extra
				if !opportunistic {
					setPool(t, d, device.PoolReuseAllowOpportunistic, 0)
					want = c.without
				}
				for _, s := range []device.Stream{s[1], s[0]} {
					ok(t, d.MemFreeAsync(mallocAsync(t, d, size, s), s))
					ok(t, d.CtxSynchronize())
				}
				c.before(d, s)
				start := d.Now()
				mallocAsync(t, d, c.size, s[0])
				require.Equal(t, p.MallocAsync+want, d.Now()-start, "opportunistic reuse: %v", opportunistic)
			}
		})
	}
}

// A stream that is gone is not asked.
func TestDestroyedStreamsAreNotSearched(t *testing.T) {
	d := New(Options{})
	setPool(t, d, device.PoolReleaseThreshold, keepAll)
	for range 100 {
		s := newStream(t, d)
		ok(t, d.MemFreeAsync(mallocAsync(t, d, mib, s), s))
		ok(t, d.StreamSynchronize(s))
		ok(t, d.StreamDestroy(s))
	}
	require.Len(t, d.pools[0].users, 1)
}

// Timing costs an event the host's time and the device's.
func TestEventTimingCosts(t *testing.T) {
	d := New(Options{})
	s := newStream(t, d)
	record := func(flags uint32) int64 {
		e := must[device.Event](t)(d.EventCreate(flags))
		start := d.Now()
		ok(t, d.EventRecord(e, s))
		return d.Now() - start
	}
	require.Equal(t, H200.EventRecord, record(device.EventDisableTiming))
	require.Equal(t, H200.EventRecord+H200.EventTiming, record(0))

	delay(t, d, s, long)
	a, b := must[device.Event](t)(d.EventCreate(0)), must[device.Event](t)(d.EventCreate(0))
	ok(t, d.EventRecord(a, s))
	ok(t, d.EventRecord(b, s))
	ok(t, d.StreamSynchronize(s))
	milliseconds, code := d.EventElapsedTime(a, b)
	ok(t, code)
	require.InEpsilon(t, H200.EventStamp, 1e6*milliseconds, 0.001)
}

// Waking costs where work has run, and not where memory alone was allocated and freed.
func TestWakingCosts(t *testing.T) {
	d := New(Options{})
	setPool(t, d, device.PoolReleaseThreshold, keepAll)
	s := newStream(t, d)
	synchronize := func() int64 {
		start := d.Now()
		ok(t, d.StreamSynchronize(s))
		return d.Now() - start
	}
	ok(t, d.MemFreeAsync(mallocAsync(t, d, mib, s), s))
	require.Equal(t, H200.Synchronize, synchronize())
	delay(t, d, s, 0)
	for range 10 {
		_, _, code := d.MemGetInfo()
		ok(t, code)
	}
	require.Equal(t, H200.Synchronize+H200.Wake, synchronize(), "the kernel has finished")
	require.Equal(t, H200.Synchronize, synchronize(), "and was waited for")
}
