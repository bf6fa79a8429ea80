package device

import "strconv"

// Code is the answer of one call: the driver API's CUresult, number for number, on both devices.
type Code int32

// The codes that cudalab meets, from cuda.h (CUresult).
const (
	Success                  Code = 0
	ErrorInvalidValue        Code = 1
	ErrorOutOfMemory         Code = 2
	ErrorNotInitialized      Code = 3
	ErrorDeinitialized       Code = 4
	ErrorStubLibrary         Code = 34
	ErrorDeviceUnavailable   Code = 46
	ErrorNoDevice            Code = 100
	ErrorInvalidDevice       Code = 101
	ErrorDeviceNotLicensed   Code = 102
	ErrorInvalidImage        Code = 200
	ErrorInvalidContext      Code = 201
	ErrorNoBinaryForGPU      Code = 209
	ErrorECCUncorrectable    Code = 214
	ErrorInvalidPTX          Code = 218
	ErrorUnsupportedPTX      Code = 222
	ErrorFileNotFound        Code = 301
	ErrorOperatingSystem     Code = 304
	ErrorInvalidHandle       Code = 400
	ErrorIllegalState        Code = 401
	ErrorNotFound            Code = 500
	ErrorNotReady            Code = 600
	ErrorIllegalAddress      Code = 700
	ErrorLaunchResources     Code = 701
	ErrorLaunchTimeout       Code = 702
	ErrorContextIsDestroyed  Code = 709
	ErrorAssert              Code = 710
	ErrorMisalignedAddress   Code = 716
	ErrorLaunchFailed        Code = 719
	ErrorNotPermitted        Code = 800
	ErrorNotSupported        Code = 801
	ErrorSystemNotReady      Code = 802
	ErrorSystemDriver        Code = 803
	ErrorCompatNotSupported  Code = 804
	ErrorMPSConnectionFailed Code = 805
	ErrorUnknown             Code = 999
)

var codeNames = map[Code]string{
	Success:                  "CUDA_SUCCESS",
	ErrorInvalidValue:        "CUDA_ERROR_INVALID_VALUE",
	ErrorOutOfMemory:         "CUDA_ERROR_OUT_OF_MEMORY",
	ErrorNotInitialized:      "CUDA_ERROR_NOT_INITIALIZED",
	ErrorDeinitialized:       "CUDA_ERROR_DEINITIALIZED",
	ErrorStubLibrary:         "CUDA_ERROR_STUB_LIBRARY",
	ErrorDeviceUnavailable:   "CUDA_ERROR_DEVICE_UNAVAILABLE",
	ErrorNoDevice:            "CUDA_ERROR_NO_DEVICE",
	ErrorInvalidDevice:       "CUDA_ERROR_INVALID_DEVICE",
	ErrorDeviceNotLicensed:   "CUDA_ERROR_DEVICE_NOT_LICENSED",
	ErrorInvalidImage:        "CUDA_ERROR_INVALID_IMAGE",
	ErrorInvalidContext:      "CUDA_ERROR_INVALID_CONTEXT",
	ErrorNoBinaryForGPU:      "CUDA_ERROR_NO_BINARY_FOR_GPU",
	ErrorECCUncorrectable:    "CUDA_ERROR_ECC_UNCORRECTABLE",
	ErrorInvalidPTX:          "CUDA_ERROR_INVALID_PTX",
	ErrorUnsupportedPTX:      "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
	ErrorFileNotFound:        "CUDA_ERROR_FILE_NOT_FOUND",
	ErrorOperatingSystem:     "CUDA_ERROR_OPERATING_SYSTEM",
	ErrorInvalidHandle:       "CUDA_ERROR_INVALID_HANDLE",
	ErrorIllegalState:        "CUDA_ERROR_ILLEGAL_STATE",
	ErrorNotFound:            "CUDA_ERROR_NOT_FOUND",
	ErrorNotReady:            "CUDA_ERROR_NOT_READY",
	ErrorIllegalAddress:      "CUDA_ERROR_ILLEGAL_ADDRESS",
	ErrorLaunchResources:     "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
	ErrorLaunchTimeout:       "CUDA_ERROR_LAUNCH_TIMEOUT",
	ErrorContextIsDestroyed:  "CUDA_ERROR_CONTEXT_IS_DESTROYED",
	ErrorAssert:              "CUDA_ERROR_ASSERT",
	ErrorMisalignedAddress:   "CUDA_ERROR_MISALIGNED_ADDRESS",
	ErrorLaunchFailed:        "CUDA_ERROR_LAUNCH_FAILED",
	ErrorNotPermitted:        "CUDA_ERROR_NOT_PERMITTED",
	ErrorNotSupported:        "CUDA_ERROR_NOT_SUPPORTED",
	ErrorSystemNotReady:      "CUDA_ERROR_SYSTEM_NOT_READY",
	ErrorSystemDriver:        "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
	ErrorCompatNotSupported:  "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
	ErrorMPSConnectionFailed: "CUDA_ERROR_MPS_CONNECTION_FAILED",
	ErrorUnknown:             "CUDA_ERROR_UNKNOWN",
}

// Name is the driver's own name for the code, or "CUDA_ERROR" for one not listed here.
func (c Code) Name() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return "CUDA_ERROR"
}

// String is the name with the number behind it: "CUDA_ERROR_INVALID_VALUE (1)".
func (c Code) String() string { return c.Name() + " (" + strconv.Itoa(int(c)) + ")" }

// Error makes a Code an error, so that errors.Is can compare with it.
func (c Code) Error() string { return c.String() }

// Sticky reports whether the code means that the context is lost: every later call in this process fails too.
func (c Code) Sticky() bool {
	switch c {
	case ErrorIllegalAddress, ErrorLaunchTimeout, ErrorContextIsDestroyed, ErrorAssert,
		ErrorMisalignedAddress, ErrorLaunchFailed:
		return true
	}
	return false
}
