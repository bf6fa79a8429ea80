package devicebump

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/kernels"
	"cudalab/kernels/probe"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// What is noted of a call beside the offsets, which are its results.
const (
	noteMemory  = "memory"  // Memory of each stream
	noteMoved   = "moved"   // a stream, and by how many bytes its Memory was another than at first
	noteWrong   = "wrong"   // by launch, how many words of its blocks were not its stamps
	noteAnswers = "answers" // of the calls that have to be refused, and of those that only look so
	noteClosed  = "closed"  // of those behind Close
	noteRefused = "refused" // how many steps were not carried out, though their arguments are good
	noteBeside  = "beside"  // that New has answered Pools beside an error
	// by step, that a call has answered an error in which no call of CUDA's failed; the last one in a life
	noteByItself = "by itself"
)

// What a call that has to be refused has answered.
const (
	answeredNil uint64 = iota
	answeredArgument
	answeredClosed
	answeredOther
)

func answerOf(err error) uint64 {
	err = suite.Sound(err)
	switch {
	case err == nil:
		return answeredNil
	case errors.Is(err, contract.ErrArgument):
		return answeredArgument
	case errors.Is(err, contract.ErrClosed):
		return answeredClosed
	}
	return answeredOther
}

// markStep begins the records of a step: its number follows. So does that of a span behind markLook, which begins the
// caller's look at its blocks. Other names stand for New and for what comes behind the steps.
const (
	markStep = "step "
	markLook = "look "
	markNew  = "new"
	markEnd  = "end"
)

// The steps behind the Close that has succeeded.
const (
	closeAgain = -2 - iota
	resetClosed
	launchClosed
)

// checkBlock is how many threads look at blocks together.
const checkBlock = 64

// life is one Pools, from New to Close, and its caller.
type life struct {
	*suite.Stage
	w       workload
	streams []cuda.Stream
	sizes   cuda.DevicePtr
	wrong   cuda.DevicePtr
	all     cuda.DevicePtr // a word that says that all of a pool is taken, for whoever looks at blocks
	memory  []uint64       // what is noted as noteMemory
	answers []uint64
	errs    error
	refused uint64 // steps
}

// scene lends the code its streams, the sizes, and room for the offsets.
var scene = &suite.Scene[Code, workload]{
	Set: func(s *suite.Stage, w workload) func(Code, workload) error {
		l := &life{Stage: s, w: w, streams: s.Streams(max(w.streams, 0), "streams[%d]")}
		if w.legacy {
			l.streams[0] = cuda.Stream{}
		}
		if w.twice {
			l.streams[w.streams-1] = l.streams[0]
		}
		l.prepare()
		w.late.Busy(s, l.streams)
		return l.run
	},
}

// prepare puts the sizes on the device, and makes room for what comes back.
func (l *life) prepare() {
	threads, b := l.w.threads(), l.Bench
	allocate := func(size int) cuda.DevicePtr {
		p, err := cuda.Malloc(int64(max(size, 8)))
		b.Must(err)
		l.Finally(func() { b.Must(cuda.Free(p)) })
		return p
	}
	l.sizes, l.wrong, l.all = allocate(8*threads), allocate(8*len(l.w.steps)), allocate(8)
	b.Must(cuda.Memset(l.wrong, 0, int64(max(8*len(l.w.steps), 8))))
	l.upload()
	l.Results(threads)
	if !l.w.unchecked {
		l.AtRest(func() { l.Note(noteWrong, l.download(l.wrong, len(l.w.steps))) })
	}
}

func (l *life) upload() {
	all := cuda.Pageable(binary.LittleEndian.AppendUint64(nil, uint64(l.w.bytes)))
	l.Bench.Must(cuda.MemcpyHtoD(l.all, all, int64(len(all))))
	if l.w.far {
		l.Bench.Must(cuda.Memset(l.sizes, 0, int64(8*l.w.threads())))
		l.Bench.Must(cuda.DeviceSynchronize())
		return
	}
	bytes := make(cuda.Pageable, 0, 8*l.w.threads())
	for _, s := range l.w.steps {
		for _, size := range s.sizes {
			bytes = binary.LittleEndian.AppendUint64(bytes, size)
		}
	}
	if len(bytes) > 0 {
		l.Bench.Must(cuda.MemcpyHtoD(l.sizes, bytes, int64(len(bytes))))
	}
	l.Bench.Must(cuda.DeviceSynchronize())
}

func (l *life) download(from cuda.DevicePtr, n int) []uint64 {
	if n == 0 {
		return nil
	}
	bytes, all := make(cuda.Pageable, 8*n), make([]uint64, n)
	l.Bench.Must(cuda.MemcpyDtoH(bytes, from, int64(len(bytes))))
	for i := range all {
		all[i] = binary.LittleEndian.Uint64(bytes[8*i:])
	}
	return all
}

// sizesOf and offsetsOf are where those of a step's launch begin.
func (l *life) sizesOf(at int) cuda.DevicePtr   { return l.sizes + cuda.DevicePtr(8*l.w.first(at)) }
func (l *life) offsetsOf(at int) cuda.DevicePtr { return l.Result(l.w.first(at)) }

// run is the call of the code under test.
func (l *life) run(code Code, w workload) error {
	l.w, l.errs, l.answers, l.refused, l.memory = w, nil, nil, 0, nil
	l.mark(markNew)
	pools, err := l.make(code)
	if err != nil {
		return err
	}
	if !w.timed {
		for i := range w.streams {
			l.memory = append(l.memory, uint64(pools.Memory(i)))
		}
		l.Note(noteMemory, l.memory)
	}
	both, _ := pools.(*halves)
	closeFirst := func() {
		l.mark(markEnd)
		l.again(-1, func() error { return l.Callback("the caller's wait", cuda.DeviceSynchronize) })
		l.again(-1, both.first.Close)
		both = nil
	}
	for at := range w.steps {
		if both != nil && at == w.closing {
			closeFirst()
		}
		if !l.step(pools, at) {
			break
		}
	}
	l.mark(markEnd)
	if !w.unchecked {
		l.check(pools, -1)
	}
	if both != nil { // an error has come before
		closeFirst()
	}
	l.again(-1, func() error { return l.Callback("the caller's wait", cuda.DeviceSynchronize) })
	l.again(-1, pools.Close)
	if l.errs != nil {
		l.Note(noteRefused, []uint64{l.refused})
		return l.errs
	}
	if !w.timed {
		l.Note(noteAnswers, l.answers)
		l.behind(pools)
	}
	return nil
}

// memoryOf is the Memory of a stream, which has to be what it was at first.
func (l *life) memoryOf(pools Pools, stream int) cuda.DevicePtr {
	now := pools.Memory(stream)
	if stream < len(l.memory) && uint64(now) != l.memory[stream] {
		l.Note(noteMoved, []uint64{uint64(stream), uint64(now) - l.memory[stream]})
	}
	return now
}

// errBeside is what stands for an error beside which there were Pools.
var errBeside = errors.New("there were Pools beside an error of New")

// make makes the Pools, or two that act as one. The streams are the caller's again at once.
func (l *life) make(code Code) (Pools, error) {
	one := func(streams []cuda.Stream) (Pools, error) {
		pools, err := code.New(suite.Given(l.Stage, "streams", streams), l.w.bytes, l.w.shared)
		l.TakeBack()
		if err != nil && pools != nil {
			if l.w.fails {
				l.Note(noteBeside, nil)
			} else {
				err = errBeside
			}
		}
		return pools, err
	}
	if !l.w.pair {
		return one(l.streams)
	}
	half := len(l.streams) / 2
	first, err := one(l.streams[:half])
	if err != nil {
		return nil, err
	}
	second, err := one(l.streams[half:])
	return &halves{first, second, half}, err
}

// halves are two Pools, of the first half of the streams and of the second.
type halves struct {
	first, second Pools
	half          int
}

// of is the one of a stream, and its number there.
func (h *halves) of(stream int) (Pools, int) {
	if stream < h.half {
		return h.first, stream
	}
	return h.second, stream - h.half
}

func (h *halves) Launch(i int, sizes cuda.DevicePtr, n int, tag uint32, offsets cuda.DevicePtr) error {
	p, i := h.of(i)
	return p.Launch(i, sizes, n, tag, offsets)
}

func (h *halves) Reset(i int) error {
	p, i := h.of(i)
	return p.Reset(i)
}

func (h *halves) Memory(i int) cuda.DevicePtr {
	p, i := h.of(i)
	return p.Memory(i)
}

func (h *halves) Close() error { return h.second.Close() }

// behind calls methods behind Close, up to the first that takes the call: what that has done to memory that is gone
// nobody knows.
func (l *life) behind(pools Pools) {
	var answers []uint64
	for i, call := range []func() error{
		pools.Close,
		func() error { return pools.Reset(0) },
		func() error { return pools.Launch(0, l.sizes, 1, 0, l.sizes) },
	} {
		l.mark(markStep + strconv.Itoa(closeAgain-i))
		answer := answerOf(call())
		if answers = append(answers, answer); answer != answeredClosed {
			break
		}
	}
	l.Note(noteClosed, answers)
}

func (l *life) mark(name string) { l.Bench.Session.Mark(name) }

// tries are more events than a right call records that are all refused.
const tries = 64

// step carries out one step; it reports whether there is sense in going on.
func (l *life) step(pools Pools, at int) bool {
	s := l.w.steps[at]
	if s.sizes == nil && !s.bad && !l.w.unchecked {
		l.check(pools, at) // the last moment to look
	}
	call := func() error {
		if s.sizes == nil {
			return pools.Reset(s.stream)
		}
		n := s.count()
		if s.bad {
			n = s.threads
		}
		return pools.Launch(s.stream, l.sizesOf(at), n, l.w.tag(at), l.offsetsOf(at))
	}
	l.mark(markStep + strconv.Itoa(at))
	switch {
	case s.bad:
		// so many threads would take long, and need sizes and offsets that are not there
		l.Bench.Session.Fail(trace.OpLaunch, 1, device.ErrorLaunchResources)
		l.answers = append(l.answers, answerOf(call()))
		l.Bench.Session.ClearFaults()
	case l.w.fails:
		l.again(at, call)
	case l.w.goesOn:
		for k := s.refused; s.refused > 0 && k < s.refused+tries; k++ {
			l.Bench.Session.Fail(trace.OpEventRecord, k, device.ErrorInvalidHandle)
		}
		_ = call()
		l.Bench.Session.ClearFaults()
	default:
		if err := call(); err != nil {
			if l.refused++; l.errs == nil {
				l.errs = err
			}
			return answerOf(err) == answeredArgument // one that was refused has done nothing that the others could miss
		}
	}
	if l.w.timed && s.sizes != nil {
		work := func() error { return probe.Delay(l.streams[s.stream], timedDelay) }
		if err := l.Callback("the caller's work", work); err != nil {
			l.errs = err
			return false
		}
	}
	return true
}

// again makes a call, and once more if it answers an error, which is kept.
func (l *life) again(at int, call func() error) {
	failing := l.Bench.Session.Failing()
	err := call()
	if err == nil {
		return
	}
	if l.w.fails && failing == l.Bench.Session.Failing() {
		l.Note(noteByItself, []uint64{uint64(at)})
	}
	l.errs = errors.Join(l.errs, err)
	if at >= 0 {
		l.mark(markStep + strconv.Itoa(at))
	}
	if l.w.fails {
		if err := call(); err != nil {
			l.errs = errors.Join(l.errs, fmt.Errorf("called again: %w", err))
		}
	}
}

// check has the caller look at the blocks that a Reset takes back, or with -1 none does, in the streams of their
// launches.
func (l *life) check(pools Pools, reset int) {
	for i, span := range l.w.spans() {
		if l.w.resetBehind(span) != reset || l.w.large {
			continue
		}
		l.mark(markLook + strconv.Itoa(i))
		_ = l.Callback("the caller's look at the blocks", func() error {
			for _, at := range span.launches {
				s := l.w.steps[at]
				n, sizes, offsets, wrong := len(s.sizes), l.sizesOf(at), l.offsetsOf(at), l.wrong+cuda.DevicePtr(8*at)
				p := kernels.BumpPool{Memory: l.memoryOf(pools, s.stream), Bytes: l.w.bytes, Word: l.all}
				l.Bench.Must(kernels.BumpCheck((n+checkBlock-1)/checkBlock, checkBlock, l.streams[s.stream], p, sizes, offsets, n,
					l.w.tag(at), wrong))
			}
			return nil
		})
	}
}
