// The rounds in a loop that ends with the first error, in few words.
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
	var blocks []cuda.DevicePtr
	for j, size := range c.Sizes {
		s := c.Streams[j%len(c.Streams)]
		var p cuda.DevicePtr
		p, err = cuda.MallocFromPoolAsync(size, pool, s)
		if err != nil {
			break
		}
		blocks = append(blocks, p)
		var now uint64
		now, err = cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReservedMemCurrent)
		if err != nil {
			break
		}
		if now == reserved {
			report.Reused++
		}
		reserved = now
		err = kernels.Touch(32, 128, s, p, size, 7)
		if err != nil {
			break
		}
	}
	for j, p := range blocks {
		err = errors.Join(err, cuda.FreeAsync(p, c.Streams[j%len(c.Streams)]))
	}
	for _, s := range c.Streams {
		err = errors.Join(err, cuda.StreamSynchronize(s))
	}
	if err != nil {
		return err
	}
	s, err := sample(pool)
	report.Rounds = append(report.Rounds, s)
	return err
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

func Keep(device int, least uint64, work func() error) (s contract.Sample, err error) {
	var p cuda.MemPool
	if p, err = cuda.DeviceGetMemPool(device); err != nil {
		return s, err
	}
	was, err := cuda.MemPoolGetAttribute(p, cuda.MemPoolAttrReleaseThreshold)
	if err != nil {
		return s, err
	}
	raised := was < least
	if raised {
		err = cuda.MemPoolSetAttribute(p, cuda.MemPoolAttrReleaseThreshold, least)
	}
	if err != nil {
		return s, err
	}
	failed := work()
	s, err = sample(p)
	if raised {
		err = errors.Join(err, cuda.MemPoolSetAttribute(p, cuda.MemPoolAttrReleaseThreshold, was))
	}
	return s, errors.Join(failed, err)
}

func Lend(device int, pool cuda.MemPool, work func() error) error {
	was, err := cuda.DeviceGetMemPool(device)
	if err == nil {
		err = cuda.DeviceSetMemPool(device, pool)
	}
	if err != nil {
		return err
	}
	failed := work()
	return errors.Join(failed, cuda.DeviceSetMemPool(device, was))
}
