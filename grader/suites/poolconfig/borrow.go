package poolconfig

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/native/cuda"
	"cudalab/native/device"
)

// loan is one call of Keep or Lend, with the calls of both that its work makes within.
type loan struct {
	layers  []layer // from the outermost inwards
	ownPool bool    // the caller has made a pool of its own the current one
	found   uint64  // the release threshold of the pool that is current
	absent  bool    // the device is one that there is not
	// What the innermost work does in the end.
	fails    bool // it answers an error
	switches bool // it makes another pool current, and leaves it so
}

// layer is a call of Keep, or of Lend.
type layer struct {
	lends     bool
	same      bool     // what is lent is the current pool
	threshold uint64   // of Keep
	sizes     [2]int64 // what its work takes: the first goes back before it returns, the second stays
}

func (l layer) function() string {
	if l.lends {
		return "Lend"
	}
	return "Keep"
}

// function is the one that is called first.
func (w loan) function() string { return w.layers[0].function() }

func (w loan) Label() string {
	label := ""
	for i := len(w.layers) - 1; i >= 0; i-- {
		switch l := w.layers[i]; {
		case l.lends && l.same:
			label += "Lend of the current pool"
		case l.lends:
			label += "Lend of a pool"
		default:
			label += "Keep of " + bytesName(l.threshold)
		}
		if i > 0 {
			label += " within "
		}
	}
	switch {
	case w.absent:
		label += " on a device that there is not"
	case w.fails:
		label += " and work that fails"
	case w.switches:
		label += " and work that makes another pool current"
	}
	return label
}

// pools is how many pools there are: the device's default pool, the caller's where it is another, what is lent, and
// what work makes current.
func (w loan) pools() int {
	n := 1
	if w.ownPool {
		n++
	}
	for _, l := range w.layers {
		if l.lends && !l.same {
			n++
		}
	}
	if w.switches {
		n++
	}
	return n
}

// state is the number of the pool that is current, and the release threshold of each.
type borrowed struct {
	current    int
	thresholds []uint64
}

// begin is how the pools are before the call.
func (w loan) begin() borrowed {
	s := borrowed{thresholds: make([]uint64, w.pools())}
	for i := range s.thresholds {
		s.thresholds[i] = foundThreshold + uint64(i)
	}
	if w.ownPool {
		s.current = 1
	}
	s.thresholds[s.current] = w.found
	return s
}

// lent are the numbers of the pools that the layers lend, and at each Keep that of the pool which it finds.
func (w loan) lent() []int {
	next, current := 1, w.begin().current
	if w.ownPool {
		next++
	}
	var all []int
	for _, l := range w.layers {
		if l.lends && !l.same {
			current = next
			next++
		}
		all = append(all, current)
	}
	return all
}

// states are how the pools have to be: when the work of each layer begins, from the outermost inwards, when it is about
// to return, from the innermost outwards, and when all is over.
func (w loan) states() []borrowed {
	now := w.begin()
	before, entered := []borrowed{now}, []borrowed(nil)
	for i, pool := range w.lent() {
		now.thresholds = slices.Clone(now.thresholds)
		if l := w.layers[i]; l.lends {
			now.current = pool
		} else {
			now.thresholds[pool] = max(now.thresholds[pool], l.threshold)
		}
		before, entered = append(before, now), append(entered, now)
	}
	all := slices.Clone(entered)
	if w.switches {
		now.current = w.pools() - 1
	}
	for i := len(w.layers) - 1; i >= 0; i-- {
		all = append(all, now)
		if current := now.current; !w.layers[i].lends {
			now = before[i]
			now.current = current
		} else {
			now = before[i]
		}
	}
	return append(all, now)
}

// What is noted of a call, beside the trace: how often the work of each layer was called, what each Keep has answered,
// and the number of each layer that has not passed an error on: work's, or CUDA's where there is no such device.
const (
	noteCalls   = "calls"
	noteSamples = "samples"
	noteLost    = "lost"
)

// errWork is what work answers where it is to fail.
var errWork = errors.New("the library could not do it")

// absentDevice is the ordinal of a device that there is not.
const absentDevice = 1_000_000

// lending sets up the pools, and has work take memory from the current one.
var lending = &suite.Scene[Code, loan]{
	Set: func(s *suite.Stage, w loan) func(Code, loan) error {
		must := s.Bench.Must
		stream := s.Stream("work's stream")
		standard, err := cuda.DeviceGetDefaultMemPool(0)
		must(err)
		pools := []cuda.MemPool{standard}
		for range w.pools() - 1 {
			made, err := cuda.MemPoolCreate(cuda.MemPoolProps{Device: 0})
			must(err)
			pools = append(pools, made)
			s.Finally(func() { must(cuda.MemPoolDestroy(made)) })
		}
		begin := w.begin()
		for i, threshold := range begin.thresholds {
			must(cuda.MemPoolSetAttribute(pools[i], cuda.MemPoolAttrReleaseThreshold, threshold))
		}
		must(cuda.DeviceSetMemPool(0, pools[begin.current]))
		look := func(attrs []cuda.MemPoolAttr) {
			_, err := cuda.DeviceGetMemPool(0)
			must(err)
			for _, pool := range pools {
				for _, attr := range attrs {
					_, _ = cuda.MemPoolGetAttribute(pool, attr) // that code has destroyed a pool is told in the end
				}
			}
		}
		r := &borrowing{w: w, stage: s, stream: stream, pools: pools, look: look}
		for i, pool := range pools { // so that none of them is empty, and no two are alike
			p, err := cuda.MallocFromPoolAsync(int64(1000*(i+1)), pool, stream)
			must(err)
			r.kept = append(r.kept, p)
		}
		must(cuda.StreamSynchronize(stream))
		look(defaults)
		s.Finally(func() {
			look(defaults)
			s.Bench.Session.Mark(markLeft)
			r.giveBack()
			must(cuda.DeviceSetMemPool(0, standard))
			must(cuda.MemPoolSetAttribute(standard, cuda.MemPoolAttrReleaseThreshold, 0))
		})
		return r.call
	},
}

// borrowing is a call under way.
type borrowing struct {
	w      loan
	stage  *suite.Stage
	stream cuda.Stream
	pools  []cuda.MemPool
	look   func([]cuda.MemPoolAttr)
	kept   []cuda.DevicePtr // what work has not freed

	calls, samples, lost []uint64
}

func (r *borrowing) call(code Code, _ loan) error {
	n := len(r.w.layers)
	r.calls, r.samples, r.lost = make([]uint64, n), make([]uint64, 3*n), nil
	err := r.layer(code, 0)
	if r.w.absent && err == nil {
		r.lost = []uint64{0}
	}
	r.stage.Note(noteCalls, r.calls)
	r.stage.Note(noteSamples, r.samples)
	r.stage.Note(noteLost, r.lost)
	var gap *contract.Gap
	var refused device.Code
	switch sound := suite.Sound(err); {
	case errors.As(sound, &gap):
		return err
	case r.w.absent && errors.As(sound, &refused),
		r.w.fails && errors.Is(sound, errWork) && !errors.As(sound, &refused):
		return nil // as it has to be
	}
	return err
}

// layer makes the call of a layer.
func (r *borrowing) layer(code Code, i int) (err error) {
	l, ordinal, answered := r.w.layers[i], 0, error(nil)
	if r.w.absent {
		ordinal = absentDevice
	}
	work := func() error {
		if r.calls[i]++; r.calls[i] == 1 {
			answered = r.work(code, i)
		}
		return answered
	}
	if l.lends {
		err = code.Lend(ordinal, r.pools[r.w.lent()[i]], work)
	} else {
		var s contract.Sample
		s, err = code.Keep(ordinal, l.threshold, work)
		copy(r.samples[3*i:], []uint64{s.Reserved, s.Used, s.UsedHigh})
	}
	if answered != nil && !errors.Is(suite.Sound(err), answered) {
		r.lost = append(r.lost, uint64(i))
	}
	return err
}

// looked are what is asked of each pool within work: what has to be borrowed, and what a Sample has.
var looked = []cuda.MemPoolAttr{cuda.MemPoolAttrReleaseThreshold, cuda.MemPoolAttrReservedMemCurrent,
	cuda.MemPoolAttrUsedMemCurrent, cuda.MemPoolAttrUsedMemHigh}

// work is that of a layer.
func (r *borrowing) work(code Code, i int) (err error) {
	innermost := i+1 == len(r.w.layers)
	must, back := r.stage.Bench.Must, func(f func()) {
		_ = r.stage.Bench.Callback("work", func() error {
			r.stage.Bench.Session.Aside(f) // what fails is what the code calls
			return nil
		})
	}
	back(func() {
		r.look(looked)
		for k, size := range r.w.layers[i].sizes {
			p, err := cuda.MallocAsync(size, r.stream)
			must(err)
			if k == 0 {
				must(cuda.FreeAsync(p, r.stream))
			} else {
				r.kept = append(r.kept, p)
			}
		}
		must(cuda.StreamSynchronize(r.stream))
		if innermost && r.w.switches {
			must(cuda.DeviceSetMemPool(0, r.pools[len(r.pools)-1]))
		}
	})
	if !innermost {
		err = r.layer(code, i+1)
	} else if r.w.fails {
		err = errWork
	}
	back(func() { r.look(looked) })
	return err
}

// giveBack frees what work has kept.
func (r *borrowing) giveBack() {
	for _, p := range r.kept {
		r.stage.Bench.Must(cuda.FreeAsync(p, r.stream))
	}
	r.kept = nil
	r.stage.Bench.Must(cuda.StreamSynchronize(r.stream))
}

// keeping is a layer of Keep, and lendingOut one of Lend, whose work takes so many bytes in all.
func keeping(threshold uint64, takes int64) layer {
	return layer{threshold: threshold, sizes: [2]int64{takes/3 + 1, takes - takes/3}}
}

func lendingOut(takes int64) layer {
	l := keeping(0, takes)
	l.lends = true
	return l
}

// keeps are the calls of Keep alone at the edges: pools that give back at once, or that keep more than they are asked
// to, the same call twice, and Keep within Keep.
func keeps() []loan {
	one := func(found, threshold uint64, takes int64) loan {
		return loan{found: found, layers: []layer{keeping(threshold, takes)}}
	}
	other := one(7*mib+1, 64*mib, 5*mib)
	other.ownPool = true
	failing, switching, absent := other, one(0, 128*mib, 2*mib), one(0, mib, 1000)
	failing.fails, switching.switches, absent.absent = true, true, true
	nested := loan{found: 5, ownPool: true, layers: []layer{keeping(64*mib, mib), keeping(96*mib, 2*mib),
		keeping(80*mib, 3*mib)}}
	return []loan{
		one(0, 256*mib, 40*mib), other, one(0, 0, 100), one(foundThreshold, 40*mib, 9*mib),
		one(96*mib, 64*mib, 7*mib), one(keepAll, 1, mib), one(mib, mib, mib), one(1, keepAll, 33*mib),
		failing, switching, absent, nested, one(0, 256*mib, 36*mib),
	}
}

// lends are those of Lend alone: to a device whose current pool is another one, or the one that is lent, and Lend
// within Lend.
func lends() []loan {
	one := loan{found: 9, layers: []layer{lendingOut(3 * mib)}}
	other, failing, switching, absent, nested, same := one, one, one, one, one, one
	other.ownPool = true
	failing.ownPool, failing.fails = true, true
	switching.switches, absent.absent = true, true
	nested.ownPool, nested.layers = true, []layer{lendingOut(mib), lendingOut(2 * mib), lendingOut(5 * mib)}
	same.ownPool, same.layers = true, []layer{lendingOut(mib)}
	same.layers[0].same = true
	return []loan{one, other, failing, switching, same, absent, nested, one}
}

// both are calls of the one within the other.
func both() []loan {
	kept := loan{found: 3, layers: []layer{keeping(70*mib, 5*mib), lendingOut(2 * mib)}}
	lent := loan{found: 3, ownPool: true, layers: []layer{lendingOut(mib), keeping(70*mib, 5*mib)}, fails: true}
	deep := loan{layers: []layer{keeping(50*mib, mib), lendingOut(mib), keeping(mib, mib), lendingOut(4 * mib),
		keeping(60*mib, 2*mib)}, switches: true}
	return []loan{kept, lent, deep}
}

// drawLoans draws some calls whose layers draw draws.
func drawLoans(draw func(*rand.Rand) layer) func(*rand.Rand) []loan {
	return func(r *rand.Rand) []loan {
		ws := make([]loan, 4)
		for i := range ws {
			w := loan{ownPool: r.IntN(2) == 0, found: r.Uint64N(64 * mib), fails: i == 1, switches: i == 2}
			for range 1 + r.IntN(3) {
				w.layers = append(w.layers, draw(r))
			}
			ws[i] = w
		}
		return ws
	}
}

func drawKeep(r *rand.Rand) layer { return keeping(r.Uint64N(128*mib), 1000+r.Int64N(16*mib)) }

func drawLend(r *rand.Rand) layer { return lendingOut(1000 + r.Int64N(16*mib)) }

func drawEither(r *rand.Rand) layer {
	if r.IntN(2) == 0 {
		return drawLend(r)
	}
	return drawKeep(r)
}

// alone is a small call of one function alone, for CUDA calls to fail in.
func alone(draw func(*rand.Rand) layer, fails bool) func(*rand.Rand) loan {
	return func(r *rand.Rand) loan {
		l := draw(r)
		l.threshold += 64 * mib // more than is found, so that it has to be raised
		return loan{ownPool: true, found: r.Uint64N(64 * mib), layers: []layer{l}, fails: fails}
	}
}

// farKeeps are calls with numbers from all over their domains.
func farKeeps(r *rand.Rand) []loan {
	any64 := func(v int) uint64 { return uint64(v)<<1 | r.Uint64N(2) }
	return suite.Farther(r, func() loan {
		return loan{ownPool: r.IntN(2) == 0, found: r.Uint64N(mib), layers: []layer{drawKeep(r)}}
	}, suite.Number[loan]{Most: math.MaxInt64, Set: func(w *loan, v int) { w.layers[0].threshold = any64(v) }},
		suite.Number[loan]{Most: math.MaxInt64, Set: func(w *loan, v int) { w.found = any64(v) }})
}
