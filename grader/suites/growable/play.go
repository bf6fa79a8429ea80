package growable

import (
	"cudalab/grader/suite"
	"cudalab/grader/suite/allocator"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/sim"
)

// scripts is a trial that carries out scripts, each on a vector of its own.
type scripts struct {
	suite.Trial[Make]
	draw func(origin) []script
}

func scripted(id string, draw func(origin) []script) *scripts {
	t := &scripts{Trial: suite.Trial[Make]{ID: id, After: lastGap}, draw: draw}
	t.Drive = func(b *suite.Bench, sides suite.Sides[Make]) {
		from := origin{Rand: b.Rand(), seed: b.Seed, granularity: allocator.Granularity(b)}
		for _, w := range draw(from) {
			if w.light {
				b.Quota = 0 // the vector is to be large
			}
			if !play(b, sides.Student, w) {
				return
			}
		}
	}
	return t
}

// on has the trial run on a simulated device everywhere, as in suite.Case.
func (t *scripts) on(device func(seed uint64) sim.Options) *scripts {
	t.Simulated = device
	return t
}

// drawn are the trial's scripts in cudalab; there are none where it ended before it had drawn them.
func (t *scripts) drawn(e *suite.Evidence) []script {
	g, ok := allocator.NotedGranularity(e.Cases[t.ID])
	if !ok {
		return nil
	}
	return t.draw(origin{Rand: suite.NewRand(e.Seed, t.ID), seed: e.Seed, granularity: g})
}

// Names of notes; each goes on with the script's.
const (
	noteAnswers = "answers " // of New and each operation, answerSize numbers
	noteLost    = "lost "    // of looks at the elements, the operation's number and how many bytes were others than they should be
)

// answerSize is how many numbers are noted of an answer: the number of its Call, what bitsOf says, Ptr, Len and Cap.
const answerSize = 5

// tries are more calls than a right vector makes that are all refused. One that tries for ever comes to its end behind them.
const tries = 256

// play carries a script out, each operation in a Call. Behind a wrong answer only Close is called. It reports whether there is sense in
// going on with other scripts: not where there was a gap or a panic.
func play(bench *suite.Bench, f Make, w script) (goOn bool) {
	p := newPlayer(bench, w)
	defer func() {
		if goOn {
			p.close()
		}
	}()
	// ask has the vector do something in a Call, in which it tells of itself as well, and notes what came back.
	ask := func(label string, do func() (bits uint64, err error)) (bits uint64, o verdict.Outcome) {
		numbers := [answerSize]uint64{uint64(bench.Calls())}
		o = bench.Call(label, func() (err error) {
			bits, err = do()
			if v := p.vector; v != nil && !p.state.closed {
				numbers[2], numbers[3], numbers[4] = uint64(v.Ptr()), uint64(v.Len()), uint64(v.Cap())
			}
			return err
		})
		if o.Panic != "" || o.Gap != "" {
			bits |= isGap
		}
		numbers[1] = bits
		for _, v := range numbers {
			bench.Value(noteAnswers+w.name, v)
		}
		return bits, o
	}
	if bits, made := ask(w.layout.String(), func() (uint64, error) { return p.make(f) }); !made.OK() {
		return bits&isGap == 0
	}
	right := true
	for i, o := range w.ops {
		lost := uint64(0)
		switch {
		case !right && (o.kind != closes || p.state.closed):
			continue
		case !o.asked():
			lost = p.serve(o)
		default:
			lost = p.before(o)
		}
		if lost > 0 {
			bench.Value(noteLost+w.name, uint64(i))
			bench.Value(noteLost+w.name, lost)
		}
		if !o.asked() {
			continue
		}
		want := p.state.want(o)
		for _, call := range o.fail {
			bench.Session.Fail(call, 1, device.ErrorInvalidValue)
			for k := 2; o.always && k <= tries; k++ {
				bench.Session.Fail(call, k, device.ErrorInvalidValue)
			}
		}
		bits, _ := ask(o.String(), func() (bits uint64, err error) {
			err = p.carryOut(o)
			if bits = bitsOf(err); err == nil {
				p.state.succeed(o)
			}
			return bits, err
		})
		bench.Session.ClearFaults()
		if bits&isGap != 0 {
			return false
		}
		if !accepts(want, bits) {
			right, p.unsafe = false, true
		} else if bits == 0 {
			p.after(o)
		}
	}
	return true
}
