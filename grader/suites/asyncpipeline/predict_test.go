package asyncpipeline

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// measured reads the times that testdata/h200.txt has for Go, in microseconds.
func measured(t *testing.T) map[string]float64 {
	t.Helper()
	text, err := os.ReadFile("testdata/h200.txt")
	require.NoError(t, err)
	times := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var name string
		var inGo, inC float64
		_, err := fmt.Sscan(line, &name, &inGo, &inC)
		require.NoError(t, err, line)
		times[name] = inGo
	}
	return times
}

// TestTheSimulatorPredictsTheRounds compares the simulator's clock with what the chapter's hundred rounds took a GPU.
// What the solution and the baseline take is compared by package fidelity.
func TestTheSimulatorPredictsTheRounds(t *testing.T) {
	want := measured(t)
	s := session.New(sim.New(sim.Options{}))
	s.Use()
	stream, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
	require.NoError(t, err)
	pool, code := s.Device().DeviceGetDefaultMemPool()
	require.Equal(t, device.Success, code)
	for name, way := range ways(stream) {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, device.Success, s.Device().MemPoolSetAttribute(pool, device.PoolReleaseThreshold, way.threshold))
			p, err := way.alloc(4 << 20) // grows the pool, where there is one
			require.NoError(t, err)
			require.NoError(t, way.free(p))
			require.NoError(t, cuda.DeviceSynchronize())
			start := s.Device().Now()
			require.NoError(t, hundredRounds(stream, way))
			got := float64(s.Device().Now()-start) / 1e3
			t.Logf("measured %.0f µs, predicted %.0f µs", want["rounds/"+name], got)
			require.InEpsilon(t, want["rounds/"+name], got, 0.1)
		})
	}
}
