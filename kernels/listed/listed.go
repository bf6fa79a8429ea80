// Package listed knows the kernels that package kernels launches. Exercises cannot import it: what a kernel does is the
// lesson's to say, so no student's code may get hold of one, to change it or to take it apart.
package listed

import (
	"slices"

	"cudalab/native/device"
)

var kernels []*device.Kernel

// Add lists kernels. It is for initialising packages, one after another.
func Add(ks ...*device.Kernel) { kernels = append(kernels, ks...) }

// All are the kernels that were listed, lesson by lesson.
func All() []*device.Kernel { return slices.Clone(kernels) }
