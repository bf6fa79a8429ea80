package allocator

import (
	"maps"
	"reflect"
	"runtime"
	"slices"

	"cudalab/grader/suite"
	"cudalab/grader/suite/returned"
	"cudalab/grader/suite/sequence"
	"cudalab/native/cuda"
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// Runner carries sequences out.
type Runner struct {
	Bench *suite.Bench
	New   func() (Subject, error) // a fresh allocator of the student's
	Label string                  // what New makes, in plain words: "slab.New([256 512], 4)"
	User  User                    // may be nil
	// Device is what the simulated device of a Try is like, where it must not be like any other; its seed is the Bench's.
	Device sim.Options
	Traced bool // a Try records its CUDA calls, for New to look at
}

// User does with the blocks what who asked for them would. It is the grader's own: its CUDA calls are not the
// student's.
type User interface {
	// Allocated comes when a block was handed out; it has its number, its address and its size as asked for.
	Allocated(block int, at cuda.DevicePtr, size int64)
	// Freeing comes before a live block is freed, or given back by Reset or Close. When it returns, the device must be
	// through with the block.
	Freeing(block int, at cuda.DevicePtr, size int64)
}

// Run makes an allocator and carries the operations out on it, each in a Call of the Bench, so that its outcome and its
// records are the case's. What came back is noted under name; see Read. An allocator that the sequence leaves open is
// closed behind it, in one more Call. Nothing is noted of a sequence whose allocator could not be made: the outcome of
// that Call tells of it.
func (r *Runner) Run(name string, ops []Op) []sequence.Answer {
	w := walk{user: r.User, bench: r.Bench}
	first := r.Bench.Calls() + 1
	made := r.Bench.Call(r.Label, func() (err error) {
		w.subject, err = r.New()
		return err
	})
	if !made.OK() {
		return nil
	}
	w.start(ops)
	defer w.leave()
	done := 0
	r.Bench.History = func() string { return before(r.Label, ops[:done]) }
	defer func() { r.Bench.History = nil }()
	for i, op := range ops {
		done = i
		if !w.step(op, func(site trace.Site, f func() error) bool {
			o := r.Bench.CallOf(phrase(op), site, f)
			return o.Panic == ""
		}) {
			break
		}
	}
	if !w.closed && !w.broken {
		w.ending()
		r.Bench.CallOf(phrase(Close), w.methods[KindClose].Site, w.subject.Allocator.Close)
		w.ended()
	}
	note(r.Bench, name, first, 1, ops, w.answers)
	return w.answers
}

// Try carries the operations out on an allocator of their own and notes nothing. It works on a simulated device, as a
// rule without a trace, so that it costs little and leaves nothing behind whatever the code does. It answers nil where
// no allocator could be made.
func (r *Runner) Try(ops []Op) []sequence.Answer {
	options := r.Device
	options.Seed = r.Bench.Seed
	d := sim.New(options)
	defer d.Close()
	defer r.Bench.Session.Use()
	s := session.New(d)
	if r.Traced {
		s.StartTrace()
	}
	s.Use()

	var w walk
	var err error
	if !quietly(func() { w.subject, err = r.New() }) || err != nil {
		return nil
	}
	w.start(ops)
	for _, op := range ops {
		if !w.step(op, func(_ trace.Site, f func() error) bool { return quietly(func() { _ = f() }) }) {
			break
		}
	}
	return w.answers
}

// quietly reports whether f returned; a panic ends it only.
func quietly(f func()) (returned bool) {
	defer func() { _ = recover() }()
	f()
	return true
}

// walk is one sequence under way.
type walk struct {
	subject Subject
	user    User
	// nil in a Try and at once: nothing is noted in the trace, and nobody uses the blocks
	bench     *suite.Bench
	methods   [kinds]*sequence.Details // the Sites of the methods
	entries   [kinds]uintptr           // where the methods' code begins
	addrs     []cuda.DevicePtr         // by block; 0 where it was not handed out
	live      map[cuda.DevicePtr]held  // nil where nobody follows the blocks
	answers   []sequence.Answer
	op        Op              // under way
	answer    sequence.Answer // to it
	now       func() error    // carryOut: made once, since there are a hundred thousand operations
	streams   map[Stream]cuda.Stream
	destroyed []Stream
	unasked   func(i int) bool // reports whether no Stats are asked for behind an operation; nil: they always are
	closed    bool             // Close has succeeded
	broken    bool             // a gap or a panic has ended the sequence
}

// held is a block in the user's hands.
type held struct {
	block  int
	size   int64
	stream Stream // that it was handed out in
}

func (w *walk) start(ops []Op) {
	w.answers, w.now = make([]sequence.Answer, 0, len(ops)), w.carryOut
	if w.bench != nil {
		w.live = map[cuda.DevicePtr]held{}
	}
	w.enter(ops)
	var a any = w.subject.Allocator
	if w.subject.Student != nil {
		a, w.bench = w.subject.Student, nil
	}
	t := reflect.TypeOf(a)
	for _, k := range []Kind{KindAlloc, KindFree, KindReset, KindClose, KindForget, KindTrim} {
		site, entry := siteOf(methodOf(t, methodName(k)))
		w.methods[k], w.entries[k] = &sequence.Details{Site: site}, entry
	}
	w.methods[KindOwn] = &sequence.Details{}
	if own := ownOf(ops); own != nil && t != nil {
		w.methods[KindOwn].Site, _ = siteOf(own.Method(t))
	}
}

// siteOf is where a method of the student's is declared, and where its code begins: a wrong answer has no line of its
// own, but the method has.
func siteOf(m reflect.Method, ok bool) (trace.Site, uintptr) {
	if !ok {
		return nil, 0
	}
	f := runtime.FuncForPC(m.Func.Pointer())
	if f == nil {
		return nil, 0
	}
	// whose line is, for a function without a frame of its own, that of its first statement
	file, _ := f.FileLine(f.Entry())
	return trace.Site{{Func: f.Name(), File: file}}, f.Entry()
}

// methodOf spells the names out: looking a method up by a variable would keep every method of the program alive.
func methodOf(t reflect.Type, name string) (reflect.Method, bool) {
	switch {
	case t == nil:
		return reflect.Method{}, false
	case name == "Alloc":
		return t.MethodByName("Alloc")
	case name == "Free":
		return t.MethodByName("Free")
	case name == "Reset":
		return t.MethodByName("Reset")
	case name == "Forget":
		return t.MethodByName("Forget")
	case name == "Trim":
		return t.MethodByName("Trim")
	}
	return t.MethodByName("Close")
}

// step carries one operation out by call, which reports whether the code returned; step reports whether to go on.
func (w *walk) step(op Op, call func(site trace.Site, f func() error) bool) bool {
	a := sequence.Answer{}.Sharing(w.methods[method(op.Kind)])
	switch op.Kind {
	case KindAlloc:
		w.addrs = append(w.addrs, 0)
	case KindFree, KindFreeInside:
		if op.Block < 1 || op.Block > len(w.addrs) || w.addrs[op.Block-1] == 0 {
			w.answers = append(w.answers, sequence.Answer{Err: sequence.Skipped})
			return true
		}
		a.Addr = uint64(w.addrs[op.Block-1])
		if op.Kind == KindFreeInside {
			a.Addr += uint64(op.Size)
		}
	case KindFreeUnknown:
		a.Addr = uint64(op.Size)
	case KindWait, KindIdle, KindBusy, KindDestroy:
		w.bystander(op)
		w.answers = append(w.answers, a)
		return true
	}
	leaving, was := w.live[cuda.DevicePtr(a.Addr)]
	was = was && method(op.Kind) == KindFree
	switch {
	case op.Kind == KindReset || op.Kind == KindClose:
		w.ending()
	case was:
		w.freeing(cuda.DevicePtr(a.Addr), leaving, op.Stream)
	}
	a.Err = sequence.Panic // until the call has returned
	w.op, w.answer = op, a
	returned := call(a.Details().Site, w.now)
	if a = w.answer; !returned {
		a.Err = sequence.Panic
	}
	w.answers = append(w.answers, a)
	if a.Err == sequence.Nil {
		w.settle(op, a, was)
	}
	w.broken = a.Err == sequence.Gap || a.Err == sequence.Panic
	return !w.broken
}

// carryOut carries the operation out, and takes in all that there is to its answer.
func (w *walk) carryOut() error {
	err := w.perform(w.op, &w.answer)
	defer func(lines returned.Lines) { returned.Last = lines }(returned.Last) // what Stats answers is another question
	d := sequence.Details{Site: w.answer.Details().Site}
	if w.answer.Err = sequence.Classify(err); err != nil {
		d.Text = err.Error()
	}
	if w.subject.Seen != nil {
		d.Seen = w.subject.Seen(err)
	}
	if w.subject.Stats != nil && w.answer.Err != sequence.Gap && (w.unasked == nil || !w.unasked(len(w.answers))) {
		if d.Stats = w.subject.Stats(); d.Stats == nil {
			d.Stats = []int64{} // it was asked for
		}
	}
	if d.Text != "" || d.Seen != nil || d.Stats != nil {
		w.answer = w.answer.With(d)
	}
	return err
}

// perform is the call itself.
func (w *walk) perform(op Op, a *sequence.Answer) error {
	switch op.Kind {
	case KindAlloc:
		p, err := w.alloc(op)
		a.Addr = uint64(p)
		return err
	case KindOwn:
		_, err := op.Own.Do(w.subject.Allocator, op)
		return err
	case KindReset:
		return w.subject.Allocator.(resetter).Reset()
	case KindClose:
		return w.subject.Allocator.Close()
	case KindForget:
		return w.subject.Allocator.(forgetter).Forget(w.streams[op.Stream])
	case KindTrim:
		return w.subject.Allocator.(trimmer).Trim(op.Size)
	}
	return w.free(op, cuda.DevicePtr(a.Addr))
}

// settle follows what a successful operation has changed.
func (w *walk) settle(op Op, a sequence.Answer, was bool) {
	at := cuda.DevicePtr(a.Addr)
	switch {
	case op.Kind == KindOwn:
	case op.Kind == KindAlloc:
		w.addrs[len(w.addrs)-1] = at
		if w.live == nil {
			return
		}
		h := held{len(w.addrs), op.Size, op.Stream}
		if w.subject.Size > 0 {
			h.size = w.subject.Size
		}
		w.live[at] = h
		w.allocated(at, h)
	case op.Kind == KindReset || op.Kind == KindClose:
		w.ended()
		w.closed = w.closed || op.Kind == KindClose
	case was:
		w.freed(at, op.Stream)
	}
}

// freeing and freed come before and after a block is given back; ending and ended, where all are.
func (w *walk) freeing(at cuda.DevicePtr, h held, in Stream) {
	switch user, ok := w.user.(StreamUser); {
	case w.bench == nil || w.user == nil:
	case ok && in != 0:
		user.FreeingIn(h.block, at, h.size, w.streams[h.stream], w.streams[in])
	default:
		w.user.Freeing(h.block, at, h.size)
	}
}

func (w *walk) freed(at cuda.DevicePtr, in Stream) {
	delete(w.live, at)
	switch {
	case w.bench == nil:
	case in != 0:
		w.bench.Session.BlockFreeIn(device.Ptr(at), session.StreamOf(w.streams[in]), w.entries[KindFree])
	default:
		w.bench.Session.BlockFree(device.Ptr(at))
	}
}

func (w *walk) ending() {
	for _, at := range slices.Sorted(maps.Keys(w.live)) {
		w.freeing(at, w.live[at], 0)
	}
}

func (w *walk) ended() {
	for _, at := range slices.Sorted(maps.Keys(w.live)) {
		w.freed(at, 0)
	}
}

// methodName is the method that carries an operation out.
func methodName(k Kind) string {
	switch method(k) {
	case KindAlloc:
		return "Alloc"
	case KindFree:
		return "Free"
	case KindReset:
		return "Reset"
	case KindForget:
		return "Forget"
	case KindTrim:
		return "Trim"
	}
	return "Close"
}

// method is the method that carries the operation out.
func (op Op) method() string {
	if op.Kind == KindOwn && op.Own != nil {
		return op.Own.MethodName()
	}
	return methodName(op.Kind)
}

// method is the kind whose site an operation has.
func method(k Kind) Kind {
	switch k {
	case KindFreeInside, KindFreeUnknown, KindFreeNull:
		return KindFree
	}
	return k
}
