package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

const keepAll = ^uint64(0)

// A walk through the pool's accounting.
func TestPoolAccounting(t *testing.T) {
	d := New(Options{})
	s := newStream(t, d)
	stats := func(reserved, reservedHigh, used, usedHigh uint64) {
		t.Helper()
		require.Equal(t, []uint64{reserved, reservedHigh, used, usedHigh}, []uint64{
			poolAttr(t, d, device.PoolReservedMemCurrent), poolAttr(t, d, device.PoolReservedMemHigh),
			poolAttr(t, d, device.PoolUsedMemCurrent), poolAttr(t, d, device.PoolUsedMemHigh),
		})
	}
	stats(0, 0, 0, 0)
	one := mallocAsync(t, d, 1, s)
	stats(32*mib, 32*mib, 1, 1)
	big := mallocAsync(t, d, 70*mib, s) // begins in what is left of the first step
	stats(96*mib, 96*mib, 70*mib+1, 70*mib+1)
	delay(t, d, s, long)
	ok(t, d.MemFreeAsync(big, s))
	stats(96*mib, 96*mib, 1, 70*mib+1)
	ok(t, d.StreamSynchronize(0))
	stats(96*mib, 96*mib, 1, 70*mib+1) // the free is pending
	ok(t, d.StreamSynchronize(s))
	stats(32*mib, 96*mib, 1, 70*mib+1)
	setPool(t, d, device.PoolReservedMemHigh, 0)
	setPool(t, d, device.PoolUsedMemHigh, 0)
	stats(32*mib, 32*mib, 1, 1)
	ok(t, d.MemFree(one)) // gives it back, and leaves it counted as used
	stats(0, 32*mib, 1, 1)
}

func TestReleaseThreshold(t *testing.T) {
	for _, c := range []struct{ threshold, want uint64 }{
		{0, 0}, {1, 0}, {32*mib - 1, 0}, {32 * mib, 32 * mib}, {33 * mib, 32 * mib}, {200 * mib, 192 * mib},
		{1 << 30, 256 * mib}, {keepAll, 256 * mib},
	} {
		for name, synchronise := range map[string]func(d *Device, s device.Stream, e device.Event) device.Code{
			"stream": func(d *Device, s device.Stream, _ device.Event) device.Code { return d.StreamSynchronize(s) },
			"event":  func(d *Device, _ device.Stream, e device.Event) device.Code { return d.EventSynchronize(e) },
			"device": func(d *Device, _ device.Stream, _ device.Event) device.Code { return d.CtxSynchronize() },
		} {
			d := New(Options{})
			s, e := newStream(t, d), newEvent(t, d)
			setPool(t, d, device.PoolReleaseThreshold, c.threshold)
			ok(t, d.MemFreeAsync(mallocAsync(t, d, 256*mib, s), s))
			ok(t, d.EventRecord(e, s))
			ok(t, synchronise(d, s, e))
			require.Equal(t, c.want, poolAttr(t, d, device.PoolReservedMemCurrent), "threshold %d, %s", c.threshold, name)
		}
	}
}

// Who gets a block of 20 MiB that stream A freed: a second one in a step of 32 MiB makes the pool grow.
func TestReuse(t *testing.T) {
	all := []device.PoolAttr{device.PoolReuseFollowEventDependencies, device.PoolReuseAllowOpportunistic,
		device.PoolReuseAllowInternalDependencies}
	for _, c := range []struct {
		name             string
		busy, wait, sync bool
		same             bool
		without          device.PoolAttr // switched off
		only             device.PoolAttr // the only one switched on
		want             bool
	}{
		{name: "same stream, idle", same: true, want: true},
		{name: "same stream, busy", same: true, busy: true, want: true},
		{name: "other, A idle", want: true},
		{name: "other, A idle, not opportunistic", without: device.PoolReuseAllowOpportunistic},
		{name: "other, A idle, only opportunistic", only: device.PoolReuseAllowOpportunistic, want: true},
		{name: "other, A busy", busy: true},
		{name: "other, A busy, event", busy: true, wait: true, want: true},
		{name: "other, A busy, event, only following events", busy: true, wait: true,
			only: device.PoolReuseFollowEventDependencies, want: true},
		{name: "other, A busy, event, not following events", busy: true, wait: true,
			without: device.PoolReuseFollowEventDependencies},
		{name: "other, host synchronised, none", busy: true, sync: true, only: -1, want: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New(Options{})
			a, b, e := newStream(t, d), newStream(t, d), newEvent(t, d)
			setPool(t, d, device.PoolReleaseThreshold, keepAll)
			for _, attr := range all {
				if attr == c.without || c.only != 0 && attr != c.only {
					setPool(t, d, attr, 0)
					require.Zero(t, poolAttr(t, d, attr))
				}
			}
			p := mallocAsync(t, d, 20*mib, a)
			if c.busy {
				delay(t, d, a, long)
			}
			ok(t, d.MemFreeAsync(p, a))
			ok(t, d.EventRecord(e, a))
			if c.wait {
				ok(t, d.StreamWaitEvent(b, e))
			}
			if c.sync {
				ok(t, d.StreamSynchronize(a))
			}
			if c.same {
				b = a
			}
			start := d.Now()
			q := mallocAsync(t, d, 20*mib, b)
			require.Equal(t, c.want, p == q)
			require.Equal(t, c.want, poolAttr(t, d, device.PoolReservedMemCurrent) == 32*mib)
			require.Less(t, d.Now()-start, long, "an allocation does not wait")
		})
	}
}

// When memory is short, a pool makes the new owner wait for the old one, if it may.
func TestInternalDependencies(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		d := New(Options{Memory: 32 * mib})
		a, b := newStream(t, d), newStream(t, d)
		if !allowed {
			setPool(t, d, device.PoolReuseAllowInternalDependencies, 0)
		}
		p := mallocAsync(t, d, 20*mib, a)
		delay(t, d, a, long)
		ok(t, d.MemsetD8Async(p, 1, 20*mib, a))
		ok(t, d.MemFreeAsync(p, a))
		q, c := d.MemAllocAsync(20*mib, b)
		if !allowed {
			require.Equal(t, device.ErrorOutOfMemory, c)
			continue
		}
		ok(t, c)
		require.Equal(t, p, q)
		require.Less(t, d.Now(), long)
		ok(t, d.MemsetD8Async(q, 2, 8, b))
		ok(t, d.StreamSynchronize(b))
		require.Greater(t, d.Now(), long)
		ok(t, d.CtxSynchronize())
		require.Equal(t, filled(8, 2), read(t, d, q, 8), "the old owner's work did not come late")
	}
}

// Reuse without any order the program could rely on still keeps the new owner's data.
func TestReuseKeepsOwnersApart(t *testing.T) {
	d := New(Options{})
	a, b := newStream(t, d), newStream(t, d)
	p := mallocAsync(t, d, 20*mib, a)
	ok(t, d.MemsetD8Async(p, 1, 20*mib, a))
	ok(t, d.MemFreeAsync(p, a))
	for d.StreamQuery(0); d.Now() < long; { // A's work ends, and the host does not ask
		d.StreamQuery(0)
	}
	q := mallocAsync(t, d, 20*mib, b)
	require.Equal(t, p, q)
	ok(t, d.MemsetD8Async(q, 2, 8, b))
	ok(t, d.StreamSynchronize(b))
	ok(t, d.StreamSynchronize(a))
	require.Equal(t, filled(8, 2), read(t, d, q, 8))
}

// Neighbours freed one by one can be handed out as one, and no part's old work comes late.
func TestNeighboursJoin(t *testing.T) {
	d := New(Options{})
	a, b, e := newStream(t, d), newStream(t, d), newEvent(t, d)
	setPool(t, d, device.PoolReleaseThreshold, keepAll)
	var parts []device.Ptr
	for range 4 {
		parts = append(parts, mallocAsync(t, d, 8*mib, a))
	}
	ok(t, d.StreamSynchronize(a))
	for i, p := range parts {
		s := []device.Stream{b, a}[i%2]
		ok(t, d.MemsetD8Async(p, byte(i), 64, s))
		ok(t, d.MemFreeAsync(p, s))
	}
	ok(t, d.EventRecord(e, b))
	ok(t, d.StreamWaitEvent(a, e))
	whole := mallocAsync(t, d, 32*mib, newStreamBehind(t, d, a))
	require.Equal(t, parts[0], whole)
	require.EqualValues(t, 32*mib, poolAttr(t, d, device.PoolReservedMemCurrent))
}

// newStreamBehind is a stream that waits for another, and so for all that the other waits for.
func newStreamBehind(t *testing.T, d *Device, s device.Stream) device.Stream {
	t.Helper()
	e, behind := newEvent(t, d), newStream(t, d)
	ok(t, d.EventRecord(e, s))
	ok(t, d.StreamWaitEvent(behind, e))
	return behind
}

// The same without any order between the old owners and the new one: only time has passed.
func TestNeighboursJoinOpportunistically(t *testing.T) {
	d := New(Options{})
	a, b, c := newStream(t, d), newStream(t, d), newStream(t, d)
	one, two := mallocAsync(t, d, 16*mib, a), mallocAsync(t, d, 16*mib, b)
	for _, p := range []struct {
		device.Ptr
		device.Stream
	}{{one, a}, {two, b}} {
		ok(t, d.MemsetD8Async(p.Ptr, 1, 64, p.Stream))
		ok(t, d.MemFreeAsync(p.Ptr, p.Stream))
	}
	for d.Now() < long {
		ok(t, d.StreamQuery(c))
	}
	whole := mallocAsync(t, d, 32*mib, c)
	require.Equal(t, one, whole)
	ok(t, d.MemsetD8Async(whole, 2, 32*mib, c))
	ok(t, d.StreamSynchronize(c))
	ok(t, d.CtxSynchronize())
	require.Equal(t, filled(64, 2), read(t, d, one, 64))
	require.Equal(t, filled(64, 2), read(t, d, two, 64))
}

// An event dependency reaches through other streams.
func TestReuseBehindAChainOfEvents(t *testing.T) {
	d := New(Options{})
	a := newStream(t, d)
	p := mallocAsync(t, d, 20*mib, a)
	delay(t, d, a, long)
	ok(t, d.MemFreeAsync(p, a))
	require.Equal(t, p, mallocAsync(t, d, 20*mib, newStreamBehind(t, d, newStreamBehind(t, d, a))))
}

// A hole is taken before the end of what is mapped, unless the device has no memory left to map it with.
func TestHoleIsMappedWhereThereIsRoom(t *testing.T) {
	for name, short := range map[string]bool{"room": false, "short of memory": true} {
		t.Run(name, func(t *testing.T) {
			d := New(Options{Memory: 96 * mib})
			s := newStream(t, d)
			mallocAsync(t, d, 32*mib, s)
			hole := mallocAsync(t, d, 32*mib, s)
			last := mallocAsync(t, d, 10*mib, s)
			ok(t, d.MemFreeAsync(hole, s))
			ok(t, d.StreamSynchronize(s))
			require.EqualValues(t, 64*mib, poolAttr(t, d, device.PoolReservedMemCurrent))
			if short {
				malloc(t, d, 32*mib)
				require.Equal(t, last+10*mib, mallocAsync(t, d, 20*mib, s))
				require.EqualValues(t, 64*mib, poolAttr(t, d, device.PoolReservedMemCurrent))
				return
			}
			require.Equal(t, hole, mallocAsync(t, d, 20*mib, s))
			require.EqualValues(t, 96*mib, poolAttr(t, d, device.PoolReservedMemCurrent))
		})
	}
}

// Of free blocks of one size, the one freed first is filled, and the one freed last is begun.
func TestBlocksOfOneSize(t *testing.T) {
	for _, c := range []struct {
		order [2]int // of the frees
		sync  bool
		size  uint64
		want  int
	}{
		{[2]int{0, 2}, false, 4 * mib, 0},
		{[2]int{2, 0}, false, 4 * mib, 2},
		{[2]int{0, 2}, true, 3 * mib, 2},
	} {
		d := New(Options{})
		s := newStream(t, d)
		var blocks []device.Ptr
		for range 4 {
			blocks = append(blocks, mallocAsync(t, d, 4*mib, s))
		}
		for _, i := range c.order {
			ok(t, d.MemFreeAsync(blocks[i], s))
		}
		if c.sync {
			ok(t, d.StreamSynchronize(s))
		}
		require.Equal(t, blocks[c.want], mallocAsync(t, d, c.size, s), "%v", c)
	}
}
