// Has the reference solution do the work.
//
//cudalab:refused
package poolconfig

import (
	"cudalab/exercises/contract"
	"cudalab/solutions/poolconfig" // want: import
)

func Run(c contract.PoolConfig) (contract.PoolReport, error) {
	return poolconfig.Run(c)
}
