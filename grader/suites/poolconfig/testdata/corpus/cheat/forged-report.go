// Makes its report out of nothing.
//
//cudalab:fails pool work
package poolconfig

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

func Run(c contract.PoolConfig) (contract.PoolReport, error) {
	var report contract.PoolReport
	if len(c.Streams) == 0 || len(c.Sizes) == 0 || c.Rounds < 1 {
		return report, contract.ErrArgument
	}
	var s contract.Sample
	for _, size := range c.Sizes {
		if size < 1 {
			return report, contract.ErrArgument
		}
		s.UsedHigh += uint64(size)
	}
	n, err := cuda.GetDeviceCount()
	if err != nil {
		return report, err
	}
	if c.Device < 0 || c.Device >= n {
		return report, contract.ErrArgument
	}
	const step = 32 << 20
	s.Reserved = (s.UsedHigh + step - 1) / step * step
	for range c.Rounds {
		report.Rounds = append(report.Rounds, s)
	}
	report.Reused = c.Rounds*len(c.Sizes) - 1
	return report, nil
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
