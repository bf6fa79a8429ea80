package cuda

import (
	"sync"

	"cudalab/native/device"
	"cudalab/native/session"
)

// Dim3 is a grid's or a block's extent. A zero Y or Z counts as 1.
type Dim3 = device.Dim

// launches keeps launches for reuse: a call through the device's interface would put each on the heap.
var launches = sync.Pool{New: func() any { return new(device.Launch) }}

// LaunchKernel puts a kernel into the stream and returns without waiting for it. Each argument occupies the low bytes
// of its slot. Package kernels has a typed call for every kernel, the analogue of kernel<<<grid, block, 0, stream>>>.
// The launch does not check the pointers it is handed. A nil or zero kernel is answered ErrorInvalidValue.
func LaunchKernel(k *device.Kernel, grid, block Dim3, s Stream, args ...uint64) error {
	const call = "cudaLaunchKernel"
	l := launches.Get().(*device.Launch)
	*l = device.Launch{Kernel: k, Grid: grid, Block: block}
	if !k.Made() || len(args) != k.Params() {
		l.Kernel = nil
	}
	copy(l.Args[:], args)
	code := session.Current().Launch(l, s.s)
	launches.Put(l)
	if code == device.Success {
		return nil
	}
	if !k.Made() {
		return refused(call, code, "there is no kernel")
	}
	if len(args) != k.Params() {
		return refused(call, code, "the kernel %s has %d parameters and was given %d", k.Entry(), k.Params(), len(args))
	}
	return refused(call, code, "the kernel %s cannot run with a grid of %d x %d x %d blocks of %d x %d x %d threads; "+
		"each extent must be at least 1, a block has at most 1024 threads, a grid at most 65535 blocks in y and z",
		k.Entry(), grid.X, max(grid.Y, 1), max(grid.Z, 1), block.X, max(block.Y, 1), max(block.Z, 1))
}
