package interleave

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cudalab/exercises/contract"
	"cudalab/grader/suite/returned"
	"cudalab/grader/suite/verdict"
	"cudalab/kernels/oracle"
)

// Number is a number as a person says it: those near a large power of two by that.
func Number(n uint64) string {
	const near = 4096
	if n > math.MaxUint64-near {
		return fmt.Sprintf("2^64-%d", -n)
	}
	for k := 63; k >= 31; k-- {
		power := uint64(1) << k
		switch {
		case n == power:
			return fmt.Sprintf("2^%d", k)
		case n > power && n-power < near:
			return fmt.Sprintf("2^%d+%d", k, n-power)
		case n < power && power-n < near:
			return fmt.Sprintf("2^%d-%d", k, power-n)
		}
	}
	return fmt.Sprint(n)
}

// most is how many of a row of things are said.
const most = 8

func list(all []uint64, say func(uint64) string) string {
	var words []string
	for i, n := range all {
		if i == most {
			words = append(words, "…")
			break
		}
		words = append(words, say(n))
	}
	return strings.Join(words, ", ")
}

// String is what is asked for: "16", or "[16 32 16]" for a warp.
func (r Request) String() string {
	if r.Warp {
		return "[" + strings.ReplaceAll(list(r.Sizes, Number), ",", "") + "]"
	}
	return Number(r.Sizes[0])
}

// Label is a program in words: "2 threads want 16 and 32 of 64 bytes".
func (p Program) Label() string {
	var threads []string
	for _, thread := range p.Threads {
		var requests []string
		for _, r := range thread {
			requests = append(requests, r.String())
		}
		words := strings.Join(requests, ", then ")
		if len(requests) > 1 && len(p.Threads) > 1 {
			words = "(" + words + ")"
		}
		threads = append(threads, words)
	}
	who := fmt.Sprintf("%d threads want", len(threads))
	if len(threads) == 1 {
		who = "one thread wants"
	}
	label := fmt.Sprintf("%s %s of %s bytes", who, strings.Join(threads, " and "), Number(p.Capacity))
	if p.Taken > 0 {
		label += fmt.Sprintf(", %s of them taken", Number(p.Taken))
	}
	return label
}

func (o Op) String() string {
	switch o.Kind {
	case Load:
		return "Load()"
	case Add:
		if back := -o.Value; back < o.Value {
			return fmt.Sprintf("Add(-%s)", Number(back))
		}
		return fmt.Sprintf("Add(%s)", Number(o.Value))
	}
	return fmt.Sprintf("CompareAndSwap(%s, %s)", Number(o.Compare), Number(o.Value))
}

// picture is an order in lines: who does what, and how many bytes are taken then.
func (p *Program) picture(f *Failure, h *followed) string {
	requests, _ := p.requests()
	var b strings.Builder
	fmt.Fprintf(&b, "%s bytes, of which %s are taken.\n", Number(p.Capacity), Number(p.Taken))
	step := 0
	for i, s := range f.Steps {
		if h.begun[s.Request] == i {
			fmt.Fprintf(&b, "      thread %d asks for %s\n", s.Thread+1, requests[s.Request])
		}
		if s.Op.Kind != 0 {
			step++
			line := fmt.Sprintf("%4d  thread %d  %s = %s", step, s.Thread+1, s.Op, Number(s.Answer))
			fmt.Fprintf(&b, "%-60s taken %s\n", line, Number(h.words[i]))
		}
		if s.Last && f.Results != nil {
			fmt.Fprintf(&b, "      thread %d gets %s\n", s.Thread+1, list(f.Results[s.Request], offset))
		}
	}
	return b.String()
}

func offset(n uint64) string {
	switch n {
	case contract.NoRoom:
		return "nothing"
	case poison:
		return "no answer"
	}
	return Number(n)
}

// steps is how many operations there are.
func (f *Failure) steps() (n int) {
	for _, s := range f.Steps {
		if s.Op.Kind != 0 {
			n++
		}
	}
	return n
}

// Finding is a failure as a student reads it; it is not ok where the failure could not come of the program.
func (p *Program) Finding(f *Failure) (found verdict.Finding, ok bool) {
	h, ok := p.follow(f.Steps)
	requests, _ := p.requests()
	if !ok || f.Thread >= len(p.Threads) || f.Rule != NotRepeatable && len(f.Steps) == 0 {
		return found, false
	}
	s := sentence{program: p, requests: requests, failure: f, followed: &h}
	warp := slices.ContainsFunc(requests, func(r Request) bool { return r.Warp })
	switch f.Rule {
	case NotRepeatable:
		s.notRepeatable()
	case WaitsForThread, TooMany:
		if f.Thread < 0 {
			return found, false
		}
		last := f.Steps[len(f.Steps)-1].Request
		warp = requests[last].Warp
		if f.Rule == TooMany {
			s.tooMany(last)
		} else {
			s.waits(last)
		}
		s.look(fault{})
	case WrongEnd:
		if slices.Contains(h.over, -1) || len(f.Results) != len(requests) ||
			inSomeOrder(p.Taken, p.Capacity, requests, f.Results, h.before, &h.word) {
			return found, false
		}
		fault := p.faultOf(f, &h)
		if fault.rule != LeftBehind && fault.rule != NotInARow {
			warp = requests[fault.first.request].Warp || fault.rule == Overlap && !fault.start &&
				requests[fault.other.request].Warp
		}
		s.wrongEnd(fault)
		s.look(fault)
	default:
		return found, false
	}
	found = s.finding
	found.Severity, found.Record, found.Function = verdict.Error, -1, "Alloc"
	if warp {
		found.Function = "AllocWarp"
	}
	if len(f.Steps) > 0 {
		found.Picture, found.Threads = p.picture(f, &h), p.threads(f, &h)
	}
	return found, true
}

// sentence puts a failure into words.
type sentence struct {
	program  *Program
	requests []Request
	failure  *Failure
	followed *followed
	finding  verdict.Finding
}

// order begins a message: "Where 2 threads want 16 and 16 of 64 bytes, in this order of 4 steps, ".
func (s *sentence) order() string {
	when := fmt.Sprintf("in this order of %d steps, ", s.failure.steps())
	switch {
	case len(s.program.Threads) == 1 || s.failure.steps() == 0:
		when = ""
	case s.failure.steps() == 1:
		when = "with this one step, "
	}
	return fmt.Sprintf("Where %s, %s", s.program.Label(), when)
}

// who is a block's owner: "thread 2", "lane 3 of thread 1"; where there is only one thread "its request for 16", or
// "it".
func (s *sentence) who(g granted) string {
	thread := 0
	for _, step := range s.failure.Steps {
		if step.Request == g.request {
			thread = step.Thread
		}
	}
	single := len(s.program.Threads) == 1
	switch warp := s.requests[g.request].Warp; {
	case single && warp:
		return fmt.Sprintf("lane %d", g.lane)
	case single && len(s.requests) > 1:
		return "its request for " + Number(g.size)
	case single:
		return "it"
	case warp:
		return fmt.Sprintf("lane %d of thread %d", g.lane, thread+1)
	}
	return fmt.Sprintf("thread %d", thread+1)
}

// span is a block's bytes: "0..31".
func span(g granted) string {
	end, _ := g.end()
	return fmt.Sprintf("%s..%s", Number(g.offset), Number(end-1))
}

func (s *sentence) wrongEnd(f fault) {
	g := f.first
	say := func(rule, message, why, fix string) {
		s.finding = verdict.Finding{Rule: rule, Message: s.order() + message, Why: why, Fix: fix}
	}
	between := "Between two operations any other thread's may come: what was read before is old news."
	compare := "Take the bytes with the operation that looks whether they fit: CompareAndSwap with the number of taken " +
		"bytes that you have looked at."
	forward := "Let w change in one operation, from a value that you have looked at to the next, and never back: " +
		"CompareAndSwap does it, and says if somebody else was first."
	if len(s.program.Threads) == 1 {
		between = "A block takes its size rounded up to a multiple of 16, and the next one begins behind that."
		compare = "Look whether the rounded size fits into what is left, capacity-taken, and move w by the rounded size."
		forward = compare
	}
	const (
		overRun = "Sums of unsigned numbers go on at 0 beyond 2^64, so a huge size comes out as a small one, and seems " +
			"to fit."
	)
	switch f.rule {
	case OffsetMissing:
		say(f.rule, fmt.Sprintf("offsets[%d] should be set, but AllocWarp left it as it was.", g.lane),
			"What stands there before the call is garbage, which a lane would take for its block.",
			"Set offsets[i] for every lane: to where its block begins, or to contract.NoRoom.")
	case EmptyBlock:
		say(f.rule, fmt.Sprintf("%s should be refused, since it asks for 0 bytes, but it got a block at %s.", s.who(g),
			Number(g.offset)), "A block without bytes has the same address as the next one, so nobody could tell the two apart.",
			"Refuse a size of 0 before anything else, without an operation on w.")
	case wrapped:
		say(f.rule, fmt.Sprintf("%s should be refused, since %s bytes do not fit, but it got a block at %s.", s.who(g),
			Number(g.size), Number(g.offset)), overRun, "Compare size with capacity before you round it, and the rounded size "+
			"with capacity-taken, which cannot run over.")
	case Unaligned:
		say(f.rule, fmt.Sprintf("every block should begin at a multiple of 16, but that of %s begins at %s.", s.who(g),
			Number(g.offset)), "Threads write words of up to 16 bytes, and a word that does not lie at a multiple of its size "+
			"is a misaligned address, which ends the program.",
			"Round every size up to a multiple of 16 before it is added: (size + 15) &^ 15.")
	case BeyondEnd:
		end, _ := g.end()
		say(f.rule, fmt.Sprintf("%s got %s, but the memory ends at %s: %s bytes of it are somebody else's.", s.who(g),
			span(g), Number(s.program.Capacity-1), Number(end-s.program.Capacity)), between, compare)
	case Overlap:
		message := fmt.Sprintf("%s got %s and %s got %s: both have byte %s.", s.who(f.first), span(f.first), s.who(f.other),
			span(f.other), Number(max(f.first.offset, f.other.offset)))
		if f.start {
			message = fmt.Sprintf("%s got %s, but %s bytes were taken before.", s.who(g), span(g), Number(s.program.Taken))
		}
		say(f.rule, message, between, forward)
	case RoomLost:
		message := fmt.Sprintf("%s should have got its %s bytes, since they fit even in the end, but was refused: %s of %s "+
			"bytes are somebody's.", s.who(g),
			Number(g.size), Number(f.taken), Number(s.program.Capacity))
		if !oracle.BumpFits(f.taken, s.program.Capacity, g.size) {
			message = fmt.Sprintf("%s should have got its %s bytes, since they still fitted then, but was refused.", s.who(g),
				Number(g.size))
		}
		say(f.rule, message,
			"Room that is refused while it is free is lost: the thread does without, and cannot know that it need not.",
			"Refuse only if the rounded size is more than capacity less what is taken, and have nobody take, not even for a "+
				"moment, what does not fit. A CompareAndSwap that finds another value says that somebody was first, and not that "+
				"there is no room.")
	case LeftBehind:
		say(f.rule, fmt.Sprintf("%s bytes should be taken in the end, those that somebody got, but the word says %s.",
			Number(f.taken), Number(s.followed.word)), "Nobody has these bytes, and nobody can give them back: the next "+
			"request is refused for want of them.",
			"Change w for a block that fits and for no other, and by its rounded size.")
	default:
		say(f.rule, "the answers should be those of one call behind the other, in some order, but they are not: something "+
			"came in between.",
			"The lanes of a warp count on lying side by side, and a call that was over counts for all that begin later.",
			"Take all that a call takes with one change of w.")
	}
}

// look is where a request was refused, or else the last operation that was made.
func (s *sentence) look(f fault) {
	for _, step := range s.failure.Steps {
		switch {
		case f.rule == RoomLost && step.Request == f.first.request && step.Returned > 0:
			s.finding.Look = verdict.Look{Got: "NoRoom", Return: returned.Lines{int32(step.Returned)}}
			return
		case step.Line > 0:
			s.finding.Look.Line = step.Line
		}
	}
}

func (s *sentence) notRepeatable() {
	s.finding = verdict.Finding{Rule: NotRepeatable,
		Message: fmt.Sprintf("Where %s, a call should do the same whenever w answers the same, but it did another thing "+
			"when it was made again.", s.program.Label()),
		Why: "Threads of a kernel share memory that everybody can see, such as w, and keep nothing else from one call to " +
			"the next.",
		Fix: "Let everything that a call does follow from its arguments and from what w answers: no variables outside of " +
			"the function."}
}

func (s *sentence) waits(request int) {
	thread := s.failure.Thread
	s.finding = verdict.Finding{Rule: WaitsForThread,
		Message: fmt.Sprintf("Where %s, thread %d is left alone in this order and should be done within %d operations, but "+
			"it is not: it waits for another thread.",
			s.program.Label(), thread+1, Alone),
		Why: "Threads of a warp run in step, and a thread that waits for one of its own warp may keep that from ever " +
			"going on.",
		Fix: "Hold no lock. Where somebody else was first, go on with what they left: CompareAndSwap answers it."}
	if s.requests[request].Warp {
		s.finding.Fix = "Hold no lock. Where somebody else was first, place all lanes anew behind what they left: " +
			"CompareAndSwap answers it."
	}
}

func (s *sentence) tooMany(request int) {
	made, changes := 0, 0
	for i, step := range s.failure.Steps {
		if step.Request != request || step.Op.Kind == 0 {
			continue
		}
		made++
		if s.followed.words[i] != step.Answer {
			changes++
		}
	}
	r, who := s.requests[request], fmt.Sprintf("the call of thread %d", s.failure.Thread+1)
	if len(s.program.Threads) == 1 {
		who = "its call"
	}
	f := verdict.Finding{Rule: TooMany,
		Why: "All threads wait for each other at the word: an operation on it that is not needed is one that everybody " +
			"pays for.",
		Fix: "Load once, and go on with what CompareAndSwap answers: that is what is taken now."}
	switch {
	case len(r.Sizes) == 0:
		f.Message = fmt.Sprintf("%s%s has no lanes and should make no operation, but made %s.", s.order(), who,
			verdict.Count(made, "operation", "operations"))
		f.Fix = "Return at once where there are no lanes."
	case r.Warp && changes > 1:
		f.Message = fmt.Sprintf("%s%s of AllocWarp should change w once, but did it %d times by then.", s.order(), who,
			changes)
		f.Fix = "Place all lanes first, in variables, and take the bytes of all of them with one CompareAndSwap."
	case !r.Warp && !oracle.BumpFits(0, s.program.Capacity, r.Sizes[0]):
		f.Message = fmt.Sprintf("%s%s cannot be granted and should make 1 operation at most, and no change, but made %s "+
			"and %s.", s.order(), who,
			verdict.Count(made, "operation", "operations"), verdict.Count(changes, "change", "changes"))
		f.Fix = "Look at size before the first operation."
	default:
		f.Message = fmt.Sprintf("%s%s should make %d operations at most, since others changed w %s meanwhile, but made %d.",
			s.order(), who, free+each*s.failure.Others, times(s.failure.Others), made)
	}
	s.finding = f
}

func times(n int) string {
	switch n {
	case 0:
		return "not once"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
