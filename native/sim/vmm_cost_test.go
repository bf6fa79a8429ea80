package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// What a mapping costs is what was measured, call by call, in microseconds.
func TestVirtualMemoryCosts(t *testing.T) {
	const held, mapped = 0.13, 0.6
	for _, c := range []struct {
		size                                            uint64
		reserve, create, access, unmap, release, forget float64
	}{
		{2 * mib, 0.63, 5.8, 16.4, 11.5, 8.4, 0.45},
		{4 * mib, 0.63, 5.8, 16.4, 11.5, 9, 0.45},
		{16 * mib, 0.63, 5.8, 16.4, 11.5, 12, 0.45},
		{32 * mib, 1.5, 10.5, 31, 18.7, 14.4, 1.5},
		{64 * mib, 1.5, 5.9, 31.1, 18.7, 20.1, 1.5},
		{128 * mib, 1.5, 6.5, 31.4, 18.7, 32, 1.5},
		{256 * mib, 1.5, 7.2, 32, 18.7, 55, 1.55},
		{512 * mib, 1.5, 9.3, 44, 22.4, 104, 1.6},
		{1024 * mib, 1.5, 12.9, 54.6, 26.4, 199.4, 1.7},
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

// An unmap costs by the mapping: 64 of 2 MiB, freed with it, took 1,333 microseconds in one call.
func TestUnmapCostsByTheMapping(t *testing.T) {
	const g = granularity
	d := New(Options{})
	r := reserve(t, d, 64*g)
	for i := range device.Ptr(64) {
		back(t, d, r+i*g, g)
	}
	start := d.Now()
	ok(t, d.MemUnmap(r, 64*g))
	require.InEpsilon(t, 1333, float64(d.Now()-start)/1000, 0.1)
}
