package driver

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"cudalab/native/device"
)

// reason is why there is no GPU to use, for programs that react to it.
type reason string

// The reasons.
const (
	reasonNoLibrary    reason = "no-library"    // the driver's library is not installed, or not to be found
	reasonOldDriver    reason = "old-driver"    // it lacks calls that cudalab needs
	reasonNoDevice     reason = "no-device"     // the driver shows this process no GPU
	reasonNoPermission reason = "no-permission" // the operating system keeps this process from the GPU
	reasonDeviceLost   reason = "device-lost"   // GPU and driver are there, and not in a state to work
	reasonOther        reason = "other"
)

// Unavailable is the error of Open.
type Unavailable struct {
	Reason reason
	Code   device.Code // the driver's answer; Success where the driver was not asked
	What   string      // a sentence: what happened
	Do     string      // a sentence: what to do about it
}

// Error is the two sentences.
func (u *Unavailable) Error() string { return u.What + " " + u.Do }

// Unwrap is the driver's answer.
func (u *Unavailable) Unwrap() error {
	if u.Code == device.Success {
		return nil
	}
	return u.Code
}

const useSimulator = "Use the simulated device: --device sim."

const orSimulator = ", or use the simulated device: --device sim."

// noLibrary says that the driver's library was not found; looked is where, and what the system said.
func noLibrary(looked string) *Unavailable {
	return &Unavailable{Reason: reasonNoLibrary,
		What: "No NVIDIA driver was found (" + looked + ").",
		Do:   "Install NVIDIA's driver, start a container with --gpus all" + orSimulator}
}

// oldDriver says that a driver of the given version (0: unknown) lacks calls that cudalab makes.
func oldDriver(version int32, missing []string) *Unavailable {
	u := &Unavailable{Reason: reasonOldDriver, Do: "Install NVIDIA driver release 460 or later" + orSimulator}
	switch {
	case version == 0:
		u.What = "The NVIDIA driver does not say which CUDA version it supports, and cudalab needs " +
			versionName(leastVersion) + "."
	case version < leastVersion:
		u.What = fmt.Sprintf("The NVIDIA driver supports CUDA %s, and cudalab needs %s, the first with a stream-ordered "+
			"allocator.",
			versionName(version), versionName(leastVersion))
	default:
		slices.Sort(missing)
		u.What = fmt.Sprintf("The NVIDIA driver says that it supports CUDA %s, but its library lacks %s.",
			versionName(version), strings.Join(missing, ", "))
		u.Do = "Install NVIDIA's driver again" + orSimulator
	}
	return u
}

// Codes that only the opening of a device meets (cuda.h: CUresult).
const (
	errorStubLibrary         device.Code = 34
	errorDeviceUnavailable   device.Code = 46
	errorDeviceNotLicensed   device.Code = 102
	errorECCUncorrectable    device.Code = 214
	errorCompatNotSupported  device.Code = 804
	errorMPSConnectionFailed device.Code = 805
)

type diagnosis struct {
	reason reason
	what   string // goes on after "cuInit answered CUDA_ERROR_NO_DEVICE (100): "
	do     string
}

var diagnoses = map[device.Code]diagnosis{
	device.ErrorNoDevice: {reasonNoDevice, "the driver is installed and sees no GPU",
		"Run nvidia-smi to see whether the GPU is there; start a container with --gpus all" + orSimulator},
	device.ErrorInvalidDevice: {reasonNoDevice, "the driver takes the GPU's number for that of no GPU",
		"Run nvidia-smi -L to see which GPUs there are" + orSimulator},
	device.ErrorOperatingSystem: {reasonNoPermission, "the operating system refused the driver something it needs",
		"See that you may read and write /dev/nvidia*, start a container with --gpus all" + orSimulator},
	device.ErrorNotPermitted: {reasonNoPermission, "this process may not use the GPU",
		"Ask the machine's administrator for access to the GPU" + orSimulator},
	errorDeviceUnavailable: {reasonDeviceLost, "another process holds the GPU for itself, or it is closed to compute work",
		"Wait for that process to end, or have the compute mode set to Default with nvidia-smi -c 0" + orSimulator},
	device.ErrorSystemNotReady: {reasonDeviceLost, "the GPUs of this machine are not initialised yet",
		"Start the service nvidia-fabricmanager, which machines with NVSwitch need" + orSimulator},
	device.ErrorSystemDriver: {reasonDeviceLost, "the kernel's driver module and the driver's library are of different " +
		"releases, as after an update",
		"Reboot, or unload and load the nvidia kernel modules" + orSimulator},
	errorECCUncorrectable: {reasonDeviceLost, "the GPU's memory has an error that cannot be corrected",
		"Reset the GPU with nvidia-smi -r or reboot" + orSimulator},
	device.ErrorUnknown: {reasonDeviceLost, "the driver failed without a reason, as after suspend and resume",
		"Reboot, or unload and load the kernel module nvidia_uvm" + orSimulator},
	errorStubLibrary: {reasonNoLibrary, "the library is the CUDA toolkit's stub for linking and no driver",
		"Take the toolkit's stubs directory out of LD_LIBRARY_PATH" + orSimulator},
	errorCompatNotSupported: {reasonOldDriver, "the forward-compatibility package does not support this GPU",
		"Take its directory out of LD_LIBRARY_PATH, or install a newer driver instead" + orSimulator},
	errorDeviceNotLicensed: {reasonOther, "this virtual GPU has no licence",
		"Ask the machine's administrator for a licence" + orSimulator},
	errorMPSConnectionFailed: {reasonOther, "the MPS server did not answer",
		"Start nvidia-cuda-mps-control -d, or unset CUDA_MPS_PIPE_DIRECTORY" + orSimulator},
	device.ErrorOutOfMemory: {reasonOther, "too little memory is free on the GPU, or on the host, for a context",
		"Run nvidia-smi and end the programs that fill the GPU" + orSimulator},
}

// unavailable says what the answer of a call made while opening the device means.
func unavailable(call string, code device.Code) *Unavailable {
	found, known := diagnoses[code]
	if visible, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set && code == device.ErrorNoDevice {
		found.what = fmt.Sprintf("the driver shows this process no GPU, and CUDA_VISIBLE_DEVICES is %q", visible)
		found.do = "Unset it or set it to the number of a GPU that nvidia-smi -L lists" + orSimulator
	}
	if !known {
		found = diagnosis{reasonOther, "the driver could not be started", "Run nvidia-smi to see whether the GPU works" +
			orSimulator}
	}
	return &Unavailable{Reason: found.reason, Code: code, Do: found.do,
		What: fmt.Sprintf("%s answered %s: %s.", call, code, found.what)}
}
