// Package timeline makes of a trace what a picture of it shows: the calls, when the device carried each out, which
// waits for which, how long memory lived, and where the faults are. grader/report/page draws it, grader/report/chrome
// writes it for Perfetto.
package timeline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

// Timeline is one case's trace.
type Timeline struct {
	Case    string
	Trace   *trace.Trace
	Streams []Stream // that were used, in the order in which they were made; the default stream is the last
	Calls   []Call   // in the order in which they were made
	Waits   []Wait
	Blocks  []Block
	Levels  []Level // of the pools, in the order of time
	Faults  []Fault
	Scenes  []Scene
}

// Stream is a row of the device's.
type Stream struct {
	ID   trace.ID
	Name string // the grader's, "streams[0]", or "stream 3"
}

// Call is one call, whether or not it waited.
type Call struct {
	Record   int // index into Trace.Records; of a call that was recorded entering and leaving, the entering
	Op       trace.Op
	Name     string // "process", "MallocAsync"
	Stream   trace.ID
	InStream bool // the call names a stream, or is of an event in one
	Work     bool // the device works on it in its stream: an allocation, copy, memset, kernel or free
	Time     int64
	Took     int64 // nanoseconds on the host's clock
	// Start and End are when the device began and ended it, on the same clock. Where that was not measured they are the
	// time of the call, and Measured is not set. An event's record and wait are placed where their stream was by then.
	Start, End int64
	Measured   bool
	Size       int64
	Alloc      trace.ID
	Event      trace.ID
	Code       int32
	Faked      bool
	Places     []verdict.Place // in the student's code, innermost first; none: the grader's own call
}

// Wait is an edge that the program has: from an event's record to a wait for it. Both are indices into Calls.
type Wait struct{ From, To int }

// Fault is a finding's place in the timeline.
type Fault struct {
	Rule    string
	Remark  bool
	Message string
	At      int // index into Calls of the call at fault
	// Other is the call that nothing orders At behind, an index into Calls; -1 where the fault is none of order.
	Other int
}

// Scene is a part of the timeline in which the code under test was called once.
type Scene struct {
	Label    string // what it was called for: "5 batches on 2 streams"
	From, To int    // its calls, as a range of indices into Calls
	Faults   []int  // those in it, as indices into Faults
	// Overlap is how long the device worked for the code under test in more than one stream at once, in nanoseconds.
	Overlap int64
}

// New reads the timeline of a case from what it left behind. Place is as in suite.Evidence.
func New(notes *verdict.CaseNotes, place func(trace.Site) []verdict.Place) *Timeline {
	t, at := begin(notes, place)
	t.memory(at)
	t.faults(at)
	t.scenes(notes, at)
	return t
}

// OfRace reads only what Runs needs.
func OfRace(notes *verdict.CaseNotes, place func(trace.Site) []verdict.Place) *Timeline {
	t, _ := begin(notes, place)
	return t
}

// begin reads the calls and the waits.
func begin(notes *verdict.CaseNotes, place func(trace.Site) []verdict.Place) (t *Timeline, at []int) {
	if place == nil {
		place = func(trace.Site) []verdict.Place { return nil }
	}
	t = &Timeline{Case: notes.ID, Trace: notes.Trace}
	at = t.calls(place)
	t.edges()
	return t, at
}

// StreamName is what a stream is called.
func (t *Timeline) StreamName(id trace.ID) string {
	for _, s := range t.Streams {
		if s.ID == id {
			return s.Name
		}
	}
	return "stream " + strconv.Itoa(int(id))
}

// Title is a call as a sentence's subject: "process on streams[0]".
func (t *Timeline) Title(c *Call) string {
	if !c.InStream {
		return c.Name
	}
	return c.Name + " on " + t.StreamName(c.Stream)
}

// calls fills in the calls and the streams. It returns the index into Calls of each record, -1 for one that is no call.
func (t *Timeline) calls(place func(trace.Site) []verdict.Place) []int {
	at := make([]int, len(t.Trace.Records))
	seen := map[trace.ID]bool{}
	names := map[trace.ID]string{0: "default stream"}
	places := map[uint32][]verdict.Place{} // by site: thousands of calls come from a few
	t.Calls = make([]Call, 0, len(t.Trace.Records))
	for i := range t.Trace.Records {
		r := &t.Trace.Records[i]
		at[i] = -1
		switch {
		case r.Op == trace.OpStreamCreate && r.Label != "":
			names[r.Stream] = r.Label
		case r.Op == trace.OpStreamCreate:
			names[r.Stream] = "stream " + strconv.Itoa(int(r.Stream))
		}
		if r.Phase == trace.Leave {
			at[i] = at[r.Pair]
			t.Calls[at[i]].leave(r)
			continue
		}
		if r.Site == 0 || r.Op == trace.OpMark { // nobody's call
			continue
		}
		c := newCall(i, r)
		if _, known := places[r.Site]; !known {
			places[r.Site] = place(t.Trace.SiteOf(r))
		}
		c.Places = places[r.Site]
		at[i] = len(t.Calls)
		t.Calls = append(t.Calls, c)
		if c.InStream && !seen[c.Stream] {
			seen[c.Stream] = true
			t.Streams = append(t.Streams, Stream{ID: c.Stream})
		}
	}
	slices.SortFunc(t.Streams, func(a, b Stream) int { return cmp.Compare(a.ID-1, b.ID-1) }) // 0 becomes the largest
	for i := range t.Streams {
		t.Streams[i].Name = names[t.Streams[i].ID]
	}
	return at
}

func newCall(i int, r *trace.Record) Call {
	c := Call{
		Record: i, Op: r.Op, Name: r.Op.String(), Stream: r.Stream, Work: r.Op.InStream(),
		Time: r.Time, Took: r.Took, Start: r.Time, End: r.Time + r.Took,
		Size: r.Size, Alloc: r.Alloc, Event: r.Event, Code: r.Code, Faked: r.Faked,
	}
	if r.Op == trace.OpLaunch {
		c.Name = r.Kernel
	}
	c.InStream = c.Work || r.Op == trace.OpEventRecord || r.Op == trace.OpStreamWaitEvent
	if r.End != 0 {
		c.Start, c.End, c.Measured = r.Start, r.End, true
	}
	return c
}

// leave completes a call by the record of leaving it.
func (c *Call) leave(r *trace.Record) {
	c.Took, c.Code, c.Alloc, c.End = r.Took, r.Code, r.Alloc, c.Time+r.Took
	if r.End != 0 {
		c.Start, c.End, c.Measured = r.Start, r.End, true
	}
}

// edges finds the waits, and places records and waits where their streams were by then.
func (t *Timeline) edges() {
	ends := map[trace.ID]int64{}
	recorded := map[trace.ID]int{} // the last record of each event
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Code != 0 || !c.InStream {
			continue
		}
		switch c.Op {
		case trace.OpEventRecord:
			c.Start = max(c.Time, ends[c.Stream])
			c.End = c.Start
			recorded[c.Event] = i
		case trace.OpStreamWaitEvent:
			c.Start = max(c.Time, ends[c.Stream])
			if from, ok := recorded[c.Event]; ok {
				c.Start = max(c.Start, t.Calls[from].End)
				t.Waits = append(t.Waits, Wait{from, i})
			}
			c.End = c.Start
		default:
			// The device's times are rounded, to some nanoseconds behind tens of milliseconds: the order is the stream's.
			c.Start = max(c.Start, ends[c.Stream])
			c.End = max(c.End, c.Start)
		}
		ends[c.Stream] = max(ends[c.Stream], c.End)
	}
}

// Line is where in the student's code the call was made: "asyncpipeline.go:44", "" for one of the grader's.
func (c *Call) Line() string {
	if len(c.Places) == 0 {
		return ""
	}
	p := c.Places[0]
	return p.File[strings.LastIndexAny(p.File, `/\`)+1:] + ":" + strconv.Itoa(p.Line)
}
