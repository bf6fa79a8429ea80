// Undoes everything in a defer right behind what made it.
package poolconfig

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

func Run(c contract.PoolConfig) (report contract.PoolReport, err error) {
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
	defer func() { err = errors.Join(err, cuda.MemPoolDestroy(pool)) }()
	if err := cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrReleaseThreshold, c.Threshold); err != nil {
		return report, err
	}
	for range c.Rounds {
		if err := work(c, pool, &report); err != nil {
			return report, err
		}
		s, err := sample(pool)
		if err != nil {
			return report, err
		}
		report.Rounds = append(report.Rounds, s)
	}
	if err := cuda.MemPoolTrimTo(pool, int64(c.TrimTo)); err != nil {
		return report, err
	}
	report.Trimmed, err = sample(pool)
	return report, err
}

// work is a round up to where the host has waited for it.
func work(c contract.PoolConfig, pool cuda.MemPool, report *contract.PoolReport) (err error) {
	if err := cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrUsedMemHigh, 0); err != nil {
		return err
	}
	// Deferred first, so that it comes last: behind the frees.
	defer func() {
		for _, s := range c.Streams {
			err = errors.Join(err, cuda.StreamSynchronize(s))
		}
	}()
	before, err := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReservedMemCurrent)
	if err != nil {
		return err
	}
	for j, size := range c.Sizes {
		s := c.Streams[j%len(c.Streams)]
		p, failed := cuda.MallocFromPoolAsync(size, pool, s)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, cuda.FreeAsync(p, s)) }()
		after, failed := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReservedMemCurrent)
		if failed != nil {
			return failed
		}
		if after == before {
			report.Reused++
		}
		before = after
		if err := kernels.Touch(32, 128, s, p, size, 7); err != nil {
			return err
		}
	}
	return nil
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

func Keep(device int, threshold uint64, work func() error) (account contract.Sample, err error) {
	current, err := cuda.DeviceGetMemPool(device)
	if err != nil {
		return account, err
	}
	before, err := cuda.MemPoolGetAttribute(current, cuda.MemPoolAttrReleaseThreshold)
	if err != nil {
		return account, err
	}
	// Also where nothing had to be raised: it is the same number then.
	defer func() {
		err = errors.Join(err, cuda.MemPoolSetAttribute(current, cuda.MemPoolAttrReleaseThreshold, before))
	}()
	if err := cuda.MemPoolSetAttribute(current, cuda.MemPoolAttrReleaseThreshold, max(before, threshold)); err != nil {
		return account, err
	}
	defer func() {
		var failed error
		account, failed = sample(current)
		err = errors.Join(err, failed)
	}()
	return account, work()
}

func Lend(device int, pool cuda.MemPool, work func() error) (err error) {
	before, err := cuda.DeviceGetMemPool(device)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cuda.DeviceSetMemPool(device, before)) }()
	if err := cuda.DeviceSetMemPool(device, pool); err != nil {
		return err
	}
	return work()
}
