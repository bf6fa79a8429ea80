package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

func TestVirtualMemoryCodes(t *testing.T) {
	const (
		good   = device.Success
		value  = device.ErrorInvalidValue
		none   = device.ErrorInvalidDevice
		memory = device.ErrorOutOfMemory
		never  = device.ErrorNotSupported
		g      = granularity
		all    = ^uint64(0)
	)
	// Eight granules are reserved at r: a mapping of two, one that nobody has access to, one that is read-only, a last
	// one, and three that are empty.
	type world struct {
		*Device
		two, one, rest                     device.MemHandle // of two granules, of one, of the last mapping: released
		r, noAccess, readOnly, last, empty device.Ptr
		bare                               device.Ptr // 4 granules reserved, with nothing mapped
		heaped                             device.Ptr // 3 granules of MemAlloc
	}
	var host [16]byte
	location := func(kind, id int32) device.MemLocation { return device.MemLocation{Type: kind, ID: id} }
	granule := func(w world, p device.MemProp, o device.MemGranularity) device.Code {
		size, c := w.MemGetAllocationGranularity(p, o)
		if c == good {
			require.EqualValues(t, g, size)
		}
		return c
	}
	reserved := func(w world, size, alignment uint64, addr device.Ptr, flags uint64) device.Code {
		p, c := w.MemAddressReserve(size, alignment, addr, flags)
		require.Equal(t, c == good, p != 0)
		if c == good {
			require.Zero(t, uint64(p)%max(alignment, g))
		}
		return c
	}
	created := func(w world, size uint64, p device.MemProp, flags uint64) device.Code {
		h, c := w.MemCreate(size, p, flags)
		require.Equal(t, c == good, h != 0)
		return c
	}
	access := func(w world, p device.Ptr, size uint64, desc ...device.MemAccessDesc) device.Code {
		return w.MemSetAccess(p, size, desc)
	}
	full := device.MemAccessDesc{Location: onDevice, Access: device.MemAccessReadWrite}
	for _, c := range []struct {
		name string
		call func(world) device.Code
		want device.Code
	}{
		{"granularity, minimum", func(w world) device.Code { return granule(w, pinnedMem, device.MemGranularityMinimum) },
			good},
		{"granularity, recommended", func(w world) device.Code {
			return granule(w, pinnedMem,
				device.MemGranularityRecommended)
		}, good},
		{"granularity, unknown option", func(w world) device.Code { return granule(w, pinnedMem, 2) }, value},
		{"granularity, unknown type", func(w world) device.Code { return granule(w, device.MemProp{Location: onDevice}, 0) },
			good},
		{"granularity, unknown location", func(w world) device.Code {
			return granule(w, device.MemProp{Type: 1,
				Location: location(77, 0)}, 0)
		}, good},
		{"granularity, unknown device", func(w world) device.Code {
			return granule(w, device.MemProp{Type: 1,
				Location: location(1, 9)}, 0)
		}, none},

		{"reserve", func(w world) device.Code { return reserved(w, 3*g, 0, 0, 0) }, good},
		{"reserve 0 bytes", func(w world) device.Code { return reserved(w, 0, 0, 0, 0) }, value},
		{"reserve half a granule", func(w world) device.Code { return reserved(w, g/2, 0, 0, 0) }, value},
		{"reserve a byte too many", func(w world) device.Code { return reserved(w, g+1, 0, 0, 0) }, value},
		{"reserve, aligned to less", func(w world) device.Code { return reserved(w, g, 1, 0, 0) }, good},
		{"reserve, aligned to more", func(w world) device.Code { return reserved(w, g, 64*g, 0, 0) }, good},
		{"reserve, aligned to no power of two", func(w world) device.Code { return reserved(w, g, 3*g, 0, 0) }, value},
		{"reserve, aligned to more than there is", func(w world) device.Code { return reserved(w, g, 1<<63, 0, 0) }, memory},
		{"reserve more addresses than there are", func(w world) device.Code { return reserved(w, 1<<50, 0, 0, 0) }, memory},
		{"reserve everything", func(w world) device.Code { return reserved(w, all-g+1, 0, 0, 0) }, memory},
		{"reserve more than the device has memory", func(w world) device.Code { return reserved(w, 1<<40, 0, 0, 0) }, good},
		{"reserve, flags", func(w world) device.Code { return reserved(w, g, 0, 0, 1) }, value},
		{"reserve at an address that is taken", func(w world) device.Code { return reserved(w, g, 0, w.r+g, 0) }, good},
		{"reserve at an address of MemAlloc", func(w world) device.Code { return reserved(w, g, 0, w.heaped, 0) }, good},
		{"reserve at an address inside a page", func(w world) device.Code { return reserved(w, g, 0, w.r+1, 0) }, value},
		{"reserve at an address inside a granule", func(w world) device.Code { return reserved(w, g, 0, w.r+g/2, 0) }, value},

		{"create", func(w world) device.Code { return created(w, 2*g, pinnedMem, 0) }, good},
		{"create 0 bytes", func(w world) device.Code { return created(w, 0, pinnedMem, 0) }, value},
		{"create half a granule", func(w world) device.Code { return created(w, g/2, pinnedMem, 0) }, value},
		{"create a byte too many", func(w world) device.Code { return created(w, g+1, pinnedMem, 0) }, value},
		{"create more than is left", func(w world) device.Code { return created(w, 64*mib, pinnedMem, 0) }, memory},
		{"create more than the device has", func(w world) device.Code { return created(w, 1<<40, pinnedMem, 0) }, memory},
		{"create everything", func(w world) device.Code { return created(w, all-g+1, pinnedMem, 0) }, memory},
		{"create, flags", func(w world) device.Code { return created(w, g, pinnedMem, 1) }, value},
		{"create, unknown type", func(w world) device.Code {
			return created(w, g, device.MemProp{Type: 7, Location: onDevice},
				0)
		}, value},
		{"create, unknown location", func(w world) device.Code {
			return created(w, g, device.MemProp{Type: 1,
				Location: location(77, 0)}, 0)
		}, value},
		{"create, unknown device", func(w world) device.Code {
			return created(w, g, device.MemProp{Type: 1,
				Location: location(1, 1)}, 0)
		}, none},
		{"create, negative device", func(w world) device.Code {
			return created(w, g, device.MemProp{Type: 1,
				Location: location(1, -1)}, 0)
		}, none},

		{"release, mapped", func(w world) device.Code { return w.MemRelease(w.two) }, good},
		{"release twice", func(w world) device.Code { return w.MemRelease(w.rest) }, value},
		{"release null", func(w world) device.Code { return w.MemRelease(0) }, value},
		{"release garbage", func(w world) device.Code { return w.MemRelease(77) }, value},

		{"map", func(w world) device.Code { return w.MemMap(w.empty, g, 0, w.one, 0) }, good},
		{"map again, elsewhere", func(w world) device.Code { return w.MemMap(w.empty, 2*g, 0, w.two, 0) }, good},
		{"map at the reservation's end", func(w world) device.Code { return w.MemMap(w.r+7*g, g, 0, w.one, 0) }, good},
		{"map across two reservations", func(w world) device.Code { return w.MemMap(w.r+7*g, 2*g, 0, w.two, 0) }, good},
		{"map beyond the last reservation", func(w world) device.Code { return w.MemMap(w.bare+3*g, 2*g, 0, w.two, 0) },
			good},
		{"map outside the reservation", func(w world) device.Code { return w.MemMap(w.bare+4*g, g, 0, w.one, 0) }, value},
		{"map before the reservation", func(w world) device.Code { return w.MemMap(w.r-g, g, 0, w.one, 0) }, value},
		{"map at null", func(w world) device.Code { return w.MemMap(0, g, 0, w.one, 0) }, value},
		{"map at memory of MemAlloc", func(w world) device.Code { return w.MemMap(w.heaped, g, 0, w.one, 0) }, value},
		{"map over a mapping", func(w world) device.Code { return w.MemMap(w.r, 2*g, 0, w.two, 0) }, value},
		{"map over half a mapping", func(w world) device.Code { return w.MemMap(w.r+g, g, 0, w.one, 0) }, value},
		{"map over a mapping and beyond", func(w world) device.Code { return w.MemMap(w.last, 2*g, 0, w.two, 0) }, value},
		{"map at an unaligned address", func(w world) device.Code { return w.MemMap(w.empty+g/2, g, 0, w.one, 0) }, value},
		{"map with an offset", func(w world) device.Code { return w.MemMap(w.empty, g, g, w.two, 0) }, never},
		{"map half a handle", func(w world) device.Code { return w.MemMap(w.empty, g, 0, w.two, 0) }, never},
		{"map more than a handle", func(w world) device.Code { return w.MemMap(w.empty, 2*g, 0, w.one, 0) }, never},
		{"map all of a handle from an offset on", func(w world) device.Code { return w.MemMap(w.empty, 2*g, g, w.two, 0) },
			never},
		{"map 0 bytes", func(w world) device.Code { return w.MemMap(w.empty, 0, 0, w.one, 0) }, value},
		{"map a released handle", func(w world) device.Code { return w.MemMap(w.empty, g, 0, w.rest, 0) }, value},
		{"map a null handle", func(w world) device.Code { return w.MemMap(w.empty, g, 0, 0, 0) }, value},
		{"map, flags", func(w world) device.Code { return w.MemMap(w.empty, g, 0, w.one, 1) }, value},

		{"unmap", func(w world) device.Code { return w.MemUnmap(w.r, 2*g) }, good},
		{"unmap several", func(w world) device.Code { return w.MemUnmap(w.r, 5*g) }, good},
		{"unmap half a mapping", func(w world) device.Code { return w.MemUnmap(w.r, g) }, value},
		{"unmap the other half", func(w world) device.Code { return w.MemUnmap(w.r+g, g) }, value},
		{"unmap a mapping and a half", func(w world) device.Code { return w.MemUnmap(w.r+g, 2*g) }, value},
		{"unmap what is not mapped", func(w world) device.Code { return w.MemUnmap(w.empty, g) }, good},
		{"unmap twice", func(w world) device.Code {
			ok(t, w.MemUnmap(w.r, 2*g))
			return w.MemUnmap(w.r, 2*g)
		}, good},
		{"unmap what is not mapped, off a granule", func(w world) device.Code { return w.MemUnmap(w.empty+1, g) }, good},
		{"unmap beyond what is mapped", func(w world) device.Code { return w.MemUnmap(w.last, 2*g) }, good},
		{"unmap beyond the reservation", func(w world) device.Code { return w.MemUnmap(w.bare, 5*g) }, good},
		{"unmap what is not reserved", func(w world) device.Code { return w.MemUnmap(w.bare+4*g, g) }, value},
		{"unmap all there is", func(w world) device.Code { return w.MemUnmap(w.r, all) }, value},
		{"unmap 0 bytes", func(w world) device.Code { return w.MemUnmap(w.r, 0) }, value},
		{"unmap 0 bytes where nothing is mapped", func(w world) device.Code { return w.MemUnmap(w.empty, 0) }, value},
		{"unmap a byte of a mapping", func(w world) device.Code { return w.MemUnmap(w.r, 1) }, value},
		{"unmap a null address", func(w world) device.Code { return w.MemUnmap(0, g) }, value},
		{"unmap memory of MemAlloc", func(w world) device.Code { return w.MemUnmap(w.heaped, 3*g) }, value},

		{"set access", func(w world) device.Code { return access(w, w.noAccess, g, full) }, good},
		{"set access again", func(w world) device.Code { return access(w, w.r, 2*g, full) }, good},
		{"set access over several mappings", func(w world) device.Code { return access(w, w.r, 5*g, full) }, good},
		{"set access of half a mapping", func(w world) device.Code { return access(w, w.r, g, full) }, value},
		{"set access of what is not mapped", func(w world) device.Code { return access(w, w.empty, g, full) }, value},
		{"set access beyond what is mapped", func(w world) device.Code { return access(w, w.last, 2*g, full) }, value},
		{"set access inside a mapping", func(w world) device.Code { return access(w, w.noAccess+1, g, full) }, value},
		{"set access of all there is", func(w world) device.Code { return access(w, w.r, all, full) }, value},
		{"set access of 0 bytes", func(w world) device.Code { return access(w, w.r, 0, full) }, value},
		{"set access for nobody", func(w world) device.Code { return access(w, w.r, 2*g) }, value},
		{"set access for an unknown device", func(w world) device.Code {
			return access(w, w.r, 2*g, full, device.MemAccessDesc{Location: location(1, 1), Access: device.MemAccessReadWrite})
		}, none},
		{"set access for an unknown location", func(w world) device.Code {
			return access(w, w.r, 2*g, device.MemAccessDesc{Location: location(0, 0), Access: device.MemAccessReadWrite})
		}, value},
		{"set access, writing alone", func(w world) device.Code {
			return access(w, w.r, 2*g, device.MemAccessDesc{Location: onDevice, Access: 2})
		}, value},

		{"free addresses", func(w world) device.Code { return w.MemAddressFree(w.bare, 4*g) }, good},
		{"free addresses with another size", func(w world) device.Code { return w.MemAddressFree(w.bare, 3*g) }, value},
		{"free addresses with a size beyond", func(w world) device.Code { return w.MemAddressFree(w.bare, 5*g) }, value},
		{"free addresses inside", func(w world) device.Code { return w.MemAddressFree(w.bare+g, 3*g) }, value},
		{"free addresses where memory is mapped", func(w world) device.Code { return w.MemAddressFree(w.r, 8*g) }, value},
		{"free addresses twice", func(w world) device.Code {
			ok(t, w.MemAddressFree(w.bare, 4*g))
			return w.MemAddressFree(w.bare, 4*g)
		}, value},
		{"free null addresses", func(w world) device.Code { return w.MemAddressFree(0, g) }, value},
		{"free addresses of MemAlloc", func(w world) device.Code { return w.MemAddressFree(w.heaped, 3*g) }, value},

		{"copy of a mapping", func(w world) device.Code { return w.MemcpyDtoH(host[:], w.r+2*g-16) }, good},
		{"memset of a mapping", func(w world) device.Code { return w.MemsetD8(w.r, 1, 2*g) }, good},
		{"copy without access", func(w world) device.Code { return w.MemcpyDtoH(host[:], w.noAccess) }, value},
		{"memset without access", func(w world) device.Code { return w.MemsetD8(w.noAccess, 1, 1) }, value},
		{"copy across the end of access", func(w world) device.Code { return w.MemcpyDtoH(host[:], w.noAccess-8) }, value},
		{"memset across the end of what is mapped", func(w world) device.Code { return w.MemsetD8(w.empty-8, 1, 16) }, value},
		{"memset of what is not mapped", func(w world) device.Code { return w.MemsetD8(w.empty, 1, 1) }, value},
		{"memset beyond the reservation", func(w world) device.Code { return w.MemsetD8(w.bare+4*g, 1, 1) }, value},
		{"memset over all there is", func(w world) device.Code { return w.MemsetD8(w.r, 1, all) }, value},
		{"copy from read-only memory", func(w world) device.Code { return w.MemcpyDtoH(host[:], w.readOnly) }, good},
		{"copy from two mappings", func(w world) device.Code { return w.MemcpyDtoH(host[:], w.last-8) }, good},
		{"copy to read-only memory", func(w world) device.Code { return w.MemcpyHtoD(w.readOnly, host[:]) }, value},
		{"copy within the device to read-only memory", func(w world) device.Code { return w.MemcpyDtoD(w.readOnly, w.r, 16) },
			value},
		{"copy within the device from read-only memory", func(w world) device.Code {
			return w.MemcpyDtoD(w.r, w.readOnly,
				16)
		}, good},
		{"memset of read-only memory", func(w world) device.Code { return w.MemsetD8(w.last-8, 1, 16) }, value},
		{"free a mapping with MemFree", func(w world) device.Code { return w.MemFree(w.r) }, value},
		{"free a mapping with MemFreeAsync", func(w world) device.Code { return w.MemFreeAsync(w.r, 0) }, value},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := New(Options{Memory: 64 * mib})
			w := world{Device: d, r: reserve(t, d, 8*g), bare: reserve(t, d, 4*g), heaped: malloc(t, d, 3*g),
				two: create(t, d, 2*g), one: create(t, d, g), rest: create(t, d, g)}
			w.noAccess, w.readOnly, w.last, w.empty = w.r+2*g, w.r+3*g, w.r+4*g, w.r+5*g
			open(t, d, w.r, 2*g, w.two)
			ok(t, d.MemMap(w.noAccess, g, 0, w.one, 0))
			ok(t, d.MemMap(w.readOnly, g, 0, w.one, 0))
			ok(t, setAccess(d, w.readOnly, g, device.MemAccessRead))
			open(t, d, w.last, g, w.rest)
			ok(t, d.MemRelease(w.rest))
			before, free := d.Now(), d.limit-d.reserved
			require.Equal(t, c.want, c.call(w))
			require.Greater(t, d.Now(), before, "every call takes host time")
			if c.want != good {
				require.Equal(t, free, d.limit-d.reserved, "a call that fails takes no memory")
			}
			ok(t, d.CtxSynchronize())
		})
	}
}
