package cuda

import (
	"fmt"

	"cudalab/native/device"
	"cudalab/native/session"
)

// The codes that an exercise meets, under the runtime API's names. Compare with errors.Is.
const (
	ErrorInvalidValue          = device.ErrorInvalidValue
	ErrorMemoryAllocation      = device.ErrorOutOfMemory
	ErrorNoDevice              = device.ErrorNoDevice
	ErrorInvalidDevice         = device.ErrorInvalidDevice
	ErrorInvalidResourceHandle = device.ErrorInvalidHandle
	ErrorNotReady              = device.ErrorNotReady
	ErrorIllegalAddress        = device.ErrorIllegalAddress
	ErrorLaunchOutOfResources  = device.ErrorLaunchResources
	ErrorLaunchFailure         = device.ErrorLaunchFailed
	ErrorNotSupported          = device.ErrorNotSupported
)

// Error is the answer of a call that did not succeed.
type Error struct {
	Call string      // CUDA's name of the call, "cudaMallocAsync"
	Code device.Code // the driver API's code
	Hint string      // what it means here and what to do next, in one sentence
}

func (e *Error) Error() string {
	if e == nil {
		return "a nil *cuda.Error, which is no error of CUDA's"
	}
	message := e.Call + ": " + e.Code.String()
	if e.Hint != "" {
		message += ": " + e.Hint
	}
	return message
}

// Unwrap is the code, so that errors.Is can compare with it.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Code
}

// answer makes an error of a code, and nil of Success.
func answer(call string, code device.Code) error {
	if code == device.Success {
		return nil
	}
	return &Error{Call: call, Code: code, Hint: hint(call, code)}
}

// refused is answer for a call whose invalid value the binding can name.
func refused(call string, code device.Code, format string, args ...any) error {
	if code != device.ErrorInvalidValue {
		return answer(call, code)
	}
	return &Error{Call: call, Code: code, Hint: fmt.Sprintf(format, args...)}
}

// refusedSize is refused for a call whose size or count is what it may be wrong in. A call that succeeds pays nothing.
func refusedSize(call string, code device.Code, format string, bytes int64) error {
	if code == device.Success {
		return nil
	}
	return refused(call, code, format, bytes)
}

func hint(call string, code device.Code) string {
	if code == device.ErrorInvalidValue {
		return invalidValue[call]
	}
	return hints[code]
}

var hints = map[device.Code]string{
	device.ErrorOutOfMemory: "the device has no room for so much more; " +
		"free what is no longer needed, and look for memory that is never freed",
	device.ErrorNotInitialized: "cudalab has not started the driver; that is a fault of cudalab's: please report it",
	device.ErrorNoDevice:       "no GPU was found; try the simulator, with --device sim",
	device.ErrorInvalidDevice:  "no device has this number; there is one device, and its number is 0",
	device.ErrorInvalidPTX: "the driver cannot compile the kernel; " +
		"cudalab doctor prints what the driver says about it",
	device.ErrorUnsupportedPTX: "the kernel's PTX is newer than this driver understands; install a newer driver",
	device.ErrorInvalidHandle: "the stream or event was never created, or has been destroyed; " +
		"create it first and destroy it after its last use",
	device.ErrorNotReady: "the work is still pending; this is an answer rather than a fault: " +
		"ask again later, or synchronise to wait for it",
	device.ErrorIllegalAddress: "a kernel touched memory that is not allocated, and from then on every CUDA call fails; " +
		"look at the pointers and sizes that the launches before this call were given",
	device.ErrorLaunchResources: "a block needs more registers or shared memory than there is; " +
		"launch with fewer threads per block",
	device.ErrorLaunchTimeout: "a kernel ran longer than the system allows, and from then on every CUDA call fails; " +
		"look for a kernel that never ends",
	device.ErrorMisalignedAddress: "a kernel touched an address that is no multiple of its type's size, and from " +
		"then on every CUDA call fails; align what you hand to kernels",
	device.ErrorLaunchFailed: "a kernel died on the device, and from then on every CUDA call fails; " +
		"look at the pointers and sizes that the launches before this call were given",
	device.ErrorContextIsDestroyed: "an earlier fault has ended the work with the device, and all memory, streams and " +
		"events are gone; look for the first call that failed",
	device.ErrorNotSupported: "this GPU or its driver does not offer the call; cudalab doctor lists what it offers",
}

const (
	badSize  = "the size is %d bytes; ask for at least one"
	negative = "the size is %d bytes; ask for 0 or more"
	badFree  = "no allocation that is still alive starts at this address; free what an allocation returned, once"
	badRange = "the %d bytes do not lie within one live allocation; compare the pointer and the count with " +
		"what was allocated, and look for a free before this call; mapped memory needs MemSetAccess before its use"
	badFlags = "this call knows no such flags; use 0 or the constants that package cuda has for it"
	noFlags  = "the flags must be 0: CUDA has none for this call"
)

// invalidValue says by call what an invalid value is most likely to be.
var invalidValue = map[string]string{
	callStreamCreate: badFlags,
	callEventCreate:  badFlags,
	callFree:         badFree,
	callFreeAsync:    badFree,
	callFreeHost:     "the buffer was freed before, or was never allocated; free what MallocHost returned, once",
}

// GetLastError is the error of the last call that did not succeed, and forgets it: nil if there was none since it was
// asked last. One that means that the device's context is lost stays. Checking what each call returns says more.
func GetLastError() error {
	return answer("cudaGetLastError", session.Current().LastError())
}
