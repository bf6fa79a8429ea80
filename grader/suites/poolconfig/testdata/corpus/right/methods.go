// A type of its own with a method for each step.
package poolconfig

import (
	"errors"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

type bench struct {
	contract.PoolConfig
	pool   cuda.MemPool
	blocks []cuda.DevicePtr
	report contract.PoolReport
	err    error // the first; every method does nothing after it
}

func Run(c contract.PoolConfig) (contract.PoolReport, error) {
	b := &bench{PoolConfig: c}
	b.check()
	b.create()
	for range c.Rounds {
		b.reset()
		b.allocate()
		b.touch()
		b.release()
		b.report.Rounds = append(b.report.Rounds, b.sample())
	}
	b.do(func() error { return cuda.MemPoolTrimTo(b.pool, int64(c.TrimTo)) })
	b.report.Trimmed = b.sample()
	if b.pool != (cuda.MemPool{}) {
		b.err = errors.Join(b.err, cuda.MemPoolDestroy(b.pool))
	}
	return b.report, b.err
}

func (b *bench) do(f func() error) {
	if b.err == nil {
		b.err = f()
	}
}

func (b *bench) check() {
	n, err := cuda.GetDeviceCount()
	switch {
	case err != nil:
		b.err = err
	case len(b.Streams) == 0, len(b.Sizes) == 0, slices.Min(b.Sizes) < 1, b.Rounds < 1, b.Device < 0, b.Device >= n:
		b.err = contract.ErrArgument
	}
}

func (b *bench) create() {
	b.do(func() (err error) {
		b.pool, err = cuda.MemPoolCreate(cuda.MemPoolProps{Device: b.Device})
		return err
	})
	b.do(func() error { return cuda.MemPoolSetAttribute(b.pool, cuda.MemPoolAttrReleaseThreshold, b.Threshold) })
}

func (b *bench) reset() {
	b.do(func() error { return cuda.MemPoolSetAttribute(b.pool, cuda.MemPoolAttrUsedMemHigh, 0) })
}

func (b *bench) get(attr cuda.MemPoolAttr) (value uint64) {
	b.do(func() (err error) {
		value, err = cuda.MemPoolGetAttribute(b.pool, attr)
		return err
	})
	return value
}

func (b *bench) stream(j int) cuda.Stream { return b.Streams[j%len(b.Streams)] }

func (b *bench) allocate() {
	b.blocks = b.blocks[:0]
	for j, size := range b.Sizes {
		before := b.get(cuda.MemPoolAttrReservedMemCurrent)
		b.do(func() error {
			p, err := cuda.MallocFromPoolAsync(size, b.pool, b.stream(j))
			if err == nil {
				b.blocks = append(b.blocks, p)
			}
			return err
		})
		if b.get(cuda.MemPoolAttrReservedMemCurrent) == before && b.err == nil {
			b.report.Reused++
		}
	}
}

func (b *bench) touch() {
	for j, p := range b.blocks {
		b.do(func() error { return kernels.Touch(64, 256, b.stream(j), p, b.Sizes[j], uint32(j)) })
	}
}

func (b *bench) release() {
	for j, p := range b.blocks {
		b.err = errors.Join(b.err, cuda.FreeAsync(p, b.stream(j)))
	}
	b.blocks = b.blocks[:0]
	for _, s := range b.Streams {
		b.do(func() error { return cuda.StreamSynchronize(s) })
	}
}

func (b *bench) sample() contract.Sample {
	return contract.Sample{
		Reserved: b.get(cuda.MemPoolAttrReservedMemCurrent),
		Used:     b.get(cuda.MemPoolAttrUsedMemCurrent),
		UsedHigh: b.get(cuda.MemPoolAttrUsedMemHigh),
	}
}

// guest has something that belongs to everybody for a while.
type guest struct {
	device int
	pool   cuda.MemPool
	before uint64
	err    error
}

func (g *guest) do(f func() error) bool {
	err := f()
	g.err = errors.Join(g.err, err)
	return err == nil
}

func (g *guest) arrive(device int) bool {
	g.device = device
	return g.do(func() (err error) {
		g.pool, err = cuda.DeviceGetMemPool(device)
		return err
	})
}

func (g *guest) get(attr cuda.MemPoolAttr, to *uint64) bool {
	return g.do(func() (err error) {
		*to, err = cuda.MemPoolGetAttribute(g.pool, attr)
		return err
	})
}

func (g *guest) keep(threshold uint64) bool {
	return g.do(func() error {
		return cuda.MemPoolSetAttribute(g.pool, cuda.MemPoolAttrReleaseThreshold, threshold)
	})
}

func (g *guest) current(pool cuda.MemPool) bool {
	return g.do(func() error { return cuda.DeviceSetMemPool(g.device, pool) })
}

func Keep(device int, threshold uint64, work func() error) (s contract.Sample, err error) {
	var g guest
	if g.arrive(device) && g.get(cuda.MemPoolAttrReleaseThreshold, &g.before) &&
		(g.before >= threshold || g.keep(threshold)) {
		g.do(work)
		g.get(cuda.MemPoolAttrReservedMemCurrent, &s.Reserved)
		g.get(cuda.MemPoolAttrUsedMemCurrent, &s.Used)
		g.get(cuda.MemPoolAttrUsedMemHigh, &s.UsedHigh)
		if g.before < threshold {
			g.keep(g.before)
		}
	}
	return s, g.err
}

func Lend(device int, pool cuda.MemPool, work func() error) error {
	var g guest
	if g.arrive(device) && g.current(pool) {
		g.do(work)
		g.current(g.pool)
	}
	return g.err
}
