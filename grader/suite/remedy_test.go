package suite_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// The texts are those of package cuda, so that a remedy stays with what it is for.
func TestRemediesAreForWhatPackageCudaSays(t *testing.T) {
	d := sim.New(sim.Options{})
	defer d.Close()
	session.New(d).Use()
	s, err := cuda.StreamCreate()
	require.NoError(t, err)
	memory, err := cuda.Malloc(1024)
	require.NoError(t, err)
	start, err := cuda.EventCreate()
	require.NoError(t, err)
	stop, err := cuda.EventCreate()
	require.NoError(t, err)
	require.NoError(t, cuda.EventRecord(start, s))
	require.NoError(t, cuda.MemsetAsync(memory, 0, 1024, s))
	require.NoError(t, cuda.EventRecord(stop, s))
	_, early := cuda.EventElapsedTime(start, stop)
	for says, err := range map[string]error{
		"Round the number of blocks up": kernels.Fill(0, 256, s, memory, 200),
		"the two are not exchanged":     kernels.Fill(1, 2048, s, memory, 200),
		"until it is done":              early,
		"has been created":              cuda.EventRecord(cuda.Event{}, s),
		"it comes to 0":                 func() error { _, err := cuda.Malloc(0); return err }(),
		"convert the factors to int64":  func() error { _, err := cuda.MallocAsync(-1, s); return err }(),
		"beyond 2^63-1":                 func() error { _, err := cuda.MallocHost(math.MinInt64); return err }(),
	} {
		require.Error(t, err, says)
		require.Contains(t, suite.Remedy(err.Error()), says)
	}
	require.Empty(t, suite.Remedy("a text that names no cause"))
}
