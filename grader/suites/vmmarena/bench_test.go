package vmmarena

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/solutions/vmmarena"
)

// inSteps is an arena that adds the same number of bytes each time.
type inSteps struct {
	Arena
	base                  cuda.DevicePtr
	step, committed, used int64
}

func newInSteps(step int64) Make {
	return func(_ int, reserve int64) (Arena, error) {
		base, err := cuda.MemAddressReserve(reserve, 0, 0, 0)
		return &inSteps{base: base, step: step}, err
	}
}

func (a *inSteps) Alloc(size int64) (cuda.DevicePtr, error) {
	p := a.base + cuda.DevicePtr(a.used)
	for a.used += size; a.used > a.committed; a.committed += a.step {
		at := a.base + cuda.DevicePtr(a.committed)
		location := cuda.MemLocation{Type: cuda.MemLocationTypeDevice}
		handle, err := cuda.MemCreate(a.step, cuda.MemAllocationProp{Type: cuda.MemAllocationTypePinned, Location: location},
			0)
		if err != nil {
			return 0, err
		}
		if err := cuda.MemMap(at, a.step, 0, handle, 0); err != nil {
			return 0, err
		}
		if err := cuda.MemRelease(handle); err != nil {
			return 0, err
		}
		readWrite := cuda.MemAccessDesc{Location: location, Flags: cuda.MemAccessFlagsProtReadWrite}
		if err := cuda.MemSetAccess(at, a.step, []cuda.MemAccessDesc{readWrite}); err != nil {
			return 0, err
		}
	}
	return p, nil
}

func (a *inSteps) Close() error {
	if err := cuda.MemUnmap(a.base, a.committed); err != nil {
		return err
	}
	return cuda.MemAddressFree(a.base, speedTotal)
}

func (a *inSteps) Stats() contract.ArenaStats { return contract.ArenaStats{Base: a.base} }

// BenchmarkGrow reports how long it takes to grow to 256 MiB in blocks of 64 KiB, on the device's own clock: what the
// timed case measures. Closing is not counted.
func BenchmarkGrow(b *testing.B) {
	for _, kind := range []string{"gpu", "sim"} {
		for name, make := range map[string]Make{
			"solution": Of(vmmarena.New), "copying": newCopying, "steps of 2 MiB": newInSteps(2 << 20),
			"steps of 16 MiB": newInSteps(16 << 20),
		} {
			b.Run(kind+"/"+name, func(b *testing.B) {
				d, err := session.OpenDevice(kind)
				if err != nil {
					b.Skipf("no NVIDIA GPU here: %v", err)
				}
				defer d.Close()
				session.New(d).Use()
				took := int64(0)
				for range b.N {
					start := d.Now()
					a, err := make(0, speedTotal)
					require.NoError(b, err)
					for at := 0; at < speedTotal; at += speedBlock {
						if _, err := a.Alloc(speedBlock); err != nil {
							b.Fatal(err)
						}
					}
					require.NoError(b, cuda.DeviceSynchronize())
					took += d.Now() - start
					require.NoError(b, a.Close())
				}
				b.ReportMetric(float64(took)/float64(b.N)/1e3, "µs/arena")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkAlloc reports the host's time for an Alloc that need not grow.
func BenchmarkAlloc(b *testing.B) {
	d, err := session.OpenDevice("sim")
	require.NoError(b, err)
	defer d.Close()
	session.New(d).Use()
	const room = 1 << 28
	a, err := vmmarena.New(0, room)
	require.NoError(b, err)
	_, err = a.Alloc(room)
	require.NoError(b, err)
	for i := 0; b.Loop(); i++ {
		if i%(room/alignment) == 0 {
			require.NoError(b, a.Reset())
		}
		if _, err := a.Alloc(alignment); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, a.Close())
}
