package crossstreamevents

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/native/cuda"
)

// life is what becomes of one buffer: it is made, used, closed, and called once more behind that.
type life struct {
	bytes int64
	users int // how many streams there are beside the buffer's own
	uses  []use
	late  suite.Late // as in workload; 0 is the buffer's stream
	twin  bool       // another buffer lives meanwhile, in the last of the streams
}

// use is one call of Use.
type use struct {
	in     int  // the stream: 0 is the buffer's own, i the i-th of the others
	writes bool // all bytes, where it does not read the last ones
	fails  bool // work answers an error when it has enqueued what it does
	gone   bool // the stream, which is the last of all, is destroyed behind it
}

// tail is how many bytes a use reads, the last ones.
func (w life) tail() int64 { return min(w.bytes, 8) }

// Label says what is called for: "a buffer of 300 bytes, with 6 uses in 3 streams, while s is busy".
func (w life) Label() string {
	streams := map[int]bool{}
	label := fmt.Sprintf("a buffer of %s", suite.Bytes(uint64(max(w.bytes, 0))))
	for _, u := range w.uses {
		streams[u.in] = true
	}
	label += fmt.Sprintf(", with %s in %s", verdict.Count(len(w.uses), "use", "uses"),
		verdict.Count(len(streams), "stream", "streams"))
	switch {
	case slices.ContainsFunc(w.uses, func(u use) bool { return u.fails }):
		label += ", of which some fail"
	case slices.ContainsFunc(w.uses, func(u use) bool { return u.gone }):
		label += ", one of which is destroyed"
	case w.twin:
		label += ", beside another buffer"
	}
	return label + w.late.While(w.streamName)
}

// streamName is what messages call a stream: that of NewBuffer is s, and those of Use are t.
func (w life) streamName(i int) string {
	switch {
	case i == 0:
		return "s"
	case w.users == 1:
		return "t"
	}
	return fmt.Sprintf("t%d", i)
}

// byteOf is what a use writes to every byte.
func byteOf(use int) byte { return byte(1 + 37*use%200) }

// want are the results: what each use that reads finds at the end of the buffer.
func (w life) want() (sums []uint64) {
	var last byte
	for i, u := range w.uses {
		if u.writes {
			last = byteOf(i)
			continue
		}
		sum := uint64(suite.Garbage)
		for k := range w.tail() {
			sum = sum&^(0xff<<(8*k)) | uint64(last)<<(8*k)
		}
		sums = append(sums, sum)
	}
	return sums
}

// The errors of the grader's own.
var (
	errWork     = errors.New("the work could not be enqueued in full")
	errNoBuffer = errors.New("neither a buffer nor an error")
)

// What is noted of a life, and the marks that part it in the trace.
const (
	noteUses   = "uses"   // of each Use what it did; see below
	noteClosed = "closed" // what Use and Close answered behind a Close that had succeeded
	markUse    = "use "
	markClose  = "close"
)

// What is noted of a Use, beside how often it called work.
const (
	otherStream = 1 << (16 + iota)
	otherMemory
	errorLost
	failedUse
)

// What is noted of an answer.
const (
	answeredNil = iota
	answeredClosed
	answeredOther
)

// living is a life as it goes on.
type living struct {
	life
	s       *suite.Stage
	b       Buffer
	memory  cuda.DevicePtr // as the first use was given it
	results int
	noted   []uint64
	failed  error
}

// run lives it. It answers what went wrong, all of it, and gives the buffer back all the same.
func (w life) run(s *suite.Stage, code Code) error {
	l := &living{life: w, s: s}
	var err error
	if l.b, err = code.NewBuffer(w.bytes, s.Lent[0]); err != nil {
		return err
	}
	if l.b == nil {
		return errNoBuffer
	}
	var twin Buffer
	if w.twin {
		if twin, err = code.NewBuffer(w.bytes, s.Lent[w.users]); err == nil && twin == nil {
			err = errNoBuffer
		}
		if err != nil {
			return errors.Join(err, l.b.Close())
		}
	}
	for i := range w.uses {
		l.use(i)
		if w.twin {
			l.useTwin(twin, i)
		}
	}
	s.Note(noteUses, l.noted)
	for range 2 {
		s.Bench.Session.Mark(markClose)
		if err = l.b.Close(); err == nil {
			l.behindClose()
			break
		}
		l.fail("Close", err)
	}
	if w.twin {
		if err := twin.Close(); err != nil {
			l.fail("Close", err)
		}
	}
	return l.failed
}

// useTwin uses the other buffer behind the i-th use, in the stream of that: it is none of what the uses are asked
// about.
func (l *living) useTwin(twin Buffer, i int) {
	l.s.Bench.Session.Mark(markUse + "of the other")
	err := twin.Use(l.s.Lent[l.uses[i].in], func(in cuda.Stream, at cuda.DevicePtr) error {
		return l.s.Bench.Callback("work", func() error { return cuda.MemsetAsync(at, byteOf(i), l.bytes, in) })
	})
	if err != nil {
		l.fail("Use", err)
	}
}

// fail keeps an error that is none of a life's. One that comes of a gap stays what it is.
func (l *living) fail(call string, err error) {
	var gap *contract.Gap
	if !errors.As(suite.Sound(err), &gap) {
		err = fmt.Errorf("%s answered: %w", call, err)
	}
	l.failed = errors.Join(l.failed, err)
}

// use makes the i-th use.
func (l *living) use(i int) {
	u, note := l.uses[i], uint64(0)
	t := l.s.Lent[u.in]
	result := l.results
	if !u.writes {
		l.results++
	}
	l.s.Bench.Session.Mark(markUse + strconv.Itoa(i))
	err := l.b.Use(t, func(in cuda.Stream, at cuda.DevicePtr) error {
		note++
		if in != t {
			note |= otherStream
		}
		if l.memory == 0 {
			l.memory = at
		} else if at != l.memory {
			note |= otherMemory
		}
		return l.s.Bench.Callback("work", func() error { return l.work(i, in, at, result) })
	})
	switch {
	case u.fails && !errors.Is(suite.Sound(err), errWork):
		note |= errorLost
	case !u.fails && err != nil:
		note |= failedUse
		l.fail("Use", err)
	}
	l.noted = append(l.noted, note)
	if u.gone && err == nil {
		l.s.Bench.Session.Aside(func() {
			l.s.Bench.Must(l.s.Bench.Callback("the caller", func() error { return cuda.StreamDestroy(t) }))
		})
		l.s.Lent = l.s.Lent[:u.in]
	}
}

// work enqueues what the i-th use does.
func (l *living) work(i int, in cuda.Stream, at cuda.DevicePtr, result int) error {
	var err error
	if l.uses[i].writes {
		err = cuda.MemsetAsync(at, byteOf(i), l.bytes, in)
	} else {
		from := at + cuda.DevicePtr(l.bytes-l.tail())
		err = cuda.MemcpyDtoDAsync(l.s.Result(result), from, l.tail(), in)
	}
	if err == nil && l.uses[i].fails {
		return errWork
	}
	return err
}

// behindClose calls what is left to be called of a buffer that is closed.
func (l *living) behindClose() {
	called := uint64(0)
	l.s.Bench.Session.Mark(markClose)
	used := l.answerOf("Use", l.b.Use(l.s.Lent[0], func(cuda.Stream, cuda.DevicePtr) error {
		called++
		return nil
	}))
	l.s.Bench.Session.Mark(markClose)
	l.s.Note(noteClosed, []uint64{called, used, l.answerOf("Close", l.b.Close())})
}

// answerOf is what is noted of an answer. A gap's may be the right one.
func (l *living) answerOf(call string, err error) uint64 {
	var gap *contract.Gap
	switch {
	case err == nil:
		return answeredNil
	case errors.As(suite.Sound(err), &gap):
		l.fail(call, err)
		return answeredClosed
	case errors.Is(suite.Sound(err), contract.ErrClosed):
		return answeredClosed
	}
	return answeredOther
}

// inTurns are uses in so many streams beside the buffer's: each is written to and read, by the next one and by the
// buffer's own.
func inTurns(users int) (uses []use) {
	for i := 1; i <= users; i++ {
		uses = append(uses, use{in: i, writes: true}, use{in: i%users + 1}, use{in: 0}, use{in: 0, writes: true}, use{in: i})
	}
	return uses
}

// ofOne are uses in the buffer's own stream alone.
var ofOne = []use{{writes: true}, {}, {writes: true}, {}}

// livesOnIdle are lives on idle streams: none but the buffer's own, one more, two, five, and one of which nothing is
// used.
func livesOnIdle(r *rand.Rand) []life {
	size := func() int64 { return 1 + r.Int64N(1<<16) }
	return []life{
		{bytes: 1, uses: ofOne},
		{bytes: size(), users: 1, uses: inTurns(1)},
		{bytes: size(), users: 2, uses: inTurns(2)},
		{bytes: size(), users: 5, uses: inTurns(5)},
		{bytes: 7, users: 1, uses: []use{{in: 1, writes: true}}},
		{bytes: size()},
		{bytes: size(), users: 2, uses: drawnUses(r, 2)},
		{bytes: 1 << 20, users: 5, uses: drawnUses(r, 5)},
		{bytes: size(), users: 2, uses: inTurns(2), twin: true},
		{bytes: size(), users: 2, uses: inTurns(2)}, // as before
	}
}

// livesDelayed are lives in which each stream in turn is late, and then all of them are.
func livesDelayed(r *rand.Rand) (ws []life) {
	for _, late := range []suite.Late{{0}, {1}, {2}, {0, 1, 2}} {
		ws = append(ws, life{bytes: 1 + r.Int64N(1<<16), users: 2, uses: inTurns(2), late: late})
	}
	return append(ws, life{bytes: 1 + r.Int64N(1<<16), users: 1, uses: []use{{in: 1, writes: true}, {in: 1}},
		late: suite.Late{1}})
}

// livesOnError are lives with uses that fail halfway, in other streams and in the buffer's own, the last use among
// them.
func livesOnError(r *rand.Rand) (ws []life) {
	for _, late := range []suite.Late{nil, {1}} {
		uses := []use{{in: 1, writes: true, fails: true}, {in: 2}, {in: 0, writes: true, fails: true}, {in: 2, fails: true},
			{in: 0, writes: true}, {in: 1, writes: true, fails: true}}
		ws = append(ws, life{bytes: 1 + r.Int64N(1<<12), users: 2, uses: uses, late: late})
	}
	return ws
}

// livesWithoutStream are lives in which the stream of a use is destroyed behind it: of the last one, and of another.
func livesWithoutStream(r *rand.Rand) (ws []life) {
	for _, more := range [][]use{nil, {{in: 0}, {in: 1, writes: true}, {in: 1}}} {
		uses := append([]use{{in: 1, writes: true}, {in: 2, writes: true, gone: true}}, more...)
		ws = append(ws, life{bytes: 1 + r.Int64N(1<<12), users: 2, uses: uses})
	}
	return ws
}

// livesFar are lives with numbers from all over their domains.
func livesFar(r *rand.Rand) []life {
	few := func() life { return life{bytes: 1 + r.Int64N(1<<12), users: 2, uses: inTurns(2)} }
	return suite.Farther(r, few,
		suite.Number[life]{Least: 1, Most: 1 << 58, Set: func(w *life, v int) { w.bytes = int64(v) }},
		suite.Number[life]{Least: 1, Most: suite.FarCount, Set: func(w *life, v int) {
			w.users, w.uses = v, drawnUses(r, v)
		}})
}

// drawnUses are uses in drawn streams, of which the first writes.
func drawnUses(r *rand.Rand, users int) []use {
	uses := []use{{in: r.IntN(1 + users), writes: true}}
	for range users + r.IntN(8) {
		uses = append(uses, use{in: r.IntN(1 + users), writes: r.IntN(2) == 0})
	}
	return uses
}

// fewUses is a life like all others that it draws, in what has to be called for it.
func fewUses(r *rand.Rand) life {
	return life{bytes: 100 + r.Int64N(900), users: 2, uses: []use{{in: 1, writes: true}, {in: 0}, {in: 2, writes: true},
		{in: 1}}}
}
