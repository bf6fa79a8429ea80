// Has the reference solution do the work.
//
//cudalab:refused
package growable

import "cudalab/solutions/growable" // want: import

type Vector = growable.Vector

func New(device int, elem, max int64) (*Vector, error) {
	return growable.New(device, elem, max)
}
