package allocator_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// perStream is a pool with a block for each of two streams.
type perStream struct {
	memory cuda.DevicePtr
	blocks map[cuda.Stream]cuda.DevicePtr
	closes error
}

func (p *perStream) Alloc(s cuda.Stream) (at cuda.DevicePtr, err error) {
	if p.blocks[s] == 0 {
		p.blocks[s] = p.memory + cuda.DevicePtr(4096*len(p.blocks))
	}
	return p.blocks[s], nil
}

func (p *perStream) Free(cuda.DevicePtr, cuda.Stream) error { return nil }

func (p *perStream) Close() error { return errors.Join(p.closes, cuda.Free(p.memory)) }

// race is between pools of which each has an error that its Close answers.
var race = allocator.StreamRace[error, row]{
	Tenants: allocator.Tenants[row]{MoveIn: kernels.Occupy, MoveOut: kernels.Occupied},
	Streams: 2, Rounds: 2, Work: 100_000, Size: func(int, int) int64 { return 4096 },
	SpeedWords: suite.SpeedWords{Pacing: suite.Pacing{Beside: "cuda.MallocAsync"}, Passed: "%.1f %.1f"},
	New: func(closes error) (allocator.InStreams, error) {
		memory, err := cuda.Malloc(2 * 4096)
		return &perStream{memory, map[cuda.Stream]cuda.DevicePtr{}, closes}, err
	},
}

func raced(student error) *notebook {
	n := &notebook{verdict.CaseNotes{ID: "speed", Samples: map[string][]int64{}, Values: map[string][]uint64{}}}
	s := session.New(sim.New(sim.Options{}))
	s.Use()
	s.StartTrace()
	s.Untraced(func() { race.Drive(&suite.Bench{Session: s, Notes: n}, suite.Sides[error]{Student: student}) })
	n.Trace = s.StopTrace()
	return n
}

func TestStreamRaceHasStreamsRunAtOnce(t *testing.T) {
	n := raced(nil)
	require.Less(t, slices.Max(n.Samples[verdict.Yours]), 3*int64(race.Rounds)*race.Work/2)
	require.Equal(t, []uint64{0, 0}, n.Values["strangers when timed"], "of the sample, and of the run that is recorded")
	require.True(t, slices.ContainsFunc(n.Trace.Records, func(r trace.Record) bool { return r.Kernel == "occupy" }))
}

func TestStreamRaceTellsThatCloseFails(t *testing.T) {
	n := raced(errors.New("still in use"))
	a := race.Part("at once").Judge(&suite.Evidence{Cases: map[string]*verdict.CaseNotes{"speed": &n.CaseNotes}})
	require.Equal(t, "wrong-when-timed", a.Findings[0].Rule)
}
