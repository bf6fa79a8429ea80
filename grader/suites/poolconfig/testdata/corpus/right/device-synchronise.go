// Waits for the whole device, and asks for the numbers in a loop.
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
	err = errors.Join(err, cuda.DeviceSynchronize())
	if err != nil {
		return err
	}
	s, err := sample(pool)
	report.Rounds = append(report.Rounds, s)
	return err
}

func sample(pool cuda.MemPool) (contract.Sample, error) {
	var s contract.Sample
	for _, ask := range []struct {
		attr cuda.MemPoolAttr
		into *uint64
	}{
		{cuda.MemPoolAttrUsedMemHigh, &s.UsedHigh},
		{cuda.MemPoolAttrUsedMemCurrent, &s.Used},
		{cuda.MemPoolAttrReservedMemCurrent, &s.Reserved},
	} {
		value, err := cuda.MemPoolGetAttribute(pool, ask.attr)
		if err != nil {
			return s, err
		}
		*ask.into = value
	}
	return s, nil
}

func Keep(device int, threshold uint64, work func() error) (contract.Sample, error) {
	pool, err := cuda.DeviceGetMemPool(device)
	if err != nil {
		return contract.Sample{}, err
	}
	if _, err := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReleaseThreshold); err != nil {
		return contract.Sample{}, err
	}
	found, err := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReleaseThreshold)
	if err != nil {
		return contract.Sample{}, err
	}
	if found >= threshold {
		err := work()
		report, failed := sample(pool)
		return report, errors.Join(err, failed)
	}
	if err := cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrReleaseThreshold, threshold); err != nil {
		return contract.Sample{}, err
	}
	fromWork := work()
	report, failed := sample(pool)
	// What it kept for work alone goes back at once.
	trimmed := cuda.MemPoolTrimTo(pool, int64(min(found, 1<<62)))
	back := cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrReleaseThreshold, found)
	return report, errors.Join(fromWork, failed, trimmed, back)
}

func Lend(device int, pool cuda.MemPool, work func() error) error {
	found, err := cuda.DeviceGetMemPool(device)
	if err != nil {
		return err
	}
	if found == pool {
		return errors.Join(work(), cuda.DeviceSetMemPool(device, found))
	}
	if err := cuda.DeviceSetMemPool(device, pool); err != nil {
		return err
	}
	fromWork := work()
	back := cuda.DeviceSetMemPool(device, found)
	return errors.Join(fromWork, back)
}
