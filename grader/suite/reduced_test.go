package suite_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// TestReducedTellsHowASumWasComputed has sums come about in honest and in other ways, all of which leave the same
// bytes.
func TestReducedTellsHowASumWasComputed(t *testing.T) {
	const n = 1000
	pair := suite.SumKernels{Fill: "process", Sum: "reduce"}
	s := session.New(sim.New(sim.Options{}))
	s.Use()
	var sums, other cuda.DevicePtr
	var stream cuda.Stream
	check := func(err error) {
		t.Helper()
		require.NoError(t, err)
	}
	filled := func() cuda.DevicePtr {
		data, err := cuda.MallocAsync(4*n, stream)
		check(err)
		check(kernels.Process(4, 256, stream, data, n, 1, 0))
		return data
	}
	for _, way := range []struct {
		name   string
		honest bool
		run    func()
	}{
		{"in one go", true, func() {
			data := filled()
			check(cuda.MemsetAsync(sums, 0, 8, stream))
			check(kernels.Reduce(4, 256, stream, data, n, sums))
			check(cuda.FreeAsync(data, stream))
		}},
		{"in two halves, over memory that was cleared first", true, func() {
			data, err := cuda.MallocAsync(4*n, stream)
			check(err)
			check(cuda.MemsetAsync(data, 0, 4*n, stream))
			check(kernels.Process(4, 256, stream, data, n, 1, 0))
			check(cuda.MemcpyHtoDAsync(sums, cuda.Pageable(make([]byte, 8)), 8, stream))
			check(kernels.Reduce(2, 256, stream, data, n/2, sums))
			check(kernels.Reduce(2, 256, stream, data+2*n, n/2, sums))
			check(cuda.FreeAsync(data, stream))
		}},
		{"not at all", false, func() {}},
		{"with the sum of another's", false, func() {
			data := filled()
			check(cuda.MemsetAsync(other, 0, 8, stream))
			check(kernels.Reduce(4, 256, stream, data, n, other))
			check(cuda.MemcpyDtoDAsync(sums, other, 8, stream))
			check(cuda.FreeAsync(data, stream))
		}},
		{"for show, and overwritten", false, func() {
			data := filled()
			check(cuda.MemsetAsync(sums, 0, 8, stream))
			check(kernels.Reduce(4, 256, stream, data, n, sums))
			check(cuda.MemcpyHtoDAsync(sums, cuda.Pageable(make([]byte, 8)), 8, stream))
			check(cuda.FreeAsync(data, stream))
		}},
		{"over what the host has put there", false, func() {
			data := filled()
			check(cuda.MemcpyHtoDAsync(data, cuda.Pageable(make([]byte, 4*n)), 4*n, stream))
			check(cuda.MemsetAsync(sums, 0, 8, stream))
			check(kernels.Reduce(4, 256, stream, data, n, sums))
			check(cuda.FreeAsync(data, stream))
		}},
		{"over a part", false, func() {
			data := filled()
			check(cuda.MemsetAsync(sums, 0, 8, stream))
			check(kernels.Reduce(1, 256, stream, data, n, sums))
			check(cuda.FreeAsync(data, stream))
		}},
		{"over memory that nothing has filled", false, func() {
			data, err := cuda.MallocAsync(4*n, stream)
			check(err)
			check(cuda.MemsetAsync(sums, 0, 8, stream))
			check(kernels.Reduce(4, 256, stream, data, n, sums))
			check(cuda.FreeAsync(data, stream))
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			notes := &verdict.CaseNotes{}
			b := &suite.Bench{Session: s, Notes: noted{notes}}
			s.StartTrace()
			var err error
			sums, err = cuda.Malloc(16)
			check(err)
			other = sums + 8
			b.Call(way.name, func() error {
				way.run()
				return nil
			})
			notes.Trace = s.StopTrace()
			check(cuda.Free(sums))
			e := &suite.Evidence{Cases: map[string]*verdict.CaseNotes{"": notes}}
			require.Equal(t, way.honest, e.Calls("")[0].Reduced(pair, 1)[0] >= n)
		})
	}
}
