package child

import (
	"sync"
	"time"
)

// pollInterval is how often it is looked at what a child takes.
const pollInterval = 20 * time.Millisecond

// Process is a running child.
type Process struct {
	system

	mu       sync.Mutex
	reason   Reason        // why it has to stop, once somebody said so
	stopping chan struct{} // closed when reason is set
	account  *account      // of the allowance in force; nil: none

	gone   chan struct{} // closed when the child has ended
	done   chan struct{} // closed when result is there
	result Result
}

func newProcess(s system) *Process {
	return &Process{system: s, stopping: make(chan struct{}), gone: make(chan struct{}), done: make(chan struct{})}
}

// Wait waits for the child's end. It may be called more than once.
func (p *Process) Wait() Result {
	<-p.done
	return p.result
}

// Cut divides the child's outputs: ask has the child write the mark, which nothing else that it writes may contain, on
// both. What was kept before the mark is returned, and what follows counts as if the child had begun there. Where the
// child ends instead, what it wrote without a mark behind is in Wait's result.
func (p *Process) Cut(mark string, ask func() error) (stdout, stderr []byte) {
	out, err := p.stdout.cutAt(mark), p.stderr.cutAt(mark)
	_ = ask() // a child that cannot be asked is about to end
	return p.before(out), p.before(err)
}

// before waits for the text before a mark, or for the end.
func (p *Process) before(mark <-chan []byte) []byte {
	select {
	case text := <-mark:
		return text
	case <-p.done:
	}
	select {
	case text := <-mark:
		return text
	default:
		return nil
	}
}

// Done is closed when Wait would not wait.
func (p *Process) Done() <-chan struct{} { return p.done }

// Quit makes the child stop, with its grace, and returns at once. The first reason given is the one that Wait
// reports; a child that has ended already keeps its own.
func (p *Process) Quit(reason Reason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gone:
		return
	default:
	}
	if p.reason == "" {
		p.reason = reason
		close(p.stopping)
	}
}
