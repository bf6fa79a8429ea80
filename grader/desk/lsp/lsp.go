// Package lsp is a language server for the exercises: an editor shows the findings of a check at their lines, whenever
// a file is saved. It speaks the Language Server Protocol, version 3.17
// (https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/), over two streams: the
// part of it that findings need.
//
//   - A check runs when a file of an exercise is opened or saved. The next save ends a check that is running.
//   - Diagnostics are the report's notices: errors, remarks as warnings, and the gap to be filled next as information.
//   - Hovering over one says why CUDA has the rule, and what mends it.
//   - Code actions there give the next hint, look for the line where one change is enough, and open the page with the
//     picture of what went wrong.
//
// Other files than an exercise's are met with silence: editors give every Go file to a server that wants Go files.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
)

// Options are what the server is given to work with.
type Options struct {
	// Open is the course at a folder; an error says that there is none.
	Open func(root string) (*course.Course, error)
	// Check checks an exercise as the student has saved it. It calls preparing where that takes long, the first time on a
	// machine. Again says that it passes, and should be checked once more, with workloads that it has not failed on
	// before.
	Check func(ctx context.Context, c *course.Course, e course.Exercise, preparing func()) (r verdict.Report, again bool)
	// Picture checks it once more for its page, and writes that to a file.
	Picture func(ctx context.Context, c *course.Course, e course.Exercise, r verdict.Report) (file string, err error)
	// Why looks for the cause of a failure, and says one step more each time.
	Why func(ctx context.Context, c *course.Course, e course.Exercise) (text string, err error)
	// Parent is the process of the client, as the command line names it; 0: initialize does, or nobody.
	Parent int
}

// ErrGone is the error of Run where the client ended without taking its leave.
var ErrGone = errors.New("the client ended without shutting the server down")

// Run serves one client, until it leaves, its process is gone, or ctx is done. It is nil where the client has left as
// the protocol says: shutdown, then exit.
func Run(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	ctx, end := context.WithCancel(ctx)
	s := &server{Options: o, ctx: ctx, out: out, later: make(chan func(), 16), courses: map[string]*course.Course{},
		exercises: map[string]*exercise{}, uris: map[string]string{}, asked: map[int]func(*incoming){},
		working: map[string]context.CancelFunc{}}
	defer s.wait()
	defer end()
	s.watchParent(o.Parent)
	type read struct {
		content []byte
		err     error
	}
	messages := make(chan read)
	go func() {
		for f := newFrames(in); ; {
			content, err := f.next()
			select {
			case messages <- read{content, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for !s.left {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case f := <-s.later:
			f()
		case m := <-messages:
			if m.err != nil && !errors.Is(m.err, io.EOF) {
				return m.err
			}
			if m.err != nil {
				s.left = true
				break
			}
			s.take(m.content)
		}
		if s.broken != nil {
			return fmt.Errorf("the client does not read any more: %w", s.broken)
		}
	}
	if s.state != shutDown {
		return ErrGone
	}
	return nil
}

// state is how far a client has come.
type state int

const (
	uninitialized state = iota
	running
	shutDown
)

// server serves one client. All but what is handed to goroutines happens in Run, one thing after the other.
type server struct {
	Options
	ctx    context.Context
	out    io.Writer
	broken error // why nothing more can be written
	state  state
	left   bool
	client initializeParams

	later   chan func()                   // what goroutines have Run do
	pending int                           // goroutines that will use later
	asked   map[int]func(*incoming)       // what is done with the client's responses, by the request's ID
	lastID  int                           // of the server's requests
	working map[string]context.CancelFunc // the client's requests that are being carried out, by their IDs
	parent  bool                          // the client's process is watched

	courses   map[string]*course.Course // by root; nil for a folder that is none
	exercises map[string]*exercise      // by folder
	uris      map[string]string         // as the client names its files, by path
	queue     []*exercise               // to be checked, the next first
	checking  *checking                 // the check that is running; nil for none
	told      string                    // the last trouble that the client was told of
}

// apart carries work out beside Run, and has Run go on with what it returns. A panic there is Run's.
func (s *server) apart(work func() (then func())) {
	s.pending++
	go func() {
		then := func() {}
		defer func() {
			if v := recover(); v != nil {
				stack := debug.Stack()
				then = func() { panic(fmt.Sprintf("%v\n\n%s", v, stack)) }
			}
			s.later <- func() { s.pending--; then() }
		}()
		then = work()
	}()
}

// wait lets what was begun come to its end: it may have started other programs.
func (s *server) wait() {
	for s.pending > 0 {
		select {
		case f := <-s.later:
			f()
		case <-time.After(10 * time.Second):
			return
		}
	}
}

// send writes a message. Once that has failed nothing more is written.
func (s *server) send(m any) {
	if s.broken != nil || s.left {
		return
	}
	content, err := json.Marshal(m)
	if err == nil {
		err = writeFrame(s.out, content)
	}
	s.broken = err
}

func (s *server) notify(method string, params any) {
	s.send(outgoing{Version: "2.0", Method: method, Params: params})
}

// ask sends a request and has the response dealt with.
func (s *server) ask(method string, params any, then func(*incoming)) {
	s.lastID++
	s.asked[s.lastID] = then
	s.send(outgoing{Version: "2.0", ID: s.lastID, Method: method, Params: params})
}

// say shows a message to the student.
func (s *server) say(kind int, text string) {
	s.notify("window/showMessage", showMessageParams{kind, text})
}

// note writes into the client's log.
func (s *server) note(text string) {
	s.notify("window/logMessage", showMessageParams{messageInfo, text})
}

// watchParent ends the server when the client's process does: a client that crashes may leave its end of the pipe to
// others.
func (s *server) watchParent(pid int) {
	if pid <= 0 || s.parent {
		return
	}
	s.parent = true
	go func() {
		for alive(pid) {
			select {
			case <-s.ctx.Done():
				return
			case <-time.After(parentPoll):
			}
		}
		select {
		case s.later <- func() { s.left = true }:
		case <-s.ctx.Done():
		}
	}()
}

const parentPoll = time.Second
