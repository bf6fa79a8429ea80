package suite_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// processing processes so many elements with so much work.
type processing = func(s []cuda.Stream, n, work int) error

// far is a far call of 2^31-1 elements and as much work.
func far(t *testing.T, code processing) suite.Made[number] {
	scene := &suite.Scene[processing, number]{Set: func(s *suite.Stage, _ number) func(processing, number) error {
		streams := s.Streams(1, "streams[%d]")
		return func(code processing, n number) error { return code(suite.Given(s, "streams", streams), int(n), int(n)) }
	}}
	draw := func(*rand.Rand) []number { return []number{math.MaxInt32} }
	runs := scene.Runs("far", "", draw, suite.Around[number]{}).Far()
	s := session.New(sim.New(runs.Simulated(1)))
	s.Use()
	s.StartTrace()
	c := &verdict.CaseNotes{ID: runs.ID, Values: map[string][]uint64{}}
	runs.Drive(&suite.Bench{Session: s, CaseID: c.ID, Notes: noted{c}}, suite.Sides[processing]{Student: code})
	c.Trace = s.StopTrace()
	e := &suite.Evidence{Cases: map[string]*verdict.CaseNotes{c.ID: c}, Place: place}
	return runs.Made(e)[0]
}

func process(s []cuda.Stream, n, work int) error {
	data, err := cuda.MallocAsync(4*int64(n), s[0])
	if err != nil {
		return err
	}
	if err := kernels.Process((n+255)/256, 256, s[0], data, n, 1, work); err != nil {
		return err
	}
	return cuda.FreeAsync(data, s[0])
}

func TestUnlaunchedHoldsAFarCallToItsNumbers(t *testing.T) {
	should := []suite.Launch{{Kernel: "process", Bytes: 4 * math.MaxInt32, First: 3, Numbers: []uint64{math.MaxInt32},
		Words: func(bytes int64, numbers []uint64) string {
			return fmt.Sprintf("over %d bytes with work %d", bytes, numbers[0])
		}}}
	for _, c := range []struct {
		name string
		code processing
		want string
	}{
		{"as asked", process, ""},
		{"without the last element", func(s []cuda.Stream, n, work int) error { return process(s, n-1, work) },
			"should be launched over 8589934588 bytes with work 2147483647, but is launched over 8589934584 bytes"},
		{"with less work", func(s []cuda.Stream, n, work int) error { return process(s, n, work/2) }, "with work 1073741823"},
		{"not at all", func([]cuda.Stream, int, int) error { return nil }, "but is not"},
	} {
		m := far(t, c.code)
		require.True(t, m.Far && m.Outcome.OK(), c.name)
		found := m.Unlaunched(should)
		if c.want == "" {
			require.Empty(t, found, c.name)
			continue
		}
		require.Len(t, found, 1, c.name)
		require.Contains(t, found[0].Message, c.want, c.name)
	}
}

// What is appended to a slice lands behind its end, in memory of its caller's, who changes the slice when the call is
// over.
func TestGivenSlicesAreTheCallers(t *testing.T) {
	good := &suite.Good[processing, number]{}
	kept := []cuda.Stream(nil)
	for _, c := range []struct {
		code processing
		want string
	}{
		{func(s []cuda.Stream, _, _ int) error { kept = s; return nil }, ""},
		{func(s []cuda.Stream, _, _ int) error { _ = append(s, s[0]); return nil }, "but streams[1], behind their end, is"},
		{func(s []cuda.Stream, _, _ int) error { s[0] = cuda.Stream{}; return nil }, "but streams[0] is another"},
	} {
		m := far(t, c.code)
		good.Runs = []*suite.Runs[processing, number]{{Trial: suite.Trial[processing]{ID: "far"},
			Draw: func(*rand.Rand) []number { return []number{1} }}}
		found := good.Kept(m.Evidence)
		if c.want == "" {
			require.Empty(t, found)
			continue
		}
		require.Len(t, found, 1)
		require.Contains(t, found[0].Message, c.want)
	}
	require.Equal(t, []cuda.Stream{{}}, kept, "it was kept beyond the call")
}

func TestLiteral(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", -1 << 62: "-4611686018427387904", 4096: "4096", 1<<32 - 1: "4294967295", 1 << 32: "1<<32",
		1<<62 + 256: "1<<62+256", math.MaxInt64: "1<<63-1", math.MaxInt64 - 255: "1<<63-256", 1<<33 - 1: "1<<33-1",
		10_000_000_000: "10000000000",
	} {
		require.Equal(t, want, suite.Literal(n))
	}
}

// Overflowing has a product for each thing that 64 bits may keep of it.
func TestOverflowing(t *testing.T) {
	kept := map[string]bool{}
	for _, of := range suite.Overflowing(256) {
		a, b := of[0], of[1]
		require.Zero(t, a%256)
		high, low := bits.Mul64(uint64(a), uint64(b))
		require.True(t, high > 0 || low > math.MaxInt64, "%d times %d", a, b)
		switch product := int64(low); {
		case product < 0:
			kept["below 0"] = true
		case product == 0:
			kept["0"] = true
		case product < a:
			kept["less than a factor"] = true
		default:
			kept["more than both"] = true
		}
	}
	require.Len(t, kept, 4)
}
