// Has the reference solution do the work.
//
//cudalab:refused
package vmmarena

import "cudalab/solutions/vmmarena" // want: import

type Arena = vmmarena.Arena

func New(device int, reserve int64) (*Arena, error) {
	return vmmarena.New(device, reserve)
}
