// Package poolconfig is the exercise pool-config: a memory pool of one's own that keeps its memory from round to round,
// is shared by several streams, and gives an account of itself; and two ways to the memory that others take from the
// device's pool.
package poolconfig

import (
	"errors"

	"cudalab/exercises/contract"
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
	// TODO(1a): Answer contract.ErrArgument if there are no streams, no sizes, a size below 1, fewer than one round, or no
	// such device.
	return contract.TODO("1a")
}

// newPool makes a pool with config's release threshold, or leaves nothing behind.
func newPool(config contract.PoolConfig) (cuda.MemPool, error) {
	// TODO(1b): Create the pool and set its release threshold. If that fails, destroy the pool again.
	return cuda.MemPool{}, contract.TODO("1b")
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
	return nil, 0, contract.TODO("1d")
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
// before work is returned, with an empty Sample, and work is not called; one behind it is joined to work's, beside any
// Sample. Keep makes the host wait for nothing, and leaves all else as it is: other pools, and what work makes current.
//
// device is one of the machine's, or CUDA answers the error that is returned; threshold is any number of bytes; work is
// not nil and does not panic. Work may call Keep and Lend.
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
