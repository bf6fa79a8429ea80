package suite

import (
	"math"

	"cudalab/native/device"
)

// KeepPool has the default pool keep its memory across synchronisations until the case ends. In a timed case nobody pays
// for growing it then; elsewhere code that uses what it has freed reads other numbers instead of losing the device.
func (b *Bench) KeepPool() {
	pool, code := b.Session.Device().DeviceGetDefaultMemPool()
	if code == device.Success {
		code = b.Session.Device().MemPoolSetAttribute(pool, device.PoolReleaseThreshold, math.MaxUint64)
	}
	if code != device.Success {
		b.Must(code)
	}
}
