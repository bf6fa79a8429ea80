package suite

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"cudalab/grader/suite/verdict"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/trace"
)

// Stage is the device side of one call of the code under test: its streams and the room for its results. It is made for
// a call, or for all samples of a race, and Close gives everything back.
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

// Results makes room for n results, which hold garbage until the code under test has set them. Their values are noted
// when the call is over; see Made.Sums.
func (s *Stage) Results(n int) *Results {
	s.results = s.Bench.NewResults(n)
	s.results.Poison()
	return s.results
}

// Busy keeps a stream busy for so many nanoseconds by the device's clock.
func (s *Stage) Busy(stream cuda.Stream, nanoseconds int64) {
	s.Bench.Must(probe.Delay(stream, nanoseconds))
}

// Later has f run right behind a call that answered nil, ahead of any wait: what the caller goes on to do with what it
// was given.
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
	if !s.Bench.uncomputed {
		for _, f := range s.atRest {
			f()
		}
		if s.results != nil {
			s.Note(noteSum, s.results.read())
		}
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

// Late are streams that are busy when a call comes, by their numbers. What has to wait for one of them shows then.
type Late []int

// Busy keeps them busy, of some streams.
func (l Late) Busy(s *Stage, streams []cuda.Stream) {
	for _, i := range l {
		s.Busy(streams[i], PendingDelay)
	}
}

// WaitLast waits for the stage's streams one by one, and for those that are late last: what should have waited for a
// late stream, and does not, is then done before it. The last stream comes first, since code that forgets some
// remembers the first.
func (l Late) WaitLast(s *Stage) {
	for _, late := range []bool{false, true} {
		for i, stream := range slices.Backward(s.Lent) {
			if slices.Contains(l, i) == late {
				s.Bench.Must(cuda.StreamSynchronize(stream))
			}
		}
	}
}

// While ends a call's label, ", while a and b are busy"; it is "" where no stream is late.
func (l Late) While(name func(i int) string) (words string) {
	for i, stream := range l {
		words += []string{", while ", " and "}[min(i, 1)] + name(stream)
	}
	switch len(l) {
	case 0:
		return ""
	case 1:
		return words + " is busy"
	}
	return words + " are busy"
}

// resultSize is the size of one result, in bytes.
const resultSize = 8

// Poison is what results hold before a call, byte by byte, so that one that was never set to zero shows.
const Poison = 0xA5

// Garbage is a result that nobody has touched.
const Garbage = Poison * (math.MaxUint64 / 0xFF)

// Results is room on the device for the results of one call, which are sums of 8 bytes each.
type Results struct {
	b     *Bench
	first cuda.DevicePtr
	n     int
}

// NewResults allocates room for n results. They are not poisoned yet.
func (b *Bench) NewResults(n int) *Results {
	first, err := cuda.Malloc(int64(resultSize * max(n, 1)))
	b.Must(err)
	return &Results{b: b, first: first, n: n}
}

// At is the address of result i.
func (r *Results) At(i int) cuda.DevicePtr { return r.first + cuda.DevicePtr(resultSize*i) }

// Poison fills the results with garbage, and waits for the device.
func (r *Results) Poison() {
	r.b.Must(cuda.Memset(r.first, Poison, int64(resultSize*max(r.n, 1))))
	r.b.Must(cuda.DeviceSynchronize())
}

// Clear sets the results to zero, and waits for the device.
func (r *Results) Clear() {
	r.b.Must(cuda.Memset(r.first, 0, int64(resultSize*max(r.n, 1))))
	r.b.Must(cuda.DeviceSynchronize())
}

// Note notes each result under name.
func (r *Results) Note(name string) {
	for _, v := range r.read() {
		r.b.Value(name, v)
	}
}

// NoteAny notes the results that are not 0 under name.
func (r *Results) NoteAny(name string) {
	for _, v := range r.read() {
		if v > 0 {
			r.b.Value(name, v)
		}
	}
}

// read reads the results back.
func (r *Results) read() []uint64 {
	if r.n == 0 {
		return nil
	}
	raw := make(cuda.Pageable, resultSize*r.n)
	r.b.Must(cuda.MemcpyDtoH(raw, r.first, int64(len(raw))))
	values := make([]uint64, r.n)
	for i := range values {
		values[i] = binary.LittleEndian.Uint64(raw[resultSize*i:])
	}
	return values
}

// Free gives the room back.
func (r *Results) Free() { r.b.Must(cuda.Free(r.first)) }

// Touched are those of n results that a call of CUDA reads or writes, or a part of them.
func (c *Call) Touched(r *trace.Record, n int) []int {
	return c.ofResults(r, n, func(trace.AccessKind) bool { return true })
}

// Written are those of n results that a call of CUDA writes, or a part of them.
func (c *Call) Written(r *trace.Record, n int) []int {
	return c.ofResults(r, n, func(kind trace.AccessKind) bool { return kind != trace.Read })
}

func (c *Call) ofResults(r *trace.Record, n int, counts func(trace.AccessKind) bool) (results []int) {
	for _, a := range r.Accesses {
		if a.Alloc != c.Results || !counts(a.Kind) {
			continue
		}
		for i := max(int(a.Offset/resultSize), 0); i < n && c.ofResult(a, i); i++ {
			results = append(results, i)
		}
	}
	slices.Sort(results)
	return slices.Compact(results)
}

// partOfResult finds the first call of CUDA's that was given a part of a result, or of two.
func (m *Made[W]) partOfResult() []verdict.Finding {
	if len(m.Sums()) == 0 {
		return nil
	}
	for at, r := range m.Records {
		for _, a := range r.Accesses {
			if r.Code != 0 || a.Alloc != m.Results || a.Offset%resultSize == 0 && a.Size%resultSize == 0 {
				continue
			}
			return []verdict.Finding{m.Finding(at, Rule{
				Why: "Device memory is counted in bytes: a call uses those that its address and its size say, whosever they are.",
				Fix: "Give the call the address where a result begins, 8 bytes behind that of the one before, and all of its 8 " +
					"bytes."},
				"%s should use whole results, of %d bytes each, but uses %s from byte %d of the results on.", CallName(r),
				resultSize,
				Bytes(uint64(a.Size)), a.Offset)}
		}
	}
	return nil
}

// Touches reports whether a call of CUDA reads or writes result i.
func (c *Call) Touches(r *trace.Record, i int) bool {
	return slices.ContainsFunc(r.Accesses, func(a trace.Access) bool { return c.ofResult(a, i) })
}

// Writes reports whether a call of CUDA writes result i, or a part of it.
func (c *Call) Writes(r *trace.Record, i int) bool {
	return slices.ContainsFunc(r.Accesses, func(a trace.Access) bool { return a.Kind != trace.Read && c.ofResult(a, i) })
}

// ofResult reports whether an access is to result i, or a part of it.
func (c *Call) ofResult(a trace.Access, i int) bool {
	from, to := int64(resultSize*i), int64(resultSize*(i+1))
	return a.Alloc == c.Results && a.Offset < to && a.Offset+a.Size > from
}
