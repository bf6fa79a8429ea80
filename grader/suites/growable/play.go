package growable

import (
	"cudalab/grader/suite"
	"cudalab/grader/suite/sequence"
	"cudalab/native/device"
)

// trial is a trial that carries out scripts, each on a vector of its own.
type trial = sequence.Trial[Make, script, *replay]

func scripted(id string, draw func(sequence.Source) []script) *trial {
	return sequence.NewTrial(id, lastGap, true, draw, play, newReplay)
}

// play carries scripts out. There is no sense in going on with others behind a gap or a panic.
func play(b *suite.Bench, code Make, ws []script) {
	for _, w := range ws {
		if w.Layout.light || w.Layout.far {
			b.Quota = 0 // the vector is to be large
		}
		if w.Layout.far {
			b.NothingComputed()
		}
		p := newPlayer(b, code, w)
		if !p.play(w) {
			return
		}
		p.close()
	}
}

// broken reports whether an answer is the last that there is to a script.
func broken(a sequence.Answer) bool { return a.Err == sequence.Gap || a.Err == sequence.Panic }

// refusal reports whether an answer that is wrong is that of a vector which does not do what it should: it is as it
// was, and can be asked for other things, unless these come of what it was to do: whom Shrink waits for in use.
func (l layout) refusal(o op, a sequence.Answer) bool {
	return a.Err == sequence.ErrArgument && o.kind != opens && !l.inUse
}

// play carries a script out, each operation in a Call. Behind a wrong answer only Close is called, unless it refuses.
// What takes elements that are not there since they were refused is left out.
func (p *player) play(w script) (whole bool) {
	first, answers := p.bench.Calls(), []sequence.Answer(nil)
	defer func() { sequence.Note(p.bench, w.Name, first, 1, nil, answers) }()
	for _, o := range w.Ops {
		a := sequence.Answer{Err: sequence.Skipped}
		missing := o.from == inside && o.at+o.n > p.length
		if !p.wrong && !missing || o.kind == closes && !p.closed {
			a = p.step(o)
		}
		answers = append(answers, a)
		switch {
		case broken(a):
			return false
		case o.kind == opens && a.Err != sequence.Nil:
			return true
		}
	}
	return true
}

// tries are more calls than a right vector makes that are all refused. One that tries for ever comes to its end
// behind them.
const tries = 256

// step carries one operation out.
func (p *player) step(o op) sequence.Answer {
	if o.ByCaller() {
		return answerOf(nil, p.serve(o))
	}
	lost, want := p.before(o), p.want(o)
	for _, call := range o.fail {
		p.bench.Session.Fail(call, 1, device.ErrorInvalidValue)
		for k := 2; o.always && k <= tries; k++ {
			p.bench.Session.Fail(call, k, device.ErrorInvalidValue)
		}
	}
	label := o.String()
	if o.kind == opens {
		label = p.layout.String()
	}
	a := sequence.Answer{Err: sequence.Panic} // until the call has returned
	p.bench.Call(label, func() error {
		err := p.carryOut(o)
		answer := answerOf(err, lost)
		if err == nil {
			p.succeed(o)
		}
		a = p.telling(answer)
		return err
	})
	p.bench.Session.ClearFaults()
	switch right := p.accepts(want, a); {
	case !right && !p.refusal(o, a):
		p.wrong, p.unsafe = true, true
	case right && a.Err == sequence.Nil:
		p.after(o)
	}
	return a
}

// telling is an answer with what the vector says of itself.
func (p *player) telling(a sequence.Answer) sequence.Answer {
	v := p.vector
	if v == nil || p.closed {
		return a
	}
	d := a.Details()
	a.Addr, d.Stats = uint64(v.Ptr()), []int64{v.Len(), v.Cap()}
	return a.With(d)
}
