package conformance

import (
	"fmt"
	"math"

	"cudalab/native/cuda"
)

// What follows sets up addresses and memory apart, and notes what a row does with them. Sizes are noted in granules:
// the granularity is the device's.

var (
	theDevice  = cuda.MemLocation{Type: cuda.MemLocationTypeDevice}
	deviceProp = cuda.MemAllocationProp{Type: cuda.MemAllocationTypePinned, Location: theDevice}
)

func (l *log) granule() int64 {
	g, err := cuda.MemGetAllocationGranularity(deviceProp, cuda.MemAllocGranularityMinimum)
	l.must(err)
	return g
}

func (l *log) reserve(size int64) cuda.DevicePtr {
	p, err := cuda.MemAddressReserve(size, 0, 0, 0)
	l.must(err)
	return p
}

// neighbours are two reservations of size bytes each, side by side, if the device gives them where it is asked to.
func (l *log) neighbours(size int64) (a, b cuda.DevicePtr, ok bool) {
	a = l.reserve(2 * size)
	l.must(cuda.MemAddressFree(a, 2*size))
	at := func(hint cuda.DevicePtr) cuda.DevicePtr {
		p, err := cuda.MemAddressReserve(size, 0, hint, 0)
		l.must(err)
		return p
	}
	first, second := at(a), at(a+cuda.DevicePtr(size))
	ok = second == first+cuda.DevicePtr(size)
	l.saw("two reservations lie side by side: %t", ok)
	return first, second, ok
}

func (l *log) create(size int64) cuda.MemGenericAllocationHandle {
	h, err := cuda.MemCreate(size, deviceProp, 0)
	l.must(err)
	return h
}

// place makes memory and maps it, without access.
func (l *log) place(p cuda.DevicePtr, size int64) cuda.MemGenericAllocationHandle {
	h := l.create(size)
	l.must(cuda.MemMap(p, size, 0, h, 0))
	return h
}

// mapping is memory at addresses of its own, that may be read and written.
func (l *log) mapping(size int64) (cuda.DevicePtr, cuda.MemGenericAllocationHandle) {
	p := l.reserve(size)
	h := l.place(p, size)
	l.must(readWrite(p, size))
	return p, h
}

// mappings is a reservation of count granules with as many mappings, that may be read and written.
func (l *log) mappings(count int) (p cuda.DevicePtr, granule int64) {
	g := l.granule()
	p = l.reserve(int64(count) * g)
	for i := range count {
		l.place(p+cuda.DevicePtr(int64(i)*g), g)
	}
	l.must(readWrite(p, int64(count)*g))
	return p, g
}

func setAccess(p cuda.DevicePtr, size int64, flags cuda.MemAccessFlags) error {
	return cuda.MemSetAccess(p, size, []cuda.MemAccessDesc{{Location: theDevice, Flags: flags}})
}

func readWrite(p cuda.DevicePtr, size int64) error {
	return setAccess(p, size, cuda.MemAccessFlagsProtReadWrite)
}

// memset notes whether the device may write one byte at each of these granules, and waits. The driver looks before it
// leaps, where a kernel would lose the context.
func (l *log) memset(what string, p cuda.DevicePtr, granule int64, count int) {
	for i := range count {
		l.answer(fmt.Sprintf("%s, Memset in granule %d", what, i),
			cuda.Memset(p+cuda.DevicePtr(int64(i)*granule), 1, 1))
	}
	l.must(cuda.DeviceSynchronize())
}

// takenGranules notes how much less memory the device has free than it had, in granules, rounded to 64: page tables
// take a little too.
func (l *log) takenGranules(when string, free, granule int64) {
	n := 64 * math.Round(float64(free-l.freeMemory())/float64(64*granule))
	l.saw("%s: about %.0f granules of the device's memory are taken", when, n)
}
