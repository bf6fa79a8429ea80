package calibrate

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/device"
	"cudalab/native/profile"
	"cudalab/native/sim"
)

// loaded is a device on a machine that has other things to do: each launch takes longer, by what delay says.
type loaded struct {
	device.Device
	delay func() int64
	lost  int64
}

func (l *loaded) LaunchKernel(k *device.Launch) device.Code {
	l.lost += l.delay()
	return l.Device.LaunchKernel(k)
}

func (l *loaded) Now() int64 { return l.Device.Now() + l.lost }

// measureLoaded measures a simulated device whose launches are delayed by what delay says of where the measuring is.
func measureLoaded(t *testing.T, delay func(at Progress) int64) (f *profile.File, unsure []string, runs int,
	err error) {
	t.Helper()
	var at Progress
	l := &loaded{Device: sim.New(sim.Options{}), delay: func() int64 { return delay(at) }}
	defer l.Close()
	f, unsure, err = Measure(context.Background(), l, func(p Progress) { at = p })
	return f, unsure, at.Run, err
}

const launching = "what a launch costs the host"

func TestTwoRunsAgree(t *testing.T) {
	f, unsure, runs, err := measureLoaded(t, func(Progress) int64 { return 0 })
	require.NoError(t, err)
	require.Empty(t, unsure)
	require.Equal(t, 2, runs)
	require.InEpsilon(t, sim.H200.Launch, f.Profile.Launch, tolerance)
}

// What disturbs one run, whether its figures contradict each other for it or not, is found out by the others.
func TestADisturbedRunDoesNotCount(t *testing.T) {
	for name, disturbed := range map[string]func(at Progress) bool{
		"in contradiction": func(at Progress) bool { return at.Name == launching },
		"consistently":     func(Progress) bool { return true },
	} {
		for _, run := range []int{1, 2} {
			f, unsure, runs, err := measureLoaded(t, func(at Progress) int64 {
				if at.Run == run && disturbed(at) {
					return 7_900
				}
				return 0
			})
			require.NoError(t, err, name)
			require.Empty(t, unsure, name)
			require.Equal(t, 3, runs, name)
			require.InEpsilon(t, sim.H200.Launch, f.Profile.Launch, tolerance, name)
			require.InEpsilon(t, sim.H200.LaunchLatency, f.Profile.LaunchLatency, tolerance, name)
		}
	}
}

// Where no two runs agree, it says on what.
func TestNoTwoRunsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	of := map[int]int64{}
	f, unsure, runs, err := measureLoaded(t, func(at Progress) int64 {
		if of[at.Run] == 0 {
			of[at.Run] = int64(2_000<<at.Run) + r.Int64N(500)
		}
		return of[at.Run]
	})
	require.NoError(t, err)
	require.Equal(t, mostRuns, runs)
	require.Contains(t, unsure, "launch_ns")
	require.NotContains(t, unsure, "memory_bytes_per_s")
	require.NotNil(t, f)
}

// Figures that contradict each other in every run are none.
func TestContradictionsAreRefused(t *testing.T) {
	f, _, runs, err := measureLoaded(t, func(at Progress) int64 {
		if at.Name == launching {
			return 7_900
		}
		return 0
	})
	require.Nil(t, f)
	require.Equal(t, mostRuns, runs)
	var failed *failed
	require.ErrorAs(t, err, &failed)
	require.ErrorContains(t, err, "how long until a kernel begins was measured: a launch and a synchronise take 9400 ns "+
		"together, of which the launch")
}
