// Package chrome writes timelines in the Chrome trace event format, which Perfetto (https://ui.perfetto.dev) and
// chrome://tracing open. The fields are those of the "Trace Event Format" document of the Chromium project: each case
// is a process, the host and each stream a thread of it.
package chrome

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"cudalab/grader/report/timeline"
	"cudalab/native/device"
	"cudalab/native/trace"
)

// event is one entry of the format. Times are microseconds.
type event struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	Time  float64        `json:"ts"`
	Dur   *float64       `json:"dur,omitempty"` // of "X"
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	ID    int            `json:"id,omitempty"` // of "s" and "f": what makes them one flow
	Bind  string         `json:"bp,omitempty"` // of "f": "e", the slice around it
	Scope string         `json:"s,omitempty"`  // of "i": "t", its thread
	Args  map[string]any `json:"args,omitempty"`
}

// hostThread is the thread of the host's calls; a case's n-th stream is thread n+1.
const hostThread = 0

// File is a trace file in the making.
type File struct {
	events []event
	cases  int
	flows  int
}

// Add appends one case of an exercise.
func (f *File) Add(exercise string, t *timeline.Timeline) {
	f.cases++
	p := &process{file: f, t: t, pid: f.cases, threads: map[trace.ID]int{}}
	p.describe(exercise)
	for i := range t.Calls {
		p.call(i)
	}
	for _, w := range t.Waits {
		from, to := &t.Calls[w.From], &t.Calls[w.To]
		p.flow("wait for event", "event", from.End, p.threads[from.Stream], to.Start, p.threads[to.Stream])
	}
	p.memory()
	for _, fault := range t.Faults {
		p.fault(fault)
	}
}

// Write writes the file: what processes and threads are called first, then all that has a time, in its order.
func (f *File) Write(w io.Writer) error {
	slices.SortStableFunc(f.events, func(a, b event) int {
		if meta := cmp.Compare(rank(a), rank(b)); meta != 0 {
			return meta
		}
		// Of slices that begin together the longer is the outer one.
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(length(b), length(a)))
	})
	if _, err := io.WriteString(w, `{"displayTimeUnit":"ns","traceEvents":[`+"\n"); err != nil {
		return err
	}
	separator := ""
	for _, e := range f.events { // each in a line of its own, for those who search the file
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s", separator, line); err != nil {
			return err
		}
		separator = ",\n"
	}
	_, err := io.WriteString(w, "\n]}\n")
	return err
}

func rank(e event) int {
	if e.Phase == "M" {
		return 0
	}
	return 1
}

func length(e event) float64 {
	if e.Dur == nil {
		return 0
	}
	return *e.Dur
}

// process is one case.
type process struct {
	file    *File
	t       *timeline.Timeline
	pid     int
	threads map[trace.ID]int
}

func (p *process) add(e event) {
	e.PID = p.pid
	p.file.events = append(p.file.events, e)
}

func (p *process) describe(exercise string) {
	meta := func(what string, thread int, args map[string]any) {
		p.add(event{Name: what, Phase: "M", TID: thread, Args: args})
	}
	meta("process_name", hostThread, map[string]any{"name": exercise + ": " + p.t.Case})
	meta("process_sort_index", hostThread, map[string]any{"sort_index": p.pid})
	meta("thread_name", hostThread, map[string]any{"name": "host"})
	meta("thread_sort_index", hostThread, map[string]any{"sort_index": hostThread})
	for i, s := range p.t.Streams {
		p.threads[s.ID] = i + 1
		meta("thread_name", i+1, map[string]any{"name": s.Name})
		meta("thread_sort_index", i+1, map[string]any{"sort_index": i + 1})
	}
}

// call is the call itself on the host and, if it is work for a stream, what became of it there.
func (p *process) call(i int) {
	c := &p.t.Calls[i]
	args := p.args(c)
	p.slice(name(c), "host", hostThread, c.Time, c.Took, args)
	if !c.InStream || c.Code != 0 {
		return
	}
	thread := p.threads[c.Stream]
	switch {
	case c.Work && c.Measured:
		p.slice(c.Name, "device", thread, c.Start, c.End-c.Start, args)
		p.flow("enqueued", "enqueue", c.Time, hostThread, c.Start, thread)
	case !c.Work:
		p.slice(c.Name, "event", thread, c.Start, 0, args)
	}
}

func name(c *timeline.Call) string {
	switch c.Op {
	case trace.OpLaunch:
		return "launch " + c.Name
	case trace.OpDeviceInfo:
		return c.Name
	}
	return "cuda." + c.Name
}

func (p *process) slice(name, category string, thread int, from, took int64, args map[string]any) {
	dur := micros(took)
	p.add(event{Name: name, Cat: category, Phase: "X", TID: thread, Time: micros(from), Dur: &dur, Args: args})
}

// flow draws an arrow from one slice to another.
func (p *process) flow(name, category string, from int64, fromThread int, to int64, toThread int) {
	p.file.flows++
	id := p.file.flows
	p.add(event{Name: name, Cat: category, Phase: "s", ID: id, TID: fromThread, Time: micros(from)})
	p.add(event{Name: name, Cat: category, Phase: "f", Bind: "e", ID: id, TID: toThread, Time: micros(max(from, to))})
}

// args are what the record says beside its times.
func (p *process) args(c *timeline.Call) map[string]any {
	r := p.t.Trace.Records[c.Record]
	args := map[string]any{"record": c.Record, "answer": device.Code(c.Code).String()}
	put := func(name string, value any, present bool) {
		if present {
			args[name] = value
		}
	}
	put("stream", p.t.StreamName(c.Stream), c.InStream)
	put("event", r.Event, r.Event != 0)
	put("pool", r.Pool, r.Pool != 0)
	put("attribute", r.Attr, r.Attr != 0)
	put("value", r.Value, r.Value != 0)
	put("allocation", c.Alloc, c.Alloc != 0)
	put("address", fmt.Sprintf("%#x", r.Addr), r.Addr != 0)
	put("bytes", c.Size, c.Size != 0)
	put("injected", true, c.Faked)
	put("by", "the grader", len(c.Places) == 0)
	if len(c.Places) > 0 {
		stack := make([]string, len(c.Places))
		for i, at := range c.Places {
			stack[i] = fmt.Sprintf("%s:%d", at.File, at.Line)
		}
		args["at"] = stack
	}
	if len(r.Accesses) > 0 {
		touches := make([]map[string]any, len(r.Accesses))
		for i, a := range r.Accesses {
			touches[i] = map[string]any{"kind": accessKinds[a.Kind], "allocation": a.Alloc, "offset": a.Offset, "bytes": a.Size}
		}
		args["touches"] = touches
	}
	return args
}

var accessKinds = map[trace.AccessKind]string{trace.Read: "read", trace.Write: "write", trace.Atomic: "atomic"}

// memory counts the bytes allocated by the program, and what the pools said of themselves.
func (p *process) memory() {
	type change struct{ at, bytes int64 }
	var changes []change
	for _, b := range p.t.Blocks {
		if b.Kind != timeline.DeviceMemory {
			continue
		}
		changes = append(changes, change{b.From, b.Size})
		if b.Freed >= 0 {
			changes = append(changes, change{b.Until, -b.Size})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var total int64
	for _, c := range changes {
		total += c.bytes
		p.counter("allocated device memory", c.at, "bytes", total)
	}
	for _, l := range p.t.Levels {
		pool := "default pool"
		if l.Pool != 0 {
			pool = fmt.Sprintf("pool %d", l.Pool)
		}
		if l.Reserved {
			p.counter(pool+", reserved", l.Time, "bytes", int64(l.Bytes))
		} else {
			p.counter(pool+", used", l.Time, "bytes", int64(l.Bytes))
		}
	}
}

func (p *process) counter(name string, at int64, series string, value int64) {
	p.add(event{Name: name, Phase: "C", Time: micros(at), Args: map[string]any{series: value}})
}

// fault is a finding, at the call that it is about.
func (p *process) fault(f timeline.Fault) {
	c := &p.t.Calls[f.At]
	e := event{Name: f.Rule, Cat: "finding", Phase: "i", Scope: "t", TID: hostThread, Time: micros(c.Time),
		Args: map[string]any{"message": f.Message}}
	if c.InStream && c.Code == 0 {
		e.TID, e.Time = p.threads[c.Stream], micros(c.Start)
	}
	if f.Other >= 0 {
		e.Args["unordered with"] = p.t.Title(&p.t.Calls[f.Other])
	}
	if line := c.Line(); line != "" {
		e.Args["at"] = line
	}
	p.add(e)
}

func micros(nanos int64) float64 { return float64(nanos) / 1e3 }
