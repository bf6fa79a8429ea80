// The gap of the mark is left open between two that are filled.
//
//cudalab:next 1c
package poolconfig

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// Run makes a pool on config.Device with the release threshold config.Threshold and sends config.Rounds rounds of
// blocks through it. In each round all blocks are live together: block j, of config.Sizes[j] bytes, is allocated from
// the pool, touched and freed in stream j%len(config.Streams). At the end of the round, when the host has waited for all
// streams, a Sample is taken. After the last round the pool is trimmed to config.TrimTo bytes, sampled once more and
// destroyed. The device's default pool and its current pool are left as they were found.
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
	// TODO(1a): Answer contract.ErrArgument if there are no streams, no sizes, a size below 1, fewer than one round, or no
	// such device.
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
	// TODO(1b): Create the pool and set its release threshold. If that fails, destroy the pool again.
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
	// TODO(1c): Reset the pool's mark for the most memory used, so that it will show this round's peak.
	if err := contract.TODO("1c"); err != nil {
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
	// TODO(1d): Allocate a block of each size in its stream. Count those that left the pool's reserved memory as it was.
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
	// TODO(1e): Launch kernels.Touch on all bytes of each block, in the block's stream.
	return contract.TODO("1e")
}

// release frees the blocks, each in its stream, and waits for all streams. It frees what it can, whatever fails.
func release(blocks []cuda.DevicePtr, config contract.PoolConfig) error {
	// TODO(1f): Free each block in its stream, then wait for all streams.
	return contract.TODO("1f")
}

// sample asks the pool for its account.
func sample(pool cuda.MemPool) (contract.Sample, error) {
	// TODO(1g): Ask the pool for its reserved memory, its used memory and the mark for the most memory used.
	return contract.Sample{}, contract.TODO("1g")
}

// trim has the pool give back what it holds above config.TrimTo, and samples it.
func trim(pool cuda.MemPool, config contract.PoolConfig) (contract.Sample, error) {
	// TODO(1h): Trim the pool to config.TrimTo bytes and sample it.
	return contract.Sample{}, contract.TODO("1h")
}

// Keep calls work once, while the release threshold of the device's current pool, whichever that is, is threshold, or
// what it was where that is more. Work leaves this threshold as it is. Before Keep returns, the threshold is again what
// it was, also where work has answered an error.
//
// It answers how that pool, the one found, stood when work had returned, and work's error. An error that CUDA answers
// before work is returned, with an empty Sample, and work is not called; one behind it is joined to work's. Keep makes
// the host wait for nothing, and leaves everything else as it is: other pools, and whatever pool work makes current.
//
// device is one of the machine's, or CUDA answers the error that is returned; threshold is any number of bytes; work is
// not nil. Work may call Keep and Lend.
func Keep(device int, threshold uint64, work func() error) (s contract.Sample, err error) {
	// TODO(2a): Ask for the device's current pool and its release threshold. Raise that to threshold if it is less, and
	// see to it that it is set back on every way out. Call work, then sample the pool.
	return contract.Sample{}, contract.TODO("2a")
}

// Lend calls work once, while pool is the device's current one: what work takes with cuda.MallocAsync comes from pool,
// also in a library that it calls. Before Lend returns, the pool that was current is current again, also where work has
// answered an error or has made another one current.
//
// Errors are as with Keep, and Lend makes the host wait for nothing, too. pool is one of device's, which may be current
// already, and it stays the caller's, with all its attributes.
func Lend(device int, pool cuda.MemPool, work func() error) error {
	// TODO(2b): Ask for the current pool, set pool, call work, and set the one that you have found again on every way out.
	return contract.TODO("2b")
}
