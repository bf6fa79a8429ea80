// Package wire is the language that cudalab and a runner speak over two pipes. cudalab asks for one case at a time; the
// runner answers with what the case noted, each note a frame: a kind, a length, a payload. A frame that was cut off,
// is too long or makes no sense is an error to the reader and can never pass for a result.
package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"cudalab/grader/suite/verdict"
	"cudalab/native/codec"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

// Version is the first thing a runner says; both sides are built from one tree and must agree.
const Version = 12

// MaxFrame is the longest frame in bytes: a trace of a million records fits.
const MaxFrame = 256 << 20

// promised is for how many bytes of a frame there is memory before they have come.
const promised = 1 << 20

// messageKind tells frames apart.
type messageKind byte

// What a runner says. Hello once; then per case any number of notes, the trace of an untimed case, and Done or Fault.
const (
	kindHello   messageKind = 'H'
	kindOutcome messageKind = 'O'
	kindValue   messageKind = 'V'
	kindSample  messageKind = 'S'
	KindTrace   messageKind = 'T'
	kindDone    messageKind = 'D'
	kindFault   messageKind = 'F'
	kindSetup   messageKind = 'P' // cudalab's requests
	kindCase    messageKind = 'C'
	kindMark    messageKind = 'M'
)

// Setup is the first thing that cudalab says, before the runner greets. The student's code cannot see it: it comes over
// the pipe, and not in the environment.
type Setup struct {
	Profile *sim.Profile // of every simulated device; nil: the built-in one
}

// Hello is the runner's greeting.
type Hello struct {
	Version int
	Device  verdict.Device // the device that is used; empty if there is none
	Problem string         // why the device that was asked for, or the first choice, cannot be had; "" where it can
}

// Value is what a case noted under one name: one number, or several in a row.
type Value struct {
	Name   string
	Values []uint64
}

// Sample is one measured time of a timed case.
type Sample struct {
	Series      string
	Nanoseconds int64
}

// Fault ends a case that could not be carried through.
type Fault struct {
	Message    string
	DeviceLost bool // the student's code left the device unusable; otherwise the fault is ours
	// Taken is the call by which the student's code has destroyed what was lent to it, and Site where that was; "" where
	// none has.
	Taken string
	Site  trace.Site
}

// Request asks a runner for a case. The seed travels with it, so that nothing in the runner's environment gives it
// away.
type Request struct {
	Exercise string // as on the command line; see Numbered
	Case     string
	Attempt  int
	From     int // the case's Call to begin with
	Seed     uint64
	Times    bool // the trace is to hold the times of operations on the device: for a picture, not to be judged by
	Given    bool // the trace is to hold what it takes to carry its calls out again
	// Program is the one to carry out, of those that the code under test is, and Steps and Calls how many of them it may
	// make; 0: as many as any code.
	Program, Steps, Calls int
	Translation           string // for Bench.Translation
}

// Numbered is what an exercise's program is asked for by, where several programs of one share a runner; number 0 is of
// the only one.
func Numbered(exercise string, number int) string {
	if number == 0 {
		return exercise
	}
	return fmt.Sprintf("%s %d", exercise, number)
}

// Mark asks a runner to write Text on both its outputs, so that cudalab sees where one exercise's output ends. There is
// no answer.
type Mark struct{ Text string }

// Message is any of the structs above, a verdict.Outcome, a *trace.Trace, or Done.
type Message any

// Done ends a case that ran to its end.
type Done struct{}

// Writer sends messages.
type Writer struct {
	out   io.Writer
	w     codec.Writer
	frame []byte // the last one: its memory serves the next
}

// NewWriter writes to out, one Write per message.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Send writes one message.
func (w *Writer) Send(m Message) error {
	w.w.Reset()
	var kind messageKind
	switch m := m.(type) {
	case Hello:
		kind = kindHello
		w.w.Uint(uint64(m.Version))
		w.w.String(m.Device.Kind)
		w.w.String(m.Device.Name)
		w.w.String(m.Device.Driver)
		w.w.String(m.Problem)
	case verdict.Outcome:
		kind = kindOutcome
		w.w.String(m.Label)
		w.w.String(m.Err)
		w.w.String(m.Gap)
		w.w.Bool(m.Besides)
		w.w.Bool(m.Argument)
		w.w.String(m.Odd.Rule)
		w.w.String(m.Odd.What)
		w.w.String(m.Panic)
		w.w.String(m.Before)
		w.w.Bool(m.Runaway)
		for _, n := range []uint64{m.Excess.Asked, m.Excess.Held, m.Excess.Quota, uint64(m.Excess.Record)} {
			w.w.Uint(n)
		}
		for _, line := range m.Returned {
			w.w.Uint(uint64(line))
		}
		w.site(m.Stack)
	case Value:
		kind = kindValue
		w.w.String(m.Name)
		w.w.Uint(uint64(len(m.Values)))
		for _, v := range m.Values {
			w.w.Uint(v)
		}
	case Sample:
		kind = kindSample
		w.w.String(m.Series)
		w.w.Int(m.Nanoseconds)
	case *trace.Trace:
		kind = KindTrace
		m.Encode(&w.w)
	case Done:
		kind = kindDone
	case Fault:
		kind = kindFault
		w.w.String(m.Message)
		w.w.Bool(m.DeviceLost)
		w.w.String(m.Taken)
		w.site(m.Site)
	case Setup:
		kind = kindSetup
		w.w.Bool(m.Profile != nil)
		if m.Profile != nil {
			m.Profile.Encode(&w.w)
		}
	case Request:
		kind = kindCase
		w.w.String(m.Exercise)
		w.w.String(m.Case)
		w.w.Uint(uint64(m.Attempt))
		w.w.Uint(uint64(m.From))
		w.w.Uint(m.Seed)
		w.w.Bool(m.Times)
		w.w.Bool(m.Given)
		w.w.Uint(uint64(m.Program))
		w.w.Uint(uint64(m.Steps))
		w.w.Uint(uint64(m.Calls))
		w.w.String(m.Translation)
	case Mark:
		kind = kindMark
		w.w.String(m.Text)
	default:
		return fmt.Errorf("wire: no frame for %T", m)
	}
	payload := w.w.Bytes()
	w.frame = append(w.frame[:0], byte(kind))
	w.frame = binary.AppendUvarint(w.frame, uint64(len(payload)))
	w.frame = append(w.frame, payload...)
	_, err := w.out.Write(w.frame)
	return err
}

// site adds a call stack to the frame.
func (w *Writer) site(s trace.Site) { (&trace.Trace{Sites: []trace.Site{s}}).Encode(&w.w) }

// Reader receives messages.
type Reader struct {
	in      *bufio.Reader
	known   codec.Strings
	payload bytes.Buffer // the last one: its memory serves the next, unless it was longer than promised
}

// NewReader reads from in.
func NewReader(in io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(in, 1<<16)} }

// Next reads one message. It answers io.EOF between messages where the other side has closed the pipe, and
// an error that says so where the pipe broke or carried something else.
func (r *Reader) Next() (Message, error) {
	kind, err := r.in.ReadByte()
	if err != nil {
		return nil, err
	}
	n, err := binary.ReadUvarint(r.in)
	if err != nil {
		return nil, cut(err)
	}
	if n > MaxFrame {
		return nil, fmt.Errorf("wire: a frame of %d bytes", n)
	}
	if r.payload.Cap() > promised {
		r.payload = bytes.Buffer{}
	}
	r.payload.Reset()
	r.payload.Grow(int(min(n, promised)))
	if _, err := io.CopyN(&r.payload, r.in, int64(n)); err != nil {
		return nil, cut(err)
	}
	fields := codec.NewReader(r.payload.Bytes())
	fields.Share(&r.known)
	return decode(messageKind(kind), fields)
}

func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func decode(kind messageKind, r *codec.Reader) (Message, error) {
	var m Message
	switch kind {
	case kindHello:
		m = Hello{Version: int(r.Uint()), Device: verdict.Device{Kind: r.String(), Name: r.String(), Driver: r.String()},
			Problem: r.String()}
	case kindOutcome:
		o := verdict.Outcome{Label: r.String(), Err: r.String(), Gap: r.String(), Besides: r.Bool(), Argument: r.Bool(),
			Odd: verdict.Odd{Rule: r.String(), What: r.String()}, Panic: r.String(), Before: r.String(), Runaway: r.Bool(),
			Excess: session.Excess{Asked: r.Uint(), Held: r.Uint(), Quota: r.Uint(), Record: int(r.Uint())}}
		for i := range o.Returned {
			o.Returned[i] = int32(r.Uint())
		}
		var err error
		if o.Stack, err = site(r); err != nil {
			return nil, fmt.Errorf("wire: outcome: %w", err)
		}
		m = o
	case kindValue:
		v := Value{Name: r.String(), Values: make([]uint64, r.Len(1))}
		for i := range v.Values {
			v.Values[i] = r.Uint()
		}
		m = v
	case kindSample:
		m = Sample{Series: r.String(), Nanoseconds: r.Int()}
	case KindTrace:
		t, err := trace.Decode(r)
		if err != nil {
			return nil, err
		}
		m = t
	case kindDone:
		m = Done{}
	case kindFault:
		f := Fault{Message: r.String(), DeviceLost: r.Bool(), Taken: r.String()}
		var err error
		if f.Site, err = site(r); err != nil {
			return nil, fmt.Errorf("wire: fault: %w", err)
		}
		m = f
	case kindSetup:
		var s Setup
		if r.Bool() {
			s.Profile = sim.DecodeProfile(r)
		}
		m = s
	case kindCase:
		m = Request{Exercise: r.String(), Case: r.String(), Attempt: int(r.Uint()), From: int(r.Uint()),
			Seed: r.Uint(), Times: r.Bool(), Given: r.Bool(), Program: int(r.Uint()), Steps: int(r.Uint()),
			Calls: int(r.Uint()), Translation: r.String()}
	case kindMark:
		m = Mark{Text: r.String()}
	default:
		return nil, fmt.Errorf("wire: a frame of unknown kind %q", byte(kind))
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("wire: frame %q: %w", byte(kind), err)
	}
	if !r.Empty() {
		return nil, fmt.Errorf("wire: frame %q is longer than its fields", byte(kind))
	}
	return m, nil
}

// site is a call stack as Writer.site adds one.
func site(r *codec.Reader) (trace.Site, error) {
	t, err := trace.Decode(r)
	if err != nil || len(t.Sites) != 1 {
		return nil, codec.ErrDamaged
	}
	return t.Sites[0], nil
}
