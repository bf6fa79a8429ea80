package devicebump

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/devicebump/interleave"
	"cudalab/kernels/oracle"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
)

// taking is a launch each of whose threads asks Alloc once.
type taking struct {
	capacity uint64
	sizes    []uint64 // by thread
}

// takings draws launches in which all fit, one does not, most do not, and sizes are odd, enormous or 0.
func takings(r *rand.Rand) []taking {
	alike := func(n int, size uint64) []uint64 { return slices.Repeat([]uint64{size}, n) }
	all := []taking{
		{16 * 256, alike(256, 16)},
		{16 * 1023, alike(1024, 1+r.Uint64N(16))},
		{16, alike(1024, 1)},
		{0, alike(32, 1)},
	}
	for _, n := range []int{1, 33, 1 + r.IntN(1024), 1024} {
		t := taking{sizes: make([]uint64, n)}
		for i := range t.sizes {
			switch t.sizes[i] = 1 + r.Uint64N(200); r.IntN(16) {
			case 0:
				t.sizes[i] = 0
			case 1:
				t.sizes[i] = math.MaxUint64 - r.Uint64N(40)
			}
			if oracle.BumpFits(0, 1<<20, t.sizes[i]) {
				t.capacity += oracle.BumpRounded(t.sizes[i])
			}
		}
		t.capacity = t.capacity * r.Uint64N(5) / 4 / 16 * 16 // from none of them to all
		all = append(all, t)
	}
	return all
}

// Notes of a launch, for each thread and for the word.
const (
	noteOffset = "offset"
	noteEnd    = "end"
	noteTaken  = "taken"
)

// returned is the end of a thread whose Alloc has returned: ptx.Returned.
const returned = 0

// onDevice has threads of the device carry Alloc out, where it is written and can be translated.
var onDevice = &suite.Trial[Code]{ID: "device", After: "1b", Drive: func(b *suite.Bench, sides suite.Sides[Code]) {
	o := b.Call("16 of 64 bytes", func() error {
		return interleave.Unfinished(func() {
			taken := uint64(0)
			sides.Student.Alloc(interleave.Plain(&taken), 64, 16)
		})
	})
	if !o.OK() || o.CutShort() || b.Translation == "" {
		return
	}
	threads := probe.NewThreads(b.Translation, func(w probe.Word, capacity, size uint64) (uint64, bool) {
		return sides.Student.Alloc(w, capacity, size)
	})
	for _, t := range takings(b.Rand()) {
		n := len(t.sizes)
		bytes := make(cuda.Pageable, 0, 8*n)
		for _, size := range t.sizes {
			bytes = binary.LittleEndian.AppendUint64(bytes, size)
		}
		memory, err := cuda.Malloc(int64(8 + 24*n)) // the word, the sizes, the answers
		b.Must(err)
		sizes, answers := memory+8, memory+cuda.DevicePtr(8+8*n)
		b.Must(cuda.Memset(memory, 0, 8))
		b.Must(cuda.MemcpyHtoD(sizes, bytes, int64(8*n)))
		b.Must(threads.Take(cuda.Stream{}, memory, t.capacity, sizes, n, answers))
		b.Must(cuda.DeviceSynchronize())
		back := make(cuda.Pageable, 8+24*n)
		b.Must(cuda.MemcpyDtoH(back, memory, int64(len(back))))
		b.Must(cuda.Free(memory))
		b.Value(noteTaken, binary.LittleEndian.Uint64(back))
		for i := range n {
			answer := back[8+8*n+16*i:]
			b.Value(noteOffset, binary.LittleEndian.Uint64(answer))
			b.Value(noteEnd, binary.LittleEndian.Uint64(answer[8:]))
		}
	}
}}

// translated asks for what threads of a GPU are answered. What goes wrong by itself is told by the parts that come
// first.
func translated(first ...suite.Part[Code]) suite.Part[Code] {
	p := suite.Part[Code]{
		Question: suite.Question{ID: "device", Name: "threads of a GPU take memory with Alloc"},
		Cases:    []*suite.Trial[Code]{onDevice},
	}
	for _, before := range first {
		p = p.Needing(before.Cases...)
	}
	p.Judge = func(e *suite.Evidence) suite.Answer {
		alone := e.Cases[onDevice.ID].Outcomes
		switch {
		case len(alone) == 0 || !alone[0].OK() || alone[0].CutShort():
			return suite.Answer{Skip: "Alloc does not come to its end on the host yet."}
		case e.Translation == nil:
			return suite.Answer{Message: "Nothing was asked of threads of a GPU."}
		case len(e.Translation.Refused) > 0:
			return suite.Answer{Findings: e.Translation.Refused}
		}
		for _, before := range first {
			if a := before.Judge(e); verdict.HasError(a.Findings) {
				return suite.Answer{Skip: "It is asked of the threads of a GPU once Alloc is right by itself."}
			}
		}
		drawn := takings(suite.NewRand(e.Seed, onDevice.ID))
		notes := e.Cases[onDevice.ID].Values
		offsets, ends, threads := notes[noteOffset], notes[noteEnd], 0
		for i, t := range drawn {
			to := threads + len(t.sizes)
			if to > len(offsets) || to > len(ends) || i >= len(notes[noteTaken]) {
				return suite.Answer{Skip: "The launches have not all come to their end."}
			}
			if f := t.wrong(offsets[threads:to], ends[threads:to], notes[noteTaken][i]); f != nil {
				return suite.Answer{Findings: []verdict.Finding{*f}}
			}
			threads = to
		}
		whose := "the GPU"
		if e.Device.Kind == "sim" {
			whose = "the simulated device"
		}
		return suite.Answer{Message: fmt.Sprintf("Your Alloc can be translated for the threads of a GPU. %d threads of %s "+
			"took memory with it in %d launches, and nobody got what another had.", threads, whose, len(drawn))}
	}
	return p
}

// wrong finds what no order of the threads can have led to.
func (t taking) wrong(offsets, ends []uint64, taken uint64) *verdict.Finding {
	tell := func(rule, message string, args ...any) *verdict.Finding {
		return &verdict.Finding{Rule: rule, Severity: verdict.Error, Record: -1, Function: "Alloc",
			Message: fmt.Sprintf("%d threads of the device call Alloc at the same time, with %d bytes for all of them. ",
				len(t.sizes), t.capacity) + fmt.Sprintf(message, args...),
			Why: "Between two operations of a thread on w any number of others may come: only what CompareAndSwap answers " +
				"says whether w was still as before.",
			Fix: "Take memory by one CompareAndSwap from what w was to what it shall be, and if it answers anything else, go " +
				"on from there."}
	}
	var granted []int
	for j, offset := range offsets {
		if ends[j] != returned {
			f := tell("not-on-device", "Thread %d, for %d bytes, should return, but it did not come to its end: its loops went "+
				"round too often, it divided by 0 or shifted by less, or it panicked.", j, t.sizes[j])
			f.Why = "A thread cannot panic: that would end the work of all others on the device."
			f.Fix = "Leave such a way out of Alloc: it answers false where there is nothing to be had."
			return f
		}
		if offset != contract.NoRoom {
			granted = append(granted, j)
		}
	}
	slices.SortFunc(granted, func(a, b int) int { return int(int64(offsets[a]/16) - int64(offsets[b]/16)) })
	end, before := uint64(0), -1
	for _, j := range granted {
		switch offset := offsets[j]; {
		case !oracle.BumpFits(offset, t.capacity, t.sizes[j]):
			return tell(interleave.BeyondEnd, "Thread %d should get %d bytes that lie there, but got those from %d on.", j,
				t.sizes[j], offset)
		case offset < end:
			return tell(interleave.Overlap, "Thread %d should get %d bytes of its own, but got those from %d on, where thread "+
				"%d has its %d bytes from %d on.", j, t.sizes[j], offset, before, t.sizes[before], offsets[before])
		case offset > end:
			return tell(interleave.LeftBehind, "The blocks should lie one behind the other, but nobody has the bytes from %d "+
				"to %d.", end, offset)
		}
		end, before = offsets[j]+oracle.BumpRounded(t.sizes[j]), j
	}
	if taken != end {
		return tell(interleave.LeftBehind, "In the end w should say that %d bytes are taken, but says %d.", end, taken)
	}
	for j, size := range t.sizes {
		if offsets[j] == contract.NoRoom && oracle.BumpFits(end, t.capacity, size) {
			return tell(interleave.RoomLost, "Thread %d should get its %d bytes, which fit even behind all others, but it was "+
				"refused.", j, size)
		}
	}
	return nil
}
