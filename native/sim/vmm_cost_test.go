package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// What a mapping costs is what was measured, call by call, in microseconds.
func TestVirtualMemoryCosts(t *testing.T) {
	const held, mapped = 0.2, 0.7
	for _, c := range []struct {
		size                                            uint64
		reserve, create, access, unmap, release, forget float64
	}{
		{2 * mib, 0.5, 7.1, 18.6, 13.3, 10.1, 0.5},
		{4 * mib, 0.5, 7.1, 18.6, 13.3, 11, 0.5},
		{16 * mib, 0.5, 7.1, 18.6, 13.3, 15.8, 0.5},
		{32 * mib, 1.9, 13.1, 31.5, 20, 17.3, 1.5},
		{64 * mib, 1.9, 7.4, 31.5, 20, 25.7, 1.5},
		{128 * mib, 1.9, 7.8, 31.5, 20, 38.1, 1.5},
		{256 * mib, 1.9, 8.6, 31.5, 19, 57.5, 1.5},
		{512 * mib, 1.9, 12.8, 42, 23.4, 118.9, 1.5},
		{1024 * mib, 1.9, 21.8, 53.9, 27.8, 222.3, 1.5},
	} {
		d := New(Options{})
		took := func(want float64, call func()) {
			t.Helper()
			start := d.Now()
			call()
			require.InEpsilon(t, want, float64(d.Now()-start)/1000, 0.02)
		}
		var (
			r device.Ptr
			h device.MemHandle
		)
		took(c.reserve, func() { r = reserve(t, d, c.size) })
		took(c.create, func() { h = create(t, d, c.size) })
		took(mapped, func() { ok(t, d.MemMap(r, c.size, 0, h, 0)) })
		took(c.access, func() { ok(t, setAccess(d, r, c.size, device.MemAccessReadWrite)) })
		took(c.unmap, func() { ok(t, d.MemUnmap(r, c.size)) })
		took(c.release, func() { ok(t, d.MemRelease(h)) })

		h = create(t, d, c.size)
		open(t, d, r, c.size, h)
		took(held, func() { ok(t, d.MemRelease(h)) })
		took(c.unmap+c.release, func() { ok(t, d.MemUnmap(r, c.size)) })
		took(c.forget, func() { ok(t, d.MemAddressFree(r, c.size)) })
	}
}

// An unmap costs by the mapping: 64 of 2 MiB, freed with it, took 1,384 microseconds in one call.
func TestUnmapCostsByTheMapping(t *testing.T) {
	const g = granularity
	d := New(Options{})
	r := reserve(t, d, 64*g)
	for i := range device.Ptr(64) {
		back(t, d, r+i*g, g)
	}
	start := d.Now()
	ok(t, d.MemUnmap(r, 64*g))
	require.InEpsilon(t, 1384, float64(d.Now()-start)/1000, 0.1)
}
