package interleave

import (
	"encoding/binary"
	"math"
	"slices"
)

// explorer explores programs with the same code.
type explorer struct {
	code   Code
	budget int
	states int
	runs   int
}

// NewExplorer is an explorer that looks at no more than so many states in all its programs together.
func NewExplorer(code Code, budget int) *explorer { return &explorer{code: code, budget: budget} }

// States is how many different states were looked at so far, and Runs how often the code was called for that.
func (x *explorer) States() int { return x.states }
func (x *explorer) Runs() int   { return x.runs }

// Result is what came of a program.
type Result struct {
	Whole   bool     // every order was looked at, up to the first that is wrong
	Failure *Failure // the shortest order that is wrong; nil: none is
	TooMany *Failure // the shortest order in which a call takes more operations, or changes, than it may; nil: none does
}

// thread is one thread in a state.
type thread struct {
	request int // which of all; that behind its last where it is through
	at      *point
	begun   bool
	changes uint8 // of the word by others since it began
}

// state is how far all threads have come.
type state struct {
	word    uint64
	threads []thread
	results []*point // of each request; nil where it is not over
	before  []uint32 // of each request, which were over when it began
	over    uint32
	from    *state
	steps   []Step // that led here from there: one, and calls that make none
}

// Explore looks at every order of a program's operations.
func (x *explorer) Explore(p *Program) Result {
	e := &exploration{explorer: x, program: p, calls: &calls{code: x.code, byRequest: map[string]*call{}},
		seen: map[string]bool{}, alones: map[soloKey]solo{}}
	e.requests, e.first = p.requests()
	result := e.run()
	e.calls.again()
	if e.calls.unsteady != nil {
		result.Failure = &Failure{Rule: NotRepeatable, Thread: e.threadOf(e.calls.unsteady)}
		result.TooMany = nil
	}
	x.runs += e.calls.executions
	return result
}

type exploration struct {
	*explorer
	program  *Program
	requests []Request
	first    []int
	calls    *calls
	seen     map[string]bool
	alones   map[soloKey]solo
	tooMany  *Failure
}

// soloKey is a call at some point, with some word.
type soloKey struct {
	point uint32
	word  uint64
}

func (e *exploration) run() (result Result) {
	start := &state{word: e.program.Taken, results: make([]*point, len(e.requests)), before: make([]uint32,
		len(e.requests))}
	for t, first := range e.first {
		start.threads = append(start.threads, thread{request: first})
		e.settle(start, t)
	}
	defer func() { result.TooMany = e.tooMany }()
	queue := []*state{start}
	for len(queue) > 0 && e.calls.unsteady == nil {
		s := queue[0]
		queue = queue[1:]
		through := true
		for t := range s.threads {
			if s.threads[t].at == nil {
				continue
			}
			through = false
			if !e.alone(s, t) {
				return Result{Whole: true, Failure: e.waiting(s, t)}
			}
			next := e.take(s, t)
			if key := next.key(); !e.seen[key] {
				if e.states >= e.budget {
					return Result{}
				}
				e.states++
				e.seen[key] = true
				queue = append(queue, next)
			}
		}
		if through {
			if f := e.judge(s); f != nil {
				return Result{Whole: true, Failure: f}
			}
		}
	}
	return Result{Whole: true}
}

// take is the state behind the next operation of a thread.
func (e *exploration) take(s *state, t int) *state {
	next := &state{over: s.over, from: s}
	next.threads = append(next.threads, s.threads...)
	next.results = append(next.results, s.results...)
	next.before = append(next.before, s.before...)
	th := &next.threads[t]
	if !th.begun {
		th.begun, next.before[th.request] = true, s.over
	}
	op, line := th.at.op, th.at.line
	next.word = op.after(s.word)
	if next.word != s.word {
		for i := range next.threads {
			if o := &next.threads[i]; i != t && o.begun && o.changes < math.MaxUint8 {
				o.changes++
			}
		}
	}
	th.at = e.calls.after(th.at, s.word)
	next.steps = []Step{{Thread: t, Request: th.request, Op: op, Answer: s.word, Last: th.at.over, Line: line}}
	if th.at.over {
		next.steps[0].Returned = th.at.line
	}
	e.count(next, t)
	if th.at.over {
		e.end(next, t)
		e.settle(next, t)
	}
	return next
}

// end notes what a thread's call has answered, and puts the thread at its next.
func (e *exploration) end(s *state, t int) {
	th := &s.threads[t]
	s.results[th.request] = th.at
	s.over |= 1 << th.request
	*th = thread{request: th.request + 1}
}

// settle puts a thread at the next call that has an operation; those without are over at once.
func (e *exploration) settle(s *state, t int) {
	th := &s.threads[t]
	for last := e.first[t] + len(e.program.Threads[t]); th.request < last; {
		if th.at = e.calls.of(e.requests[th.request], e.program.Capacity); !th.at.over {
			return
		}
		s.before[th.request] = s.over
		s.steps = append(s.steps, Step{Thread: t, Request: th.request, Last: true, Returned: th.at.line})
		e.end(s, t)
	}
	th.at = nil
}

// alone reports whether a thread that goes on alone comes to the end of its call soon. One that changes the word again
// and again gets on, for too much; see count.
func (e *exploration) alone(s *state, t int) bool {
	p, word := s.threads[t].at, s.word
	var rest solo
	var way []soloKey
	for !p.over {
		key := soloKey{p.id, word}
		known, ok := e.alones[key]
		if rest = known; ok {
			break
		}
		if len(way) == Alone && p.changes < 2 || len(way) == endless {
			return false
		}
		way = append(way, key)
		p, word = e.calls.after(p, word), p.op.after(word)
		rest = solo{changes: p.changes}
	}
	for i, key := range way {
		e.alones[key] = solo{len(way) - i + rest.operations, rest.changes}
	}
	return len(way)+rest.operations <= Alone || rest.changes > 1
}

// solo is how many operations it takes a call to come to its end alone, and how often it has changed the word by then.
type solo struct{ operations, changes int }

// endless is how many operations a call may make that goes on changing the word.
const endless = 256

// count looks whether a call takes more than it may.
func (e *exploration) count(s *state, t int) {
	th := &s.threads[t]
	r := e.requests[th.request]
	most := free + each*int(th.changes)
	hopeless := !r.Warp && (r.Sizes[0] == 0 || r.Sizes[0] > e.program.Capacity)
	switch {
	case hopeless:
		most = 1
	case len(r.Sizes) == 0:
		most = 0
	}
	tooMany := th.at.made > most || r.Warp && th.at.changes > 1 || hopeless && th.at.changes > 0
	if tooMany && e.tooMany == nil {
		e.tooMany = &Failure{Rule: TooMany, Thread: t, Steps: s.way(), Others: int(th.changes)}
	}
}

// judge is what is wrong where all threads are through.
func (e *exploration) judge(s *state) *Failure {
	f := &Failure{Thread: -1, Steps: s.way()}
	for _, p := range s.results {
		f.Results = append(f.Results, p.offsets)
	}
	if inSomeOrder(e.program.Taken, e.program.Capacity, e.requests, f.Results, s.before, &s.word) {
		return nil
	}
	f.Rule = WrongEnd
	return f
}

// waiting is the failure of a call that does not come to its end alone.
func (e *exploration) waiting(s *state, t int) *Failure {
	f := &Failure{Rule: WaitsForThread, Thread: t, Steps: s.way()}
	p, word := s.threads[t].at, s.word
	for range Alone {
		f.Steps = append(f.Steps, Step{Thread: t, Request: s.threads[t].request, Op: p.op, Answer: word})
		p, word = e.calls.after(p, word), p.op.after(word)
		if p.over {
			break
		}
	}
	return f
}

// way is how a state came about.
func (s *state) way() (all []Step) {
	var parts [][]Step
	for ; s != nil; s = s.from {
		parts = append(parts, s.steps)
	}
	slices.Reverse(parts)
	return slices.Concat(parts...)
}

// threadOf is a thread that makes a call.
func (e *exploration) threadOf(c *call) int {
	for t, first := range e.first {
		for i := range e.program.Threads[t] {
			if e.calls.of(e.requests[first+i], e.program.Capacity).call == c {
				return t
			}
		}
	}
	return 0
}

// key is a state in bytes: what it comes to depends on nothing else.
func (s *state) key() string {
	key := binary.LittleEndian.AppendUint64(nil, s.word)
	for i := range s.threads {
		t := &s.threads[i]
		id := uint32(math.MaxUint32)
		if t.at != nil {
			id = t.at.id
		}
		key = append(binary.LittleEndian.AppendUint32(key, id), byte(t.request), t.changes)
	}
	for i, p := range s.results {
		id := uint32(math.MaxUint32)
		if p != nil {
			id = p.id
		}
		key = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(key, id), s.before[i])
	}
	return string(key)
}
