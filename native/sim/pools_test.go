package sim

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

func newOwnPool(t *testing.T, d *Device) device.Pool {
	p, code := d.MemPoolCreate()
	require.Equal(t, device.Success, code)
	return p
}

func allocFrom(t *testing.T, d *Device, size uint64, p device.Pool, s device.Stream) device.Ptr {
	a, code := d.MemAllocFromPoolAsync(size, p, s)
	require.Equal(t, device.Success, code)
	return a
}

func reserved(t *testing.T, d *Device, p device.Pool) uint64 {
	value, code := d.MemPoolGetAttribute(p, device.PoolReservedMemCurrent)
	require.Equal(t, device.Success, code)
	return value
}

func TestMemoryOutlivesItsPool(t *testing.T) {
	d := New(Options{})
	free, _, _ := d.MemGetInfo()
	p := newOwnPool(t, d)
	a := allocFrom(t, d, 64, p, 0)
	require.Equal(t, device.Success, d.MemPoolDestroy(p))
	require.Equal(t, device.ErrorInvalidValue, d.MemPoolDestroy(p))
	_, code := d.MemAllocFromPoolAsync(64, p, 0)
	require.Equal(t, device.ErrorInvalidValue, code)

	require.Equal(t, device.Success, d.MemsetD8(a, 7, 64))
	got := make([]byte, 64)
	require.Equal(t, device.Success, d.MemcpyDtoH(got, a))
	require.Equal(t, bytes.Repeat([]byte{7}, 64), got)

	require.Equal(t, device.Success, d.CtxSynchronize())
	held, _, _ := d.MemGetInfo()
	require.Less(t, held, free)
	require.Equal(t, device.Success, d.MemFreeAsync(a, 0))
	require.Equal(t, device.Success, d.CtxSynchronize())
	after, _, _ := d.MemGetInfo()
	require.Equal(t, free, after)
	require.Len(t, d.pools, 1, "nothing is left of the pool")
}

func TestTheDefaultPoolFollowsADestroyedCurrentOne(t *testing.T) {
	d := New(Options{})
	standard, _ := d.DeviceGetDefaultMemPool()
	p := newOwnPool(t, d)
	require.Equal(t, device.Success, d.DeviceSetMemPool(p))
	_, code := d.MemAllocAsync(64, 0)
	require.Equal(t, device.Success, code)
	require.Zero(t, reserved(t, d, standard))
	require.Equal(t, device.ErrorInvalidValue, d.MemPoolDestroy(standard))
	require.Equal(t, device.ErrorInvalidValue, d.DeviceSetMemPool(0))
	require.Equal(t, device.Success, d.MemPoolDestroy(p))
	current, _ := d.DeviceGetMemPool()
	require.Equal(t, standard, current)
	_, code = d.MemAllocAsync(64, 0)
	require.Equal(t, device.Success, code)
	require.NotZero(t, reserved(t, d, standard))
}

func TestTrimLeavesWhatAPendingFreeHolds(t *testing.T) {
	d := New(Options{})
	step := d.profile.PoolStep
	s, _ := d.StreamCreate(device.StreamNonBlocking)
	p := newOwnPool(t, d)
	require.Equal(t, device.Success, d.MemPoolSetAttribute(p, device.PoolReleaseThreshold, 1<<40))
	a, b := allocFrom(t, d, step, p, s), allocFrom(t, d, 2*step, p, s)
	require.Equal(t, device.Success, d.MemFreeAsync(b, s))
	require.Equal(t, device.Success, d.StreamSynchronize(s))
	require.Equal(t, 3*step, reserved(t, d, p))
	require.Equal(t, device.Success, d.MemPoolTrimTo(p, 2*step+1))
	require.Equal(t, 3*step, reserved(t, d, p), "whole steps are kept, at least as many bytes as asked for")
	require.Equal(t, device.Success, d.MemPoolTrimTo(p, 2*step))
	require.Equal(t, 2*step, reserved(t, d, p))

	require.Equal(t, device.Success, d.MemsetD8Async(a, 1, step, s))
	require.Equal(t, device.Success, d.MemFreeAsync(a, s))
	require.Equal(t, device.Success, d.MemPoolTrimTo(p, 0))
	require.Equal(t, step, reserved(t, d, p), "the free is pending")
	require.Equal(t, device.Success, d.StreamSynchronize(s))
	require.Equal(t, device.Success, d.MemPoolTrimTo(p, 0))
	require.Zero(t, reserved(t, d, p))
}

func TestPoolsDoNotShareAddresses(t *testing.T) {
	d := New(Options{})
	gone := newOwnPool(t, d)
	kept := allocFrom(t, d, 64, gone, 0)
	require.Equal(t, device.Success, d.MemPoolDestroy(gone))
	seen := map[device.Ptr]bool{kept: true}
	for range 20 {
		a := allocFrom(t, d, 64, newOwnPool(t, d), 0)
		require.False(t, seen[a])
		seen[a] = true
	}
	require.Equal(t, device.Success, d.MemFreeAsync(kept, 0))
	require.Equal(t, device.Success, d.CtxSynchronize())
	require.Equal(t, kept, allocFrom(t, d, 64, newOwnPool(t, d), 0), "addresses of a pool that is gone serve again")
}
