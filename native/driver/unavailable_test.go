package driver

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
)

func TestDiagnoses(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	require.NoError(t, os.Unsetenv("CUDA_VISIBLE_DEVICES"))
	for _, c := range []struct {
		code   device.Code
		reason reason
		says   string
		advice string
	}{
		{2, reasonOther, "too little memory", "nvidia-smi"},
		{34, reasonNoLibrary, "stub", "LD_LIBRARY_PATH"},
		{46, reasonDeviceLost, "another process holds the GPU", "nvidia-smi -c 0"},
		{100, reasonNoDevice, "sees no GPU", "--gpus all"},
		{101, reasonNoDevice, "number", "nvidia-smi -L"},
		{102, reasonOther, "licence", "administrator"},
		{214, reasonDeviceLost, "cannot be corrected", "reboot"},
		{304, reasonNoPermission, "operating system", "/dev/nvidia*"},
		{800, reasonNoPermission, "may not use", "administrator"},
		{802, reasonDeviceLost, "not initialised", "nvidia-fabricmanager"},
		{803, reasonDeviceLost, "different releases", "Reboot"},
		{804, reasonOldDriver, "forward-compatibility", "newer driver"},
		{805, reasonOther, "MPS", "nvidia-cuda-mps-control"},
		{999, reasonDeviceLost, "without a reason", "nvidia_uvm"},
		{12345, reasonOther, "could not be started", "nvidia-smi"},
	} {
		err := error(unavailable("cuInit", c.code))
		var u *Unavailable
		require.ErrorAs(t, err, &u)
		require.Equal(t, c.reason, u.Reason, c.code)
		require.ErrorIs(t, err, c.code)
		require.True(t, strings.HasPrefix(u.What, "cuInit answered "+c.code.String()+": "), u.What)
		require.Contains(t, u.What, c.says)
		require.Contains(t, u.Do, c.advice)
		requireTwoSentences(t, u)
	}
}

func TestNoDeviceNamesTheVariableThatHidesIt(t *testing.T) {
	for _, visible := range []string{"", "7"} {
		t.Setenv("CUDA_VISIBLE_DEVICES", visible)
		u := unavailable("cuInit", device.ErrorNoDevice)
		require.Contains(t, u.What, `CUDA_VISIBLE_DEVICES is "`+visible+`"`)
		require.Contains(t, u.Do, "Unset it")
		requireTwoSentences(t, u)
	}
}

func TestOldDriver(t *testing.T) {
	for _, c := range []struct {
		version int32
		missing []string
		says    string
	}{
		{10020, []string{"cuMemAllocAsync"}, "supports CUDA 10.2, and cudalab needs 11.2"},
		{0, []string{"cuDriverGetVersion"}, "does not say which CUDA version"},
		{13000, []string{"cuMemFreeAsync", "cuInit"}, "CUDA 13.0, but its library lacks cuInit, cuMemFreeAsync."},
	} {
		u := oldDriver(c.version, c.missing)
		require.Equal(t, reasonOldDriver, u.Reason)
		require.Contains(t, u.What, c.says)
		requireTwoSentences(t, u)
	}
}

func TestNoLibrarySaysWhereItLooked(t *testing.T) {
	u := noLibrary("libcuda.so.1: cannot open shared object file")
	require.Contains(t, u.Error(), "libcuda.so.1: cannot open")
	requireTwoSentences(t, u)
}

// Every message ends with what to do, and with the way that always works.
func requireTwoSentences(t *testing.T, u *Unavailable) {
	t.Helper()
	require.True(t, strings.HasSuffix(u.What, "."), u.What)
	require.True(t, strings.HasSuffix(u.Do, "--device sim."), u.Do)
	require.Equal(t, u.What+" "+u.Do, u.Error())
}

func TestOpenWithoutAGPU(t *testing.T) {
	d, err := Open()
	if err == nil {
		require.NoError(t, d.Close())
		t.Skip("there is a GPU here")
	}
	var u *Unavailable
	require.True(t, errors.As(err, &u), "%T", err)
	require.NotEmpty(t, u.Reason)
	requireTwoSentences(t, u)
}

// A library that lacks one call is found out, whichever it is; only the second version of cuEventElapsedTime may lack.
func TestResolveFindsEveryMissingSymbol(t *testing.T) {
	var s symbols
	for name := range s.exports() {
		missing := new(symbols).resolve(func(wanted string) uintptr {
			if wanted == name {
				return 0
			}
			return 1
		})
		require.Equal(t, []string{name}, missing)
	}
}

func TestElapsedTimePrefersTheSecondVersion(t *testing.T) {
	var s symbols
	s.resolve(func(name string) uintptr { return uintptr(len(name)) })
	require.Equal(t, uintptr(len("cuEventElapsedTime_v2")), s.eventElapsedTime)
	s = symbols{}
	require.Empty(t, s.resolve(func(name string) uintptr {
		if name == "cuEventElapsedTime_v2" {
			return 0
		}
		return uintptr(len(name))
	}))
	require.Equal(t, uintptr(len("cuEventElapsedTime")), s.eventElapsedTime)
}
