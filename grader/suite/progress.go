package suite

import "cudalab/native/trace"

// marks say, for some streams, up to which record their work is meant.
type marks map[trace.ID]int

func (m marks) join(other marks) {
	for stream, at := range other {
		m[stream] = max(m[stream], at)
	}
}

// Progress follows which work the host has waited for, for questions about what is no access to memory; those the
// order checker answers.
type Progress struct {
	work   marks              // the last operation in each stream
	behind map[trace.ID]marks // what a stream has been made to wait for
	events map[trace.ID]marks // what an event stands for
	host   marks              // what the host has waited for
}

// Take takes in one successful call.
func (p *Progress) Take(at int, r *trace.Record) {
	if p.work == nil {
		p.work, p.host = marks{}, marks{}
		p.behind, p.events = map[trace.ID]marks{}, map[trace.ID]marks{}
	}
	switch r.Op {
	case trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpFreeAsync, trace.OpLaunch, trace.OpMemsetAsync,
		trace.OpMemcpyHtoDAsync, trace.OpMemcpyDtoHAsync, trace.OpMemcpyDtoDAsync:
		p.work[r.Stream] = at
	case trace.OpEventRecord:
		p.events[r.Event] = p.in(r.Stream)
	case trace.OpStreamWaitEvent:
		behind := p.in(r.Stream)
		behind.join(p.events[r.Event])
		p.behind[r.Stream] = behind
	case trace.OpStreamSynchronize, trace.OpStreamQuery:
		p.host.join(p.in(r.Stream))
	case trace.OpEventSynchronize, trace.OpEventQuery:
		p.host.join(p.events[r.Event])
	case trace.OpDeviceSynchronize:
		p.host.join(p.work)
	}
}

// in is the work that ends before what a stream is given next.
func (p *Progress) in(stream trace.ID) marks {
	m := marks{}
	m.join(p.behind[stream])
	if at, ok := p.work[stream]; ok {
		m.join(marks{stream: at})
	}
	return m
}

// Settled reports whether the host has waited for all work.
func (p *Progress) Settled() bool {
	for stream, at := range p.work {
		if waited, ok := p.host[stream]; !ok || waited < at {
			return false
		}
	}
	return true
}
