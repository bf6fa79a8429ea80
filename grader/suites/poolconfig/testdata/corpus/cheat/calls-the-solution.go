// Has the reference solution do the work.
//
//cudalab:refused
package poolconfig

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
	"cudalab/solutions/poolconfig" // want: import
)

func Run(c contract.PoolConfig) (contract.PoolReport, error) {
	return poolconfig.Run(c)
}

func Keep(device int, threshold uint64, work func() error) (contract.Sample, error) {
	return poolconfig.Keep(device, threshold, work)
}

func Lend(device int, pool cuda.MemPool, work func() error) error {
	return poolconfig.Lend(device, pool, work)
}
