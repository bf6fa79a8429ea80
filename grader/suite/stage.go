package suite

import (
	"fmt"
	"maps"
	"slices"

	"cudalab/kernels/probe"
	"cudalab/native/cuda"
)

// Stage is the device side of one call of the code under test: its streams and the room for its results. It is made for a
// call, or for all samples of a race, and Close gives everything back.
type Stage struct {
	Bench           *Bench
	Lent            []cuda.Stream    // the streams that were made, in their order
	Memory          []cuda.DevicePtr // what Lend has allocated, in its order
	results         *Results
	behind          []func(ok bool)
	atRest          []func()
	finish          []func()
	noted           map[string][]uint64 // by Note, since the last call was over
	given, returned []loan              // see Kept
	failed          error               // what the last call's callback has answered, if an error
}

// NewStage is an empty stage.
func (b *Bench) NewStage() *Stage { return &Stage{Bench: b} }

// Stream makes a non-blocking stream that messages call by a name.
func (s *Stage) Stream(name string) cuda.Stream { return s.stream(name, cuda.StreamNonBlocking) }

// BlockingStream makes a stream that the legacy default stream waits for, and that waits for it.
func (s *Stage) BlockingStream(name string) cuda.Stream { return s.stream(name, cuda.StreamDefault) }

func (s *Stage) stream(name string, flags uint32) cuda.Stream {
	stream, err := cuda.StreamCreateWithFlags(flags)
	s.Bench.Must(err)
	s.Bench.Session.Label(name)
	s.Lent = append(s.Lent, stream)
	return stream
}

// Streams makes n of them; name is a format for a number, "streams[%d]".
func (s *Stage) Streams(n int, name string) []cuda.Stream {
	made := make([]cuda.Stream, n)
	for i := range made {
		made[i] = s.Stream(fmt.Sprintf(name, i))
	}
	return made
}

// Lend allocates memory to be lent to the code under test, which holds garbage.
func (s *Stage) Lend(size int64) {
	p, err := cuda.Malloc(size)
	s.Bench.Must(err)
	s.Bench.Must(cuda.Memset(p, Poison, size))
	s.Memory = append(s.Memory, p)
}

// Result is the address of result i.
func (s *Stage) Result(i int) cuda.DevicePtr { return s.results.At(i) }

// Results makes room for n results, which hold garbage until the code under test has set them. Their values are noted when
// the call is over; see Made.Sums.
func (s *Stage) Results(n int) *Results {
	s.results = s.Bench.NewResults(n)
	s.results.Poison()
	return s.results
}

// Busy keeps a stream busy for so many nanoseconds by the device's clock.
func (s *Stage) Busy(stream cuda.Stream, nanoseconds int64) {
	s.Bench.Must(probe.Delay(stream, nanoseconds))
}

// Later has f run right behind a call that answered nil, ahead of any wait: what the caller goes on to do with what it was
// given.
func (s *Stage) Later(f func()) {
	s.behind = append(s.behind, func(ok bool) {
		if ok {
			f()
		}
	})
}

// Behind is Later for what the caller does however the call has ended, with what it has lent.
func (s *Stage) Behind(f func()) { s.behind = append(s.behind, func(bool) { f() }) }

// goOn does what the caller does behind a call that answered nil, if ok, or an error.
func (s *Stage) goOn(ok bool) {
	for _, f := range s.behind {
		f(ok)
	}
}

// AtRest has f run behind each call when the device has come to rest, for Note: what the call has left in memory.
func (s *Stage) AtRest(f func()) { s.atRest = append(s.atRest, f) }

// Finally has f run when the call is over, before anything is given back: the last one first.
func (s *Stage) Finally(f func()) { s.finish = append(s.finish, f) }

// Note keeps numbers that a call came back with, to be noted under a name when it is over; see Made.Noted.
func (s *Stage) Note(name string, values []uint64) {
	if s.noted == nil {
		s.noted = map[string][]uint64{}
	}
	s.noted[name] = values
}

// settle waits for what a call has left on the device.
func (s *Stage) settle() {
	s.Bench.Must(cuda.DeviceSynchronize())
}

// note notes the results of a call, and what Note has kept of it, under the call's number and names with a prefix.
func (s *Stage) note(prefix string, call int) {
	for _, f := range s.atRest {
		f()
	}
	if s.results != nil {
		s.Note(noteSum, s.results.read())
	}
	s.noteChanged()
	for _, name := range slices.Sorted(maps.Keys(s.noted)) {
		s.Bench.noteOf(call, prefix+name, s.noted[name])
	}
	s.noted = nil
}

// Close waits for the device and gives back what the stage has made.
func (s *Stage) Close() {
	s.Bench.Must(cuda.DeviceSynchronize())
	for i := len(s.finish) - 1; i >= 0; i-- {
		s.finish[i]()
	}
	for _, stream := range s.Lent {
		s.Bench.Must(cuda.StreamDestroy(stream))
	}
	for _, p := range s.Memory {
		s.Bench.Must(cuda.Free(p))
	}
	if s.results != nil {
		s.results.Free()
	}
}
