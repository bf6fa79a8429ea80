package tracker

import "cudalab/grader/suite/sequence"

// eventKind is what happened within an operation.
type eventKind int64

// What may happen, and the numbers that tell of it.
const (
	eventAsk       eventKind = iota + 1 // inner was asked for a block: the size, the Err, the address
	eventGive                           // inner was given a block back: the address, the Err
	eventFull                           // the function of OnFull was called: the size, what it does
	eventAlloc                          // it calls Alloc: the size, the tag
	eventAllocated                      // and got: the Err, the address, whether the error is inner's last
	eventFree                           // it calls Free: the address
	eventFreed                          // and got: the Err, nothing, whether the error is inner's last
	eventOnFull                         // it calls OnFull: what the next function does
	eventReport                         // it calls Report
	eventSaid                           // it returns: 1 for true
	eventSame                           // the operation is over: 1 where its error is inner's last
	eventCensus                         // the device was asked what its memory holds: a value, how many bytes have it
)

// eventSize is how many numbers an event has.
const eventSize = 4

// event is one of them.
type event struct {
	kind    eventKind
	a, b, c int64
}

// mostEvents is how many are noted of an operation: more than any right tracker has in one.
const mostEvents = 4096

func (u *user) note(k eventKind, a, b, c int64) {
	if len(u.events) < mostEvents*eventSize {
		u.events = append(u.events, int64(k), a, b, c)
	}
}

// log is what happened within an operation, as it was noted, to be taken off from the front. A runner may send
// anything.
type log struct {
	events  []int64
	memory  uint64 // where it begins
	reports reader
}

func newLog(stats []int64) *log {
	r := reader{left: stats}
	n := r.count(eventSize)
	l := &log{events: r.take(n * eventSize), memory: uint64(r.next())}
	l.reports = r
	return l
}

// next is the event that comes next; its kind is 0 behind the last.
func (l *log) next() event {
	if len(l.events) < eventSize {
		return event{}
	}
	return event{eventKind(l.events[0]), l.events[1], l.events[2], l.events[3]}
}

// skip takes the next event off.
func (l *log) skip() event {
	e := l.next()
	l.events = l.events[min(eventSize, len(l.events)):]
	return e
}

// reply is what a call of the tracker's came back with.
type reply struct {
	err  sequence.Err
	addr uint64
	same bool // the error is the last that inner answered
	says string
}

// within is the reply to a call of OnFull's function, which is the next event.
func within(e event) reply {
	r := reply{err: sequence.Err(e.a), addr: uint64(e.b), same: e.c == 1}
	r.says = r.err.String()
	return r
}

// reader takes numbers off what was noted; behind the end it reads zeros.
type reader struct{ left []int64 }

func (r *reader) next() int64 {
	if len(r.left) == 0 {
		return 0
	}
	v := r.left[0]
	r.left = r.left[1:]
	return v
}

// count is a number of things to follow, each of so many numbers.
func (r *reader) count(size int) int { return int(min(max(r.next(), 0), int64(len(r.left)/size))) }

func (r *reader) take(n int) []int64 {
	taken := r.left[:n]
	r.left = r.left[n:]
	return taken
}
