package sim

import "math"

// demand is what an operation asks of the device while it runs. The zero demand is an operation that only orders.
type demand struct {
	latency int64 // from the call to the earliest start
	lead    int64 // duration of what comes first and takes nothing of the device
	length  int64 // duration of the rest, where all that it needs is to be had
	needs   [3]need
}

// none reports whether the operation only orders.
func (w *demand) none() bool { return w.lead+w.length == 0 }

// need is an amount of a resource; none where the resource is nil. With less the operation is in proportion slower, but
// what it has comes in whole grains: the slots of a block, all of a copy engine.
type need struct {
	resource      *timeline
	amount, grain int64
}

// schedule decides when an operation that is ready at a time runs, books what it uses and answers its end. At any time
// it runs as fast as what is left of the device allows: where half of a kernel's blocks have room, half as fast, as if
// the others came after them. What was enqueued before it keeps what it has.
func (d *Device) schedule(ready int64, w demand) int64 {
	at, left := ready+w.lead, min(w.length, d.longest)
	for {
		speed, until := w.speed(at)
		end := speed.end(at, left)
		if end <= until {
			w.book(d.now, at, end, speed)
			return end
		}
		w.book(d.now, at, until, speed)
		left -= speed.progress(until - at)
		if at = until; left == 0 && w.length > 0 {
			return at
		}
	}
}

// ratio is a fraction of full speed.
type ratio struct{ part, whole int64 }

// speed is how fast an operation can run at a time, and until when that holds.
func (w *demand) speed(at int64) (slowest ratio, until int64) {
	slowest, until = ratio{1, 1}, math.MaxInt64
	for _, n := range w.needs {
		if n.resource == nil {
			continue
		}
		free, change := n.resource.free(at)
		until = min(until, change)
		if part := free - free%n.grain; part < n.amount && part*slowest.whole < slowest.part*n.amount {
			slowest = ratio{part, n.amount}
		}
	}
	return slowest, until
}

// book takes what an operation uses that runs at a speed, in whole grains, and forgets what lies before now.
func (w *demand) book(now, from, to int64, speed ratio) {
	if from == to || speed.part == 0 {
		return
	}
	for _, n := range w.needs {
		if n.resource == nil {
			continue
		}
		grains := (n.amount*speed.part + speed.whole*n.grain - 1) / (speed.whole * n.grain)
		n.resource.book(from, to, grains*n.grain)
		n.resource.forget(now)
	}
}

// end is when so much work ends that begins at a time: never, at no speed.
func (r ratio) end(at, work int64) int64 {
	switch r.part {
	case 0:
		return math.MaxInt64
	case r.whole:
		return at + work
	}
	return at + int64(scale(uint64(work), uint64(r.whole), uint64(r.part))) + 1 // rounded up: all of it is done by then
}

// progress is how much work is done in a time.
func (r ratio) progress(time int64) int64 {
	return int64(scale(uint64(time), uint64(r.part), uint64(r.whole)))
}
