// Package poolconfig is the exercise pool-config: a memory pool of one's own that keeps its memory from round to round,
// is shared by several streams, and gives an account of itself; and two ways to the memory that others take from the
// device's pool.
package poolconfig

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/kernels"
	"cudalab/native/cuda"
)

// Run makes a pool on config.Device with the release threshold config.Threshold and sends config.Rounds rounds of
// blocks through it. In each round all blocks are live together: block j, of config.Sizes[j] bytes, is allocated from
// the pool, touched and freed in stream j%len(config.Streams). Until all of them have been touched the host waits for
// nothing. At the end of the round, when it has waited for all streams, a Sample is taken. After the last round the pool
// is trimmed to config.TrimTo bytes, sampled once more and destroyed. The device's default pool and its current pool are left as they were found, and so are config's slices; a
// report stays what it is, whatever is called later.
//
// With no streams, no sizes, a size below 1, fewer than one round, or a device that there is not, it answers
// contract.ErrArgument; of CUDA it has then asked the number of devices at most. It stops at the first error that CUDA
// answers and returns it; what it has made is freed and destroyed on every way out.
func Run(config contract.PoolConfig) (contract.PoolReport, error) {
	var report contract.PoolReport
	if err := checkArguments(config); err != nil {
		return report, err
	}
	pool, err := newPool(config)
	if err != nil {
		return report, err
	}
	for i := 0; i < config.Rounds && err == nil; i++ {
		err = round(pool, config, &report)
	}
	if err == nil {
		report.Trimmed, err = trim(pool, config)
	}
	// What is destroyed is the pool, whatever went wrong before.
	return report, errors.Join(err, cuda.MemPoolDestroy(pool))
}

// checkArguments answers contract.ErrArgument, or an error that wraps it, to what Run cannot work with.
func checkArguments(config contract.PoolConfig) error {
	switch {
	case len(config.Streams) == 0:
		return fmt.Errorf("no streams: %w", contract.ErrArgument)
	case len(config.Sizes) == 0:
		return fmt.Errorf("no sizes: %w", contract.ErrArgument)
	case config.Rounds < 1:
		return fmt.Errorf("%d rounds: %w", config.Rounds, contract.ErrArgument)
	}
	for j, size := range config.Sizes {
		if size < 1 {
			return fmt.Errorf("block %d has %d bytes: %w", j, size, contract.ErrArgument)
		}
	}
	// Counting the devices changes nothing, so it is the one thing that CUDA may be asked before all is checked.
	devices, err := cuda.GetDeviceCount()
	if err != nil {
		return err
	}
	if config.Device < 0 || config.Device >= devices {
		return fmt.Errorf("device %d of %d: %w", config.Device, devices, contract.ErrArgument)
	}
	return nil
}

// newPool makes a pool with config's release threshold, or leaves nothing behind.
func newPool(config contract.PoolConfig) (cuda.MemPool, error) {
	pool, err := cuda.MemPoolCreate(cuda.MemPoolProps{Device: config.Device})
	if err != nil {
		return pool, err
	}
	// Now, before anything comes from the pool: what the pool gives back at a synchronisation, it gives back by the
	// threshold of that moment.
	err = cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrReleaseThreshold, config.Threshold)
	if err != nil {
		return pool, errors.Join(err, cuda.MemPoolDestroy(pool))
	}
	return pool, nil
}

// round sends all blocks through the pool once and adds what it saw to report.
func round(pool cuda.MemPool, config contract.PoolConfig, report *contract.PoolReport) error {
	// Set to 0, the mark goes to what is in use now, and that is nothing: it will show this round's peak.
	if err := cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrUsedMemHigh, 0); err != nil {
		return err
	}
	blocks, reused, err := allocate(pool, config)
	if err == nil {
		err = touch(blocks, config)
	}
	// Whatever went wrong, the blocks that there are go back.
	if err := errors.Join(err, release(blocks, config)); err != nil {
		return err
	}
	s, err := sample(pool)
	if err != nil {
		return err
	}
	report.Rounds = append(report.Rounds, s)
	report.Reused += reused
	return nil
}

// allocate takes all blocks of a round from the pool, each in its stream, and counts those for which the pool did not
// have to grow. With an error come the blocks that were allocated before it.
func allocate(pool cuda.MemPool, config contract.PoolConfig) (blocks []cuda.DevicePtr, reused int, err error) {
	before, err := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReservedMemCurrent)
	if err != nil {
		return nil, 0, err
	}
	for j, size := range config.Sizes {
		block, err := cuda.MallocFromPoolAsync(size, pool, config.Streams[j%len(config.Streams)])
		if err != nil {
			return blocks, reused, err
		}
		blocks = append(blocks, block)
		after, err := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReservedMemCurrent)
		if err != nil {
			return blocks, reused, err
		}
		if after == before {
			reused++
		}
		before = after
	}
	return blocks, reused, nil
}

// touch writes every byte of every block, each in its stream.
func touch(blocks []cuda.DevicePtr, config contract.PoolConfig) error {
	for j, block := range blocks {
		stream := config.Streams[j%len(config.Streams)]
		if err := kernels.Touch(64, 256, stream, block, config.Sizes[j], uint32(j)); err != nil {
			return err
		}
	}
	return nil
}

// release frees the blocks, each in its stream, and waits for all streams. It frees what it can, whatever fails.
func release(blocks []cuda.DevicePtr, config contract.PoolConfig) error {
	var err error
	for j, block := range blocks {
		err = errors.Join(err, cuda.FreeAsync(block, config.Streams[j%len(config.Streams)]))
	}
	// One after the other, but the streams work side by side: the host is through with the slowest of them.
	for _, stream := range config.Streams {
		err = errors.Join(err, cuda.StreamSynchronize(stream))
	}
	return err
}

// sample asks the pool for its account.
func sample(pool cuda.MemPool) (contract.Sample, error) {
	reserved, err := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReservedMemCurrent)
	if err != nil {
		return contract.Sample{}, err
	}
	used, err := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrUsedMemCurrent)
	if err != nil {
		return contract.Sample{}, err
	}
	usedHigh, err := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrUsedMemHigh)
	if err != nil {
		return contract.Sample{}, err
	}
	return contract.Sample{Reserved: reserved, Used: used, UsedHigh: usedHigh}, nil
}

// trim has the pool give back what it holds above config.TrimTo, and samples it.
func trim(pool cuda.MemPool, config contract.PoolConfig) (contract.Sample, error) {
	if err := cuda.MemPoolTrimTo(pool, int64(config.TrimTo)); err != nil {
		return contract.Sample{}, err
	}
	return sample(pool)
}

// Keep calls work once, while the release threshold of the device's current pool, whichever that is, is threshold, or
// what it was where that is more. Work leaves this threshold as it is. Before Keep returns, the threshold is again what
// it was, also where work has answered an error.
//
// It answers how that pool, the one found, stood when work had returned, and work's error. An error that CUDA answers
// before work is returned, with an empty Sample, and work is not called; one behind it is joined to work's, beside any
// Sample. Keep makes the host wait for nothing, and leaves all else as it is: other pools, and what work makes current.
//
// device is one of the machine's, or CUDA answers the error that is returned; threshold is any number of bytes; work is
// not nil and does not panic. Work may call Keep and Lend.
func Keep(device int, threshold uint64, work func() error) (s contract.Sample, err error) {
	pool, err := cuda.DeviceGetMemPool(device)
	if err != nil {
		return s, err
	}
	found, err := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReleaseThreshold)
	if err != nil {
		return s, err
	}
	if found < threshold {
		if err := cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrReleaseThreshold, threshold); err != nil {
			return s, err
		}
		// From here on there is something to take back, whatever work and the pool answer.
		defer func() {
			err = errors.Join(err, cuda.MemPoolSetAttribute(pool, cuda.MemPoolAttrReleaseThreshold, found))
		}()
	}

	err = work()
	s, failed := sample(pool)
	return s, errors.Join(err, failed)
}

// Lend calls work once, while pool is the device's current one: what work takes with cuda.MallocAsync comes from pool,
// also in a library that it calls. Before Lend returns, the pool that was current is current again, also where work has
// answered an error or has made another one current.
//
// Errors are as with Keep, and Lend makes the host wait for nothing, too. pool is one of device's, which may be current
// already, and it stays the caller's, with all its attributes.
func Lend(device int, pool cuda.MemPool, work func() error) error {
	// It need not be the default pool: somebody may have lent theirs already.
	found, err := cuda.DeviceGetMemPool(device)
	if err != nil {
		return err
	}
	if err := cuda.DeviceSetMemPool(device, pool); err != nil {
		return err
	}
	err = work()
	return errors.Join(err, cuda.DeviceSetMemPool(device, found))
}
