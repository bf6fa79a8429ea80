// Goes from stream to stream within a round, and synchronises once more than it has to.
package poolconfig

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Run(c contract.PoolConfig) (contract.PoolReport, error) {
	var report contract.PoolReport
	if len(c.Streams) == 0 || len(c.Sizes) == 0 || c.Rounds < 1 {
		return report, contract.ErrArgument
	}
	for _, size := range c.Sizes {
		if size < 1 {
			return report, contract.ErrArgument
		}
	}
	if n, err := cuda.GetDeviceCount(); err != nil {
		return report, err
	} else if c.Device < 0 || c.Device >= n {
		return report, contract.ErrArgument
	}
	pool, err := cuda.MemPoolCreate(cuda.MemPoolProps{Device: c.Device})
	if err != nil {
		return report, err
	}
	err = cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrReleaseThreshold, c.Threshold)
	for r := 0; r < c.Rounds && err == nil; r++ {
		err = round(c, pool, &report)
	}
	if err == nil {
		err = cuda.MemPoolTrimTo(pool, int64(c.TrimTo))
	}
	if err == nil {
		report.Trimmed, err = sample(pool)
	}
	return report, errors.Join(err, cuda.MemPoolDestroy(pool))
}

func round(c contract.PoolConfig, pool cuda.MemPool, report *contract.PoolReport) error {
	if err := cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrUsedMemHigh, 0); err != nil {
		return err
	}
	reserved, err := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReservedMemCurrent)
	if err != nil {
		return err
	}
	blocks := make([]cuda.DevicePtr, len(c.Sizes))
	for i := range c.Streams {
		for j := i; j < len(c.Sizes) && err == nil; j += len(c.Streams) {
			reserved, err = place(c, j, pool, reserved, blocks, report)
		}
	}
	for j, p := range blocks {
		if p != 0 {
			err = errors.Join(err, cuda.FreeAsync(p, c.Streams[j%len(c.Streams)]))
		}
	}
	for _, s := range c.Streams {
		err = errors.Join(err, cuda.StreamSynchronize(s))
	}
	err = errors.Join(err, cuda.DeviceSynchronize())
	if err != nil {
		return err
	}
	s, err := sample(pool)
	report.Rounds = append(report.Rounds, s)
	return err
}

// place allocates and touches block j, and answers what the pool has reserved then.
func place(c contract.PoolConfig, j int, pool cuda.MemPool, before uint64, blocks []cuda.DevicePtr, report *contract.PoolReport) (uint64, error) {
	s := c.Streams[j%len(c.Streams)]
	p, err := cuda.MallocFromPoolAsync(c.Sizes[j], pool, s)
	if err != nil {
		return before, err
	}
	blocks[j] = p
	after, err := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReservedMemCurrent)
	if err != nil {
		return before, err
	}
	if after <= before {
		report.Reused++
	}
	return after, kernels.Touch(1, 1024, s, p, c.Sizes[j], uint32(j))
}

func sample(pool cuda.MemPool) (s contract.Sample, err error) {
	if s.Reserved, err = cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReservedMemCurrent); err != nil {
		return s, err
	}
	if s.Used, err = cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrUsedMemCurrent); err != nil {
		return s, err
	}
	s.UsedHigh, err = cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrUsedMemHigh)
	return s, err
}

// borrowed is what changes something for a while: it answers what takes that back.
type borrowed func() (back func() error, err error)

// while does work between a change and its end.
func while(change borrowed, work func() error) error {
	back, err := change()
	if err != nil {
		return err
	}
	return errors.Join(work(), back())
}

func nothing() error { return nil }

func Keep(device int, threshold uint64, work func() error) (found contract.Sample, err error) {
	var pool cuda.MemPool
	err = while(func() (func() error, error) {
		if pool, err = cuda.DeviceGetMemPool(device); err != nil {
			return nil, err
		}
		now, err := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReleaseThreshold)
		if err != nil || now >= threshold {
			return nothing, err
		}
		return func() error {
			return cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrReleaseThreshold, now)
		}, cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrReleaseThreshold, threshold)
	}, func() (err error) {
		err = work()
		var refused error
		found, refused = sample(pool)
		return errors.Join(err, refused)
	})
	return found, err
}

func Lend(device int, pool cuda.MemPool, work func() error) error {
	return while(func() (func() error, error) {
		was, err := cuda.DeviceGetMemPool(device)
		if err != nil {
			return nil, err
		}
		return func() error { return cuda.DeviceSetMemPool(device, was) }, cuda.DeviceSetMemPool(device, pool)
	}, work)
}
