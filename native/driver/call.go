package driver

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"cudalab/native/device"
)

// call calls the driver's function fn. A thread without a context is refused most calls that name no stream, with
// INVALID_CONTEXT and no other effect; such a call is repeated with the context set. Calls that do name a stream need
// none, so this is cheaper than setting the context before every call, which costs some 120 ns (measured on an H200).
//
// A pointer argument must be converted to uintptr in the call's own argument list. go:uintptrescapes then puts what it
// points to on the heap, where a growing stack does not move it, and keeps it alive until call returns.
//
//go:uintptrescapes
func (d *Device) call(fn uintptr, args ...uintptr) device.Code {
	code := raw(fn, args...)
	if code == device.ErrorInvalidContext {
		return d.callInContext(fn, args...)
	}
	return code
}

// callInContext sets the primary context on a thread and makes the call there. The context stays set: the thread's next
// call will not need this.
func (d *Device) callInContext(fn uintptr, args ...uintptr) device.Code {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if code := raw(d.lib.ctxSetCurrent, d.context); code != device.Success {
		return code
	}
	return raw(fn, args...)
}

// raw calls fn on whatever thread this goroutine runs. A CUresult is an int: the upper half of the register is noise.
//
//go:uintptrescapes
func raw(fn uintptr, args ...uintptr) device.Code {
	result, _, _ := purego.SyscallN(fn, args...)
	return device.Code(int32(result))
}

// frame is the memory that one call shares with the driver, for the calls that a program makes often: neither their
// arguments nor what the driver writes costs an allocation. Frames live on the heap, which nothing moves, so a frame
// may hold addresses of its own fields. The calls made rarely pass addresses of local variables, which are allocated
// each time.
type frame struct {
	argv   [11]uintptr // the call's arguments; cuLaunchKernel has the most
	out    uint64      // what the driver writes
	args   [device.MaxArgs]uint64
	params [device.MaxArgs]unsafe.Pointer // params[i] is &args[i]: cuLaunchKernel's kernelParams
}

var frames = sync.Pool{New: func() any {
	f := new(frame)
	for i := range f.args {
		f.params[i] = unsafe.Pointer(&f.args[i])
	}
	return f
}}

// callTwo calls a function of two arguments that are no addresses in Go's memory.
func (d *Device) callTwo(fn, a, b uintptr) device.Code {
	f := frames.Get().(*frame)
	f.argv[0], f.argv[1] = a, b
	code := d.call(fn, f.argv[:2]...)
	frames.Put(f)
	return code
}
