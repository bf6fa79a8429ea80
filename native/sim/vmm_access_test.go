package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

// peekKernel reads 8 bytes at Args[0], pokeKernel writes them.
var peekKernel, pokeKernel = touchKernel(device.Read), touchKernel(device.Write)

func touchKernel(kind device.AccessKind) *device.Kernel {
	return device.NewKernel(device.Spec{
		Entry: "touch", PTX: "//", Params: 1,
		Exec: func(l *device.Launch, m device.Memory) { m.View(device.Ptr(l.Args[0]), 8) },
		Accesses: func(l *device.Launch, buf []device.Access) []device.Access {
			return append(buf, device.Access{Ptr: device.Ptr(l.Args[0]), Size: 8, Kind: kind})
		},
		Work: func(l *device.Launch) device.Work { return device.Work{Threads: l.Threads(), Bytes: 8} },
	})
}

// A kernel finds memory where it is mapped and has the access, and an illegal address elsewhere.
func TestKernelsAndAccess(t *testing.T) {
	const g = granularity
	for _, c := range []struct {
		name         string
		prepare      func(t *testing.T, d *Device, r device.Ptr, h device.MemHandle)
		reads, write bool // whether a kernel may
	}{
		{"reserved", func(*testing.T, *Device, device.Ptr, device.MemHandle) {}, false, false},
		{"mapped", func(t *testing.T, d *Device, r device.Ptr, h device.MemHandle) { ok(t, d.MemMap(r, g, 0, h, 0)) }, false,
			false},
		{"access", func(t *testing.T, d *Device, r device.Ptr, h device.MemHandle) { open(t, d, r, g, h) }, true, true},
		{"access taken away", func(t *testing.T, d *Device, r device.Ptr, h device.MemHandle) {
			open(t, d, r, g, h)
			ok(t, setAccess(d, r, g, device.MemAccessNone))
		}, false, false},
		{"access given back", func(t *testing.T, d *Device, r device.Ptr, h device.MemHandle) {
			open(t, d, r, g, h)
			ok(t, setAccess(d, r, g, device.MemAccessNone))
			ok(t, setAccess(d, r, g, device.MemAccessReadWrite))
		}, true, true},
		{"read-only", func(t *testing.T, d *Device, r device.Ptr, h device.MemHandle) {
			open(t, d, r, g, h)
			ok(t, setAccess(d, r, g, device.MemAccessRead))
		}, true, false},
		{"read-only once", func(t *testing.T, d *Device, r device.Ptr, h device.MemHandle) {
			ok(t, d.MemMap(r, g, 0, h, 0))
			ok(t, setAccess(d, r, g, device.MemAccessRead))
			ok(t, setAccess(d, r, g, device.MemAccessReadWrite))
		}, true, true},
		{"described twice", func(t *testing.T, d *Device, r device.Ptr, h device.MemHandle) {
			ok(t, d.MemMap(r, g, 0, h, 0))
			ok(t, d.MemSetAccess(r, g, []device.MemAccessDesc{
				{Location: onDevice, Access: device.MemAccessReadWrite}, {Location: onDevice, Access: device.MemAccessRead},
			}))
		}, true, false},
		{"read-only elsewhere", func(t *testing.T, d *Device, r device.Ptr, h device.MemHandle) {
			open(t, d, r, g, h)
			ok(t, d.MemMap(r+g, g, 0, h, 0))
			ok(t, setAccess(d, r+g, g, device.MemAccessRead))
		}, true, true},
		{"unmapped", func(t *testing.T, d *Device, r device.Ptr, h device.MemHandle) {
			open(t, d, r, g, h)
			ok(t, d.MemUnmap(r, g))
		}, false, false},
		{"mapped again", func(t *testing.T, d *Device, r device.Ptr, h device.MemHandle) {
			open(t, d, r, g, h)
			ok(t, d.MemUnmap(r, g))
			ok(t, d.MemMap(r, g, 0, h, 0))
		}, false, false},
		{"released", func(t *testing.T, d *Device, r device.Ptr, h device.MemHandle) {
			open(t, d, r, g, h)
			ok(t, d.MemRelease(h))
		}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for k, allowed := range map[*device.Kernel]bool{peekKernel: c.reads, pokeKernel: c.write} {
				d := New(Options{})
				s, r := newStream(t, d), reserve(t, d, 2*g)
				c.prepare(t, d, r, create(t, d, g))
				launch(t, d, k, s, 1, 1, uint64(r)+g-8)
				if allowed {
					ok(t, d.StreamSynchronize(s))
					continue
				}
				const lost = device.ErrorIllegalAddress
				require.Equal(t, lost, d.StreamSynchronize(s))
				_, code := d.MemGetAllocationGranularity(pinnedMem, 0)
				require.Equal(t, lost, code)
				_, code = d.MemAddressReserve(g, 0, 0, 0)
				require.Equal(t, lost, code)
				_, code = d.MemCreate(g, pinnedMem, 0)
				require.Equal(t, lost, code)
				require.Equal(t, lost, d.MemMap(r+g, g, 0, 1, 0))
				require.Equal(t, lost, setAccess(d, r, g, device.MemAccessRead))
				require.Equal(t, lost, d.MemUnmap(r, g))
				require.Equal(t, lost, d.MemRelease(1))
				require.Equal(t, lost, d.MemAddressFree(r, 2*g))
				require.NoError(t, d.Close())
			}
		})
	}
}

// No call waits for the device. Work under way finds an illegal address where memory or access has been taken away, and
// its memory everywhere else; work that has ended on the clock has found it.
func TestVirtualMemoryAndPendingWork(t *testing.T) {
	const g = granularity
	read := device.MemAccessRead
	for _, c := range []struct {
		name          string
		call          func(d *Device, r device.Ptr, h device.MemHandle) device.Code
		reads, writes bool // which of what is under way at r loses its memory
	}{
		{"MemAddressReserve", func(d *Device, _ device.Ptr, _ device.MemHandle) device.Code {
			_, c := d.MemAddressReserve(g, 0, 0, 0)
			return c
		}, false, false},
		{"MemCreate", func(d *Device, _ device.Ptr, _ device.MemHandle) device.Code {
			_, c := d.MemCreate(g, pinnedMem, 0)
			return c
		}, false, false},
		{"MemMap", func(d *Device, r device.Ptr, h device.MemHandle) device.Code { return d.MemMap(r+2*g, g, 0, h, 0) },
			false, false},
		{"MemSetAccess, giving", func(d *Device, r device.Ptr, _ device.MemHandle) device.Code {
			return setAccess(d, r+g, g, device.MemAccessReadWrite)
		}, false, false},
		{"MemSetAccess, to less", func(d *Device, r device.Ptr, _ device.MemHandle) device.Code {
			return setAccess(d, r, g,
				read)
		}, false, true},
		{"MemSetAccess, to none", func(d *Device, r device.Ptr, _ device.MemHandle) device.Code {
			return setAccess(d, r, g, device.MemAccessNone)
		}, true, true},
		{"MemUnmap", func(d *Device, r device.Ptr, _ device.MemHandle) device.Code { return d.MemUnmap(r, g) }, true, true},
		{"MemUnmap, the last of a released handle", func(d *Device, r device.Ptr, h device.MemHandle) device.Code {
			ok(t, d.MemRelease(h))
			return d.MemUnmap(r, 3*g)
		}, true, true},
		{"MemUnmap, refused", func(d *Device, r device.Ptr, _ device.MemHandle) device.Code {
			require.Equal(t, device.ErrorInvalidValue, d.MemUnmap(r, g/2))
			return device.Success
		}, false, false},
		{"MemRelease", func(d *Device, _ device.Ptr, h device.MemHandle) device.Code { return d.MemRelease(h) }, false,
			false},
	} {
		for _, work := range []struct {
			name   string
			queue  func(t *testing.T, d *Device, r device.Ptr, host device.Host, s device.Stream)
			writes bool
		}{
			{"copy from", func(t *testing.T, d *Device, r device.Ptr, host device.Host, s device.Stream) {
				ok(t, d.MemcpyDToHostAsync(host, 0, r, 8, s))
			}, false},
			{"copy to", func(t *testing.T, d *Device, r device.Ptr, host device.Host, s device.Stream) {
				ok(t, d.MemcpyHostToDAsync(r, host, 0, 8, s))
			}, true},
			{"memset", func(t *testing.T, d *Device, r device.Ptr, _ device.Host, s device.Stream) {
				ok(t, d.MemsetD8Async(r, 4, 8, s))
			}, true},
			{"kernel that reads", func(t *testing.T, d *Device, r device.Ptr, _ device.Host, s device.Stream) {
				launch(t, d, peekKernel, s, 1, 1, uint64(r))
			}, false},
			{"kernel that writes", func(t *testing.T, d *Device, r device.Ptr, _ device.Host, s device.Stream) {
				launch(t, d, pokeKernel, s, 1, 1, uint64(r))
			}, true},
		} {
			for _, finished := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/finished %t", c.name, work.name, finished), func(t *testing.T) {
					d := New(Options{})
					s, r, h := newStream(t, d), reserve(t, d, 3*g), create(t, d, g)
					open(t, d, r, g, h)
					ok(t, d.MemMap(r+g, g, 0, h, 0))
					host := must[device.Host](t)(d.MemAllocHost(8))
					delay(t, d, s, long)
					work.queue(t, d, r, host, s)
					if finished {
						delay(t, d, 0, 2*long)
						ok(t, d.StreamSynchronize(0)) // the clock goes on; the host learns nothing of s
					}
					start := d.Now()
					ok(t, c.call(d, r, h))
					require.Less(t, d.Now()-start, long)
					lost := !finished && (c.reads && !work.writes || c.writes && work.writes)
					if !lost {
						ok(t, d.StreamSynchronize(s))
						return
					}
					require.Equal(t, device.ErrorIllegalAddress, d.StreamSynchronize(s))
					require.Equal(t, device.ErrorIllegalAddress, d.MemUnmap(r, g), "for good")
				})
			}
		}
	}
}

// Work that ends while its memory is away finds an illegal address, though the host gives the memory back before it
// asks.
func TestMemoryGivenBackTooLate(t *testing.T) {
	const g = granularity
	for _, late := range []bool{false, true} {
		d := New(Options{})
		s, r, h := newStream(t, d), reserve(t, d, g), create(t, d, g)
		open(t, d, r, g, h)
		delay(t, d, s, long)
		ok(t, d.MemsetD8Async(r, 4, 8, s))
		ok(t, d.MemUnmap(r, g))
		if late {
			delay(t, d, 0, 2*long)
			ok(t, d.StreamSynchronize(0))
		}
		ok(t, d.MemMap(r, g, 0, h, 0))
		if late {
			require.Equal(t, device.ErrorIllegalAddress, setAccess(d, r, g, device.MemAccessReadWrite))
			continue
		}
		ok(t, setAccess(d, r, g, device.MemAccessReadWrite))
		ok(t, d.StreamSynchronize(s))
		require.Equal(t, filled(8, 4), read(t, d, r, 8))
	}
}
