package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

const granularity = 2 * mib // H200.Granularity

var (
	onDevice  = device.MemLocation{Type: device.MemLocationDevice}
	pinnedMem = device.MemProp{Type: device.MemAllocationPinned, Location: onDevice}
)

func reserve(t testing.TB, d *Device, size uint64) device.Ptr {
	t.Helper()
	return must[device.Ptr](t)(d.MemAddressReserve(size, 0, 0, 0))
}

func create(t testing.TB, d *Device, size uint64) device.MemHandle {
	t.Helper()
	return must[device.MemHandle](t)(d.MemCreate(size, pinnedMem, 0))
}

func setAccess(d *Device, p device.Ptr, size uint64, access device.MemAccess) device.Code {
	return d.MemSetAccess(p, size, []device.MemAccessDesc{{Location: onDevice, Access: access}})
}

// open maps a handle and gives access.
func open(t testing.TB, d *Device, p device.Ptr, size uint64, h device.MemHandle) {
	t.Helper()
	ok(t, d.MemMap(p, size, 0, h, 0))
	ok(t, setAccess(d, p, size, device.MemAccessReadWrite))
}

// back makes memory behind reserved addresses, of which only the mapping holds on.
func back(t testing.TB, d *Device, p device.Ptr, size uint64) {
	t.Helper()
	h := create(t, d, size)
	open(t, d, p, size, h)
	ok(t, d.MemRelease(h))
}

func freeBytes(t testing.TB, d *Device) uint64 {
	t.Helper()
	free, _, c := d.MemGetInfo()
	ok(t, c)
	return free
}

// Physical memory counts from MemCreate until it is neither held by a handle nor mapped.
func TestPhysicalMemoryLife(t *testing.T) {
	const g = granularity
	d := New(Options{Memory: 64 * mib})
	r := reserve(t, d, 8*g)
	require.EqualValues(t, 64*mib, freeBytes(t, d), "addresses cost no memory")

	h := create(t, d, 3*g)
	require.EqualValues(t, 64*mib-3*g, freeBytes(t, d))
	open(t, d, r, 3*g, h)
	open(t, d, r+3*g, 3*g, h)
	require.EqualValues(t, 64*mib-3*g, freeBytes(t, d), "mapped twice, there once")
	ok(t, d.MemRelease(h))
	require.EqualValues(t, 64*mib-3*g, freeBytes(t, d), "mapped without a handle")
	ok(t, d.MemsetD8(r, 5, 3*g))
	ok(t, d.CtxSynchronize())
	ok(t, d.MemUnmap(r, 3*g))
	require.EqualValues(t, 64*mib-3*g, freeBytes(t, d), "mapped elsewhere")
	require.Equal(t, filled(8, 5), read(t, d, r+6*g-8, 8))
	ok(t, d.MemUnmap(r+3*g, 3*g))
	require.EqualValues(t, 64*mib, freeBytes(t, d))

	h = create(t, d, g)
	open(t, d, r, g, h)
	ok(t, d.MemUnmap(r, g))
	require.EqualValues(t, 64*mib-g, freeBytes(t, d), "a handle without a mapping")
	open(t, d, r+g, g, h)
	ok(t, d.MemUnmap(r+g, g))
	ok(t, d.MemRelease(h))
	require.EqualValues(t, 64*mib, freeBytes(t, d))
}

// Several mappings of one handle are the same bytes.
func TestAliases(t *testing.T) {
	const g = granularity
	d := New(Options{})
	r, h := reserve(t, d, 4*g), create(t, d, g)
	open(t, d, r, g, h)
	open(t, d, r+2*g, g, h)
	require.Equal(t, filled(8, poisonByte), read(t, d, r+2*g, 8))
	ok(t, d.MemsetD8(r+100, 7, 1000))
	add(t, d, 0, r+2*g+104, 1, 1)
	ok(t, d.CtxSynchronize())
	want := filled(1000, 7)
	want[4]++
	require.Equal(t, want, read(t, d, r+100, 1000))
	require.Equal(t, want, read(t, d, r+2*g+100, 1000))

	ok(t, d.MemcpyDtoD(r+200, r+2*g+100, 1000)) // within the same bytes
	ok(t, d.CtxSynchronize())
	require.Equal(t, want, read(t, d, r+2*g+200, 1000))
}

// Memory is garbage when it is made, and what was written stays with it, not with the addresses.
func TestDataBelongToTheMemory(t *testing.T) {
	const g = granularity
	d := New(Options{})
	r, first, second := reserve(t, d, g), create(t, d, g), create(t, d, g)
	open(t, d, r, g, first)
	require.Equal(t, filled(g, poisonByte), read(t, d, r, g))
	ok(t, d.MemsetD8(r, 1, g))
	ok(t, d.CtxSynchronize())
	ok(t, d.MemUnmap(r, g))
	open(t, d, r, g, second)
	require.Equal(t, filled(g, poisonByte), read(t, d, r, g))
	ok(t, d.MemUnmap(r, g))
	ok(t, d.MemRelease(second))
	open(t, d, r, g, first)
	require.Equal(t, filled(g, 1), read(t, d, r, g))
	ok(t, d.MemUnmap(r, g))
	ok(t, d.MemRelease(first))
	back(t, d, r, g) // of the chunks that the first had
	require.Equal(t, filled(g, poisonByte), read(t, d, r, g))
}

// Addresses are handed out lowest first, those asked for where they are free, and never twice.
func TestReservedAddresses(t *testing.T) {
	const g = granularity
	d := New(Options{})
	a, b, c := reserve(t, d, g), reserve(t, d, 2*g), reserve(t, d, g)
	require.Equal(t, []device.Ptr{a + g, a + 3*g}, []device.Ptr{b, c})
	ok(t, d.MemAddressFree(b, 2*g))
	require.Equal(t, a+4*g, reserve(t, d, 3*g), "the hole is too small")
	require.Equal(t, b, reserve(t, d, g))
	require.Equal(t, b+g, must[device.Ptr](t)(d.MemAddressReserve(g, 0, b+g, 0)))

	far := a + 1000*g
	require.Equal(t, far, must[device.Ptr](t)(d.MemAddressReserve(4*g, 0, far, 0)))
	require.Equal(t, a+7*g, must[device.Ptr](t)(d.MemAddressReserve(g, 0, far+3*g, 0)), "taken")
	require.Equal(t, a+8*g, must[device.Ptr](t)(d.MemAddressReserve(2*g, 0, far-g, 0)), "the second half is taken")
	require.Equal(t, a+16*g, must[device.Ptr](t)(d.MemAddressReserve(g, 16*g, far+5*g, 0)), "not aligned")
	require.Equal(t, a+10*g, must[device.Ptr](t)(d.MemAddressReserve(6*g, 0, 0, 0)), "in front of it")
	require.Equal(t, a+17*g, reserve(t, d, g))
}

// Where memory is short, what heaps and pools hold without use goes back; what was refused can be had later.
func TestPhysicalMemoryRunsOut(t *testing.T) {
	const g = granularity
	d := New(Options{Memory: 64 * mib})
	setPool(t, d, device.PoolReleaseThreshold, ^uint64(0))
	p := mallocAsync(t, d, 40*mib, 0)
	_, c := d.MemCreate(2*g, pinnedMem, 0)
	require.Equal(t, device.ErrorOutOfMemory, c, "the pool's memory is in use")
	ok(t, d.MemFreeAsync(p, 0))
	ok(t, d.CtxSynchronize())
	require.EqualValues(t, 64*mib, poolAttr(t, d, device.PoolReservedMemCurrent))

	_, c = d.MemCreate(66*mib, pinnedMem, 0)
	require.Equal(t, device.ErrorOutOfMemory, c)
	require.EqualValues(t, 64*mib, poolAttr(t, d, device.PoolReservedMemCurrent), "in vain: the device has less")
	h := create(t, d, 62*mib)
	require.Zero(t, poolAttr(t, d, device.PoolReservedMemCurrent), "above every threshold")
	_, c = d.MemCreate(2*g, pinnedMem, 0)
	require.Equal(t, device.ErrorOutOfMemory, c)
	_, c = d.MemAllocAsync(1, 0)
	require.Equal(t, device.ErrorOutOfMemory, c)
	small := malloc(t, d, 2*mib)
	_, c = d.MemAlloc(1)
	require.Equal(t, device.ErrorOutOfMemory, c)
	require.Zero(t, freeBytes(t, d))
	ok(t, d.MemRelease(h))
	ok(t, d.MemFree(small))
	require.EqualValues(t, 64*mib, freeBytes(t, d))
	create(t, d, 64*mib)
}

// Memory that grows behind its addresses keeps what was written, and accesses go across the mappings.
func TestGrowth(t *testing.T) {
	for _, granularity := range []uint64{4 << 10, 64 << 10, 512 << 10, 2 * mib, 4 * mib} {
		d := New(Options{Granularity: granularity})
		require.Equal(t, granularity, must[uint64](t)(d.MemGetAllocationGranularity(pinnedMem, device.MemGranularityMinimum)))
		require.Equal(t, granularity, must[uint64](t)(d.MemGetAllocationGranularity(pinnedMem,
			device.MemGranularityRecommended)))
		_, c := d.MemCreate(granularity/2, pinnedMem, 0)
		require.Equal(t, device.ErrorInvalidValue, c)
		_, c = d.MemAddressReserve(granularity*3/2, 0, 0, 0)
		require.Equal(t, device.ErrorInvalidValue, c)

		r := reserve(t, d, 7*granularity)
		require.Zero(t, uint64(r)%granularity)
		var size uint64
		for i, granules := range []uint64{1, 2, 4} {
			step := granules * granularity
			back(t, d, r+device.Ptr(size), step)
			ok(t, d.MemsetD8(r+device.Ptr(size), byte(i), step))
			size += step
		}
		add(t, d, 0, r, int(size/8), 0x1010101010101010)
		ok(t, d.CtxSynchronize())
		want := append(append(filled(int(granularity), 0x10), filled(int(2*granularity), 0x11)...), filled(int(4*granularity),
			0x12)...)
		require.Equal(t, want, read(t, d, r, int(size)))
		require.Equal(t, d.limit-7*granularity, freeBytes(t, d))
		require.Equal(t, device.ErrorInvalidValue, d.MemUnmap(r, 2*granularity))
		ok(t, d.MemUnmap(r, size))
		ok(t, d.MemAddressFree(r, size))
		require.Equal(t, d.limit, freeBytes(t, d))
	}
}

func TestGranularityOutOfTheQuestion(t *testing.T) {
	for _, granularity := range []uint64{1, 2 << 10, 3 * mib, 1<<21 + 1} {
		require.Panics(t, func() { New(Options{Granularity: granularity}) })
	}
}

// Virtual memory costs nothing until it is touched, and leaves nothing behind.
func TestVirtualMemoryIsLazy(t *testing.T) {
	d := New(Options{})
	r := reserve(t, d, 100<<30)
	back(t, d, r, 100<<30)
	ok(t, d.MemsetD8(r+50<<30, 1, 1))
	ok(t, d.CtxSynchronize())
	touched := 0
	for _, c := range d.mem.mappings[0].chunks {
		if c != nil {
			touched++
		}
	}
	require.Equal(t, 1, touched)
	ok(t, setAccess(d, r, 100<<30, device.MemAccessRead))
	ok(t, d.MemUnmap(r, 100<<30))
	ok(t, d.MemAddressFree(r, 100<<30))
	require.Len(t, d.mem.spare, 1, "kept for the next touch")
	require.Empty(t, d.mem.mappings)
	require.Empty(t, d.virtual.reservations)
	require.Empty(t, d.virtual.physical)
	require.Zero(t, d.virtual.readOnly)
}

// Mappings lie across reservations, and beyond them, as they lie within one.
func TestMappingsAcrossReservations(t *testing.T) {
	const g = granularity
	d := New(Options{})
	a, b := reserve(t, d, 2*g), reserve(t, d, 2*g)
	require.Equal(t, a+2*g, b, "side by side")
	back(t, d, a+g, 2*g)
	back(t, d, b+g, 2*g)
	ok(t, d.MemsetD8(a+g, 1, g))
	ok(t, d.MemsetD8(b, 2, 3*g))
	ok(t, d.MemcpyDtoD(b+g-8, b-8, 16))
	ok(t, d.CtxSynchronize())
	require.Equal(t, append(filled(8, 1), filled(8, 2)...), read(t, d, b-8, 16))
	require.Equal(t, append(filled(8, 1), filled(8, 2)...), read(t, d, b+g-8, 16))
	require.Equal(t, filled(8, 2), read(t, d, b+3*g-8, 8))

	ok(t, setAccess(d, a+g, 4*g, device.MemAccessRead))
	require.Equal(t, device.ErrorInvalidValue, d.MemsetD8(b+g, 3, 8))
	require.Equal(t, device.ErrorInvalidValue, d.MemAddressFree(b, 2*g), "mapped from a on, and beyond")
	ok(t, d.MemUnmap(a, 5*g))
	ok(t, d.MemAddressFree(a, 2*g))
	ok(t, d.MemAddressFree(b, 2*g))
	require.Equal(t, d.limit, freeBytes(t, d))
}

// MemSetAccess succeeds across a hole, and changes nothing behind it.
func TestAccessEndsAtAHole(t *testing.T) {
	const g = granularity
	d := New(Options{})
	r := reserve(t, d, 4*g)
	for _, i := range []device.Ptr{0, 1, 3} {
		ok(t, d.MemMap(r+i*g, g, 0, create(t, d, g), 0))
	}
	ok(t, setAccess(d, r, 4*g, device.MemAccessReadWrite))
	ok(t, d.MemsetD8(r, 1, 2*g))
	require.Equal(t, device.ErrorInvalidValue, d.MemsetD8(r+3*g, 1, 1))
	require.Equal(t, device.ErrorInvalidValue, setAccess(d, r, 3*g, device.MemAccessReadWrite), "ends in the hole")
	require.Equal(t, device.ErrorInvalidValue, setAccess(d, r+2*g, 2*g, device.MemAccessReadWrite), "begins in it")
}
