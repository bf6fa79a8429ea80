package session_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/driver"
	"cudalab/native/session"
)

func TestOpenDevice(t *testing.T) {
	_, err := session.OpenDevice("tpu")
	require.EqualError(t, err, `there is no device "tpu": choose auto, gpu or sim`)

	d, err := session.OpenDevice("sim")
	require.NoError(t, err)
	require.Equal(t, device.Sim, d.Info().Kind)
	require.NoError(t, d.Close())
}

func TestAutoIsTheGPUWhereThereIsOne(t *testing.T) {
	want := device.GPU
	gpu, err := session.OpenDevice("gpu")
	if err == nil {
		require.NoError(t, gpu.Close())
	} else {
		var unavailable *driver.Unavailable
		require.True(t, errors.As(err, &unavailable), "%v", err)
		want = device.Sim
	}
	d, err := session.OpenDevice("auto")
	require.NoError(t, err)
	require.Equal(t, want, d.Info().Kind)
	require.NoError(t, d.Close())
}

func TestCurrentOpensTheDeviceThatTheEnvironmentNames(t *testing.T) {
	t.Setenv("CUDALAB_DEVICE", "abacus")
	require.PanicsWithValue(t, `CUDALAB_DEVICE=abacus: there is no device "abacus": choose auto, gpu or sim`,
		func() { session.Current() })
	t.Setenv("CUDALAB_DEVICE", "sim")
	s := session.Current()
	require.Equal(t, device.Sim, s.Device().Info().Kind)
	require.Same(t, s, session.Current())

	other := open(t)
	other.Use()
	require.Same(t, other, session.Current())
}
