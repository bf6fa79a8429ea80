package poolconfig_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/lessontest"
	"cudalab/grader/suites/poolconfig"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
	solution "cudalab/solutions/poolconfig"
)

func TestLesson(t *testing.T) { lessontest.Run(t, "pool-config") }

func TestPaces(t *testing.T) {
	of := poolconfig.Of(solution.Run, solution.Keep, solution.Lend)
	lessontest.Paces(t, poolconfig.Suite(of, of))
}

// TestWhatKeepSaves measures what the chapter says of the simulated device.
func TestWhatKeepSaves(t *testing.T) {
	device := sim.New(sim.Options{Seed: 1})
	defer device.Close()
	session.New(device).Use()
	stream, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
	require.NoError(t, err)
	rounds := func() (err error) {
		for range 20 {
			p, failed := cuda.MallocAsync(100<<20, stream)
			err = errors.Join(err, failed, cuda.FreeAsync(p, stream), cuda.StreamSynchronize(stream))
		}
		return err
	}
	reserved := func() uint64 {
		pool, err := cuda.DeviceGetMemPool(0)
		require.NoError(t, err)
		bytes, err := cuda.MemPoolGetAttribute(pool, cuda.MemPoolAttrReservedMemCurrent)
		require.NoError(t, err)
		return bytes
	}
	begin := device.Now()
	require.NoError(t, rounds())
	given := device.Now() - begin
	begin = device.Now()
	_, err = solution.Keep(0, 256<<20, rounds)
	require.NoError(t, err)
	kept, behind := device.Now()-begin, reserved()
	require.NoError(t, cuda.StreamSynchronize(stream))
	require.Zero(t, reserved())

	text, err := os.ReadFile("../../../lessons/pool-config.md")
	require.NoError(t, err)
	require.Contains(t, strings.Join(strings.Fields(string(text)), " "), fmt.Sprintf("took %d,%03d µs from the default "+
		"pool at threshold 0, and %d µs within `Keep` of 256 MiB. Right behind `Keep` the pool had %d MiB", given/1_000_000,
		(given+500)/1000%1000, (kept+500)/1000, behind>>20))
}
