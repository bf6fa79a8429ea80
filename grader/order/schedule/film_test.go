package schedule_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/order"
	"cudalab/grader/order/schedule"
	"cudalab/native/device"
)

func all(int) bool { return true }

// Of the program's own events a film has the one that was to hold the order, and says what it covers instead.
func TestAFilmShowsTheEventThatCoversSomethingElse(t *testing.T) {
	for name, c := range map[string]struct {
		program func(w world, c, d func()) // c is the work that should come first, in stream a, d that behind it, in stream b
		record  string                     // what is said of the record, and of the wait
		wait    string
	}{
		"recorded too early": {func(w world, c, d func()) {
			w.EventRecord(w.event, w.a)
			c()
			w.StreamWaitEvent(w.b, w.event)
			d()
		}, "which is without step 2: that is given later", "and so not for step 2"},
		"waited for too late": {func(w world, c, d func()) {
			c()
			w.EventRecord(w.event, w.a)
			d()
			w.StreamWaitEvent(w.b, w.event)
		}, "step 2 included", "comes behind step 3"},
		"another stream waits": {func(w world, c, d func()) {
			third, _ := w.StreamCreate(device.StreamNonBlocking)
			c()
			w.EventRecord(w.event, w.a)
			w.StreamWaitEvent(third, w.event)
			d()
		}, "step 2 included", "and not step 3, which is elsewhere"},
		"another stream is waited for": {func(w world, c, d func()) {
			third, _ := w.StreamCreate(device.StreamNonBlocking)
			c()
			w.EventRecord(w.event, third)
			w.StreamWaitEvent(w.b, w.event)
			d()
		}, "for nothing of another stream, such as step 2", "and so not for step 2"},
		"nothing waits": {func(w world, c, d func()) {
			c()
			w.EventRecord(w.event, w.a)
			d()
		}, "but nothing waits for it", ""},
		"there is none": {func(w world, c, d func()) {
			c()
			d()
		}, "", ""},
		"of another's work": {func(w world, c, d func()) {
			c()
			w.EventRecord(w.event, w.b)
			w.StreamWaitEvent(w.a, w.event)
			d()
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := schedule.New(record(t, func(w world) {
				at := w.next()
				c.program(w, func() { w.MemsetAsync(at, 1, size, w.a) }, func() { w.MemsetAsync(at, 2, size, w.b) })
			}))
			found := faults(p)
			require.Len(t, found, 1)
			ce, ok := p.Counterexample(found[0])
			require.True(t, ok)
			f := p.Film(ce, p.Story(ce, nil), all)
			require.Len(t, f.Takes, 2)
			require.Equal(t, "Nothing makes step 3 wait for step 2.", f.Missing())
			signs := map[string]string{} // of the program's own events: what is said of them
			for _, frame := range f.Takes[1].Frames[1:] {
				if f.Steps[frame.Done].N == 0 {
					signs[f.Sign(frame.Done)] = frame.Caption
				}
			}
			for sign, says := range map[string]string{"●": c.record, "◆": c.wait} {
				if says == "" {
					require.NotContains(t, signs, sign)
				} else {
					require.Contains(t, signs[sign], says)
				}
			}
			require.Equal(t, c.wait != "", f.Edge != nil)

			theirs := p.Film(ce, p.Story(ce, nil), func(int) bool { return false })
			require.Len(t, theirs.Steps, 3, "who calls the program has events of its own, which are not shown")
		})
	}
}

func TestAFilmFollowsTheMemory(t *testing.T) {
	p := schedule.New(record(t, func(w world) {
		at, _ := w.MallocAsync(size, w.a)
		w.MemsetAsync(at, 1, size, w.a)
		w.EventRecord(w.event, w.a)
		w.StreamWaitEvent(w.b, w.event)
		w.MemsetAsync(at, 2, size/2, w.b)
		w.FreeAsync(at, w.a)
	}))
	found := faults(p)
	require.Len(t, found, 1)
	ce, ok := p.Counterexample(found[0])
	require.True(t, ok)
	f := p.Film(ce, p.Story(ce, nil), all)
	require.Equal(t, []string{"the 1,024 bytes from MallocAsync on stream a"}, f.Memory)
	for k, want := range []string{
		"not there yet|nothing written|written by step 2|written by step 3, then written by step 2|given back: the bytes " +
			"may be another's",
		"not there yet|nothing written|written by step 2|given back: the bytes may be another's|given back: the bytes may " +
			"be another's",
	} {
		var texts []string
		for _, frame := range f.Takes[k].Frames {
			texts = append(texts, frame.Memory[0].Text)
		}
		require.Equal(t, want, strings.Join(texts, "|"))
	}
	require.Equal(t, 4, f.Takes[1].Wrong)
	require.True(t, f.Takes[1].Frames[4].Memory[0].Bad)
	require.Contains(t, f.Takes[1].Frames[3].Caption, "Step 4 comes before step 3, for nothing makes it wait")
}

// A copy may reach over more memory than a film has room for: the one in which it goes wrong is among what is followed.
func TestAFilmFollowsTheMemoryInWhichItGoesWrong(t *testing.T) {
	const pieces, g = 4, 2 << 20 // the granularity
	for unwritten := range pieces {
		p := schedule.New(record(t, func(w world) {
			to, from := w.mapped(t, pieces, g), w.mapped(t, pieces, g)
			for k := range pieces {
				if k != unwritten {
					require.Zero(t, w.Memset(from+device.Ptr(int64(k)*g), 1, g))
				}
			}
			require.Zero(t, w.DeviceSynchronize())
			require.Zero(t, w.MemcpyDtoD(to, from, pieces*g))
		}))
		found := faults(p)
		require.Len(t, found, 1)
		require.Equal(t, order.UninitializedRead, found[0].Rule)
		ce, ok := p.Counterexample(found[0])
		require.True(t, ok)
		f := p.Film(ce, p.Story(ce, nil), all)
		take := f.Takes[len(f.Takes)-1]
		require.Positive(t, take.Wrong)
		bad := 0
		for k, held := range take.Frames[take.Wrong].Memory {
			if held.Bad {
				bad++
				require.Equal(t, "nothing written", held.Text, f.Memory[k])
			}
		}
		require.Equal(t, 1, bad, "piece %d", unwritten)
	}
}

// mapped is addresses with so many pieces of memory behind them, to be used.
func (w world) mapped(t *testing.T, pieces int, size int64) device.Ptr {
	on := device.MemLocation{Type: device.MemLocationDevice}
	at, code := w.MemAddressReserve(int64(pieces)*size, 0, 0, 0)
	require.Zero(t, code)
	for k := range pieces {
		x, code := w.MemCreate(size, device.MemProp{Type: device.MemAllocationPinned, Location: on}, 0)
		require.Zero(t, code)
		require.Zero(t, w.MemMap(at+device.Ptr(int64(k)*size), size, 0, x, 0))
	}
	require.Zero(t, w.MemSetAccess(at, int64(pieces)*size,
		[]device.MemAccessDesc{{Location: on, Access: device.MemAccessReadWrite}}))
	return at
}
