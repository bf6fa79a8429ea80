package conformance

import (
	"fmt"
	"math"

	"cudalab/native/cuda"
)

// What follows sets up pools of a row's own, and notes what they hold.

func (l *log) newPool() cuda.MemPool {
	pool, err := cuda.MemPoolCreate(cuda.MemPoolProps{})
	l.must(err)
	return pool
}

// keepingPool is a new pool that a synchronisation takes nothing away from.
func (l *log) keepingPool() cuda.MemPool {
	pool := l.newPool()
	l.set(pool, cuda.MemPoolAttrReleaseThreshold, math.MaxUint64)
	return pool
}

func (l *log) defaultPool() cuda.MemPool {
	pool, err := cuda.DeviceGetDefaultMemPool(0)
	l.must(err)
	return pool
}

func (l *log) set(pool cuda.MemPool, attr cuda.MemPoolAttr, value uint64) {
	l.must(cuda.MemPoolSetAttribute(pool, attr, value))
}

func (l *log) get(pool cuda.MemPool, attr cuda.MemPoolAttr) uint64 {
	value, err := cuda.MemPoolGetAttribute(pool, attr)
	l.must(err)
	return value
}

// mallocFrom allocates from a pool.
func (l *log) mallocFrom(pool cuda.MemPool, size int64, s cuda.Stream) cuda.DevicePtr {
	p, err := cuda.MallocFromPoolAsync(size, pool, s)
	l.must(err)
	return p
}

// holds notes what a pool holds.
func (l *log) holds(when string, pool cuda.MemPool) { l.saw("%s: %s", when, l.held(pool)) }

func (l *log) held(pool cuda.MemPool) string {
	size := func(attr cuda.MemPoolAttr) string { return amount(l.get(pool, attr)) }
	return fmt.Sprintf("reserved %s, used %s; at most %s, %s",
		size(cuda.MemPoolAttrReservedMemCurrent), size(cuda.MemPoolAttrUsedMemCurrent),
		size(cuda.MemPoolAttrReservedMemHigh), size(cuda.MemPoolAttrUsedMemHigh))
}

// amount is a number of bytes in MiB where it is whole MiB.
func amount(bytes uint64) string {
	if bytes%uint64(mib) == 0 {
		return fmt.Sprintf("%d MiB", bytes/uint64(mib))
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// whose names the device's current pool, which is one of these or the default pool.
func (l *log) whose(when string, named map[string]cuda.MemPool) {
	current, err := cuda.DeviceGetMemPool(0)
	name := "another"
	if current == l.defaultPool() {
		name = "the default pool"
	}
	for n, pool := range named {
		if pool == current {
			name = n
		}
	}
	l.saw("%s: DeviceGetMemPool(0) → %s, %s", when, codeName(err), name)
}

// taken notes how much less memory the device has free than it had, in bytes.
func (l *log) taken(when string, free int64) {
	l.saw("%s: %d MiB of the device's memory are taken", when, (free-l.freeMemory())/mib)
}

func (l *log) freeMemory() int64 {
	free, _, err := cuda.MemGetInfo()
	l.must(err)
	return free
}
