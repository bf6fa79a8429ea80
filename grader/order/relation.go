package order

import "cudalab/native/trace"

// Relation is the happens-before relation of a trace, as Check goes by: for questions about what has to wait for what,
// whether or not the calls touch the same memory.
type Relation struct {
	records []trace.Record
	places  []mark // by record; no place where the call did nothing
}

// Of is the relation of t's calls.
func Of(t *trace.Trace) *Relation {
	r := &Relation{t.Records, make([]mark, len(t.Records))}
	c := newChecker(t)
	c.follow(func(i int, done *trace.Record) {
		if done.Code == 0 {
			r.places[i] = c.placeOf(i)
		}
	})
	return r
}

// placeOf is where the i-th record's call stands, now that it was made: in a stream, or on the host.
func (c *checker) placeOf(i int) mark {
	r := &c.words.t.Records[i]
	if inStream(r) {
		return c.queues.next(r.Stream, i).mark()
	}
	if q := c.queues.streams[r.Stream]; q != nil && q.last == position(i) {
		return q.mark()
	}
	return mark{stamp{hostID, position(i)}, c.queues.host.clock}
}

// Before reports whether what record i has done is over before what record j does begins, whatever CUDA does as late as
// it may. What is enqueued is done in its stream, everything else by the host, which has a query's answer. A call that
// may wait has two records: that of its entering is what it does, and what is before that of its leaving is over when
// it returns. A call that was refused does nothing, which is before nothing and after nothing.
func (r *Relation) Before(i, j int) bool {
	if i < 0 || i >= j || j >= len(r.places) {
		return false
	}
	first, then := r.places[i], r.places[j]
	if first.pos == 0 || then.pos == 0 {
		return false
	}
	return first.stream == then.stream || first.stream == hostID || then.clock.position(first.stream) >= first.pos
}

// Wait is the call that makes record j come after record i: of those in j's stream and of the host's, the first that
// does. It is -1 where nothing does, and where no call needs to, since both are in one stream or i is the host's.
func (r *Relation) Wait(i, j int) int {
	if !r.Before(i, j) || r.places[i].stream == r.places[j].stream || r.places[i].stream == hostID {
		return -1
	}
	for at := i + 1; at < j; at++ {
		if s := r.places[at].stream; (s == r.places[j].stream || s == hostID) && r.Before(i, at) {
			return at
		}
	}
	return j
}
