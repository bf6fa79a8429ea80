package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"cudalab/native/device"
	"cudalab/native/trace"
)

// traceLine is a line of a trace file. Zero fields are left out.
type traceLine struct {
	Exercise string        `json:"exercise"`
	Case     string        `json:"case"`
	Record   int           `json:"record"` // counted from 0 within the case
	Call     string        `json:"call"`   // "cuda.MallocAsync", "launch process", "mark"
	Phase    string        `json:"phase,omitempty"`
	Stream   *trace.ID     `json:"stream,omitempty"`
	Event    trace.ID      `json:"event,omitempty"`
	Pool     trace.ID      `json:"pool,omitempty"` // left out for the default pool, which is 0
	Attr     int32         `json:"attribute,omitempty"`
	Value    uint64        `json:"value,omitempty"`
	Alloc    trace.ID      `json:"alloc,omitempty"`
	Address  string        `json:"address,omitempty"`
	Size     int64         `json:"size,omitempty"`
	Answer   string        `json:"answer,omitempty"`
	Injected bool          `json:"injected,omitempty"`
	Label    string        `json:"label,omitempty"`
	Accesses []traceAccess `json:"accesses,omitempty"`
	Time     int64         `json:"time_ns"`
	Took     int64         `json:"took_ns,omitempty"`
	At       string        `json:"at,omitempty"`
	Stack    []string      `json:"stack,omitempty"`
}

type traceAccess struct {
	Kind   string   `json:"kind"`
	Alloc  trace.ID `json:"alloc"`
	Offset int64    `json:"offset"`
	Size   int64    `json:"size"`
}

// Trace writes the records of one case, each as one line of JSON. Name turns the files in call stacks into what the
// student calls them.
func Trace(w io.Writer, exercise, caseID string, t *trace.Trace, name func(file string) string) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range t.Records {
		l := lineOf(t, &t.Records[i], name)
		l.Exercise, l.Case, l.Record = exercise, caseID, i
		if err := e.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

func lineOf(t *trace.Trace, r *trace.Record, name func(file string) string) traceLine {
	l := traceLine{
		Call: "cuda." + r.Op.String(), Event: r.Event, Pool: r.Pool, Attr: r.Attr, Value: r.Value, Alloc: r.Alloc,
		Size: r.Size, Injected: r.Faked, Label: r.Label, Time: r.Time, Took: r.Took,
	}
	switch r.Op {
	case trace.OpLaunch:
		l.Call = "launch " + r.Kernel
	case trace.OpMark, trace.OpDeviceInfo:
		l.Call = r.Op.String()
	}
	if onStream(r) {
		l.Stream = &r.Stream
	}
	if r.Addr != 0 {
		l.Address = fmt.Sprintf("%#x", r.Addr)
	}
	switch r.Phase {
	case trace.Enter:
		l.Phase = "enter"
	case trace.Leave:
		l.Phase = "leave"
	}
	if r.Op != trace.OpMark && r.Phase != trace.Enter {
		l.Answer = device.Code(r.Code).String()
	}
	for _, a := range r.Accesses {
		l.Accesses = append(l.Accesses, traceAccess{Kind: accessKinds[a.Kind], Alloc: a.Alloc, Offset: a.Offset, Size: a.Size})
	}
	for i, f := range t.SiteOf(r) {
		if strings.HasPrefix(f.Func, "cudalab/grader/runner.") {
			break // from here on it is the same for every call
		}
		at := place(name(f.File), f.Line)
		if i == 0 {
			l.At = at
			continue
		}
		l.Stack = append(l.Stack, at)
	}
	return l
}

var accessKinds = map[trace.AccessKind]string{trace.Read: "read", trace.Write: "write", trace.Atomic: "atomic"}

// onStream reports whether a record's call names a stream; 0 is the legacy default stream.
func onStream(r *trace.Record) bool {
	switch r.Op {
	case trace.OpStreamCreate, trace.OpStreamDestroy, trace.OpStreamSynchronize, trace.OpStreamQuery, trace.OpStreamWaitEvent,
		trace.OpEventRecord, trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpFreeAsync, trace.OpMemcpyHtoD,
		trace.OpMemcpyDtoH, trace.OpMemcpyDtoD, trace.OpMemcpyHtoDAsync, trace.OpMemcpyDtoHAsync, trace.OpMemcpyDtoDAsync,
		trace.OpMemset, trace.OpMemsetAsync, trace.OpLaunch:
		return true
	}
	return false
}
