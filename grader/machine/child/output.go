package child

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"
)

// pipe carries one output of a child and keeps the start and the end of it.
type pipe struct {
	read, write *os.File
	limit       int
	copied      chan struct{} // closed when the last writer has closed its end, or read was closed

	mu     sync.Mutex
	text   headTail
	mark   []byte      // where the text is to be cut; nil: nowhere
	before chan []byte // gets the text before the mark
	held   []byte      // the end of what was read, which may be the start of the mark
}

func openPipe(limit int) (*pipe, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	widen(read)
	return &pipe{read: read, write: write, limit: limit, text: newHeadTail(limit), copied: make(chan struct{})}, nil
}

// discard closes a pipe that no child got.
func (p *pipe) discard() {
	p.read.Close()
	p.write.Close()
}

// keep begins to read, once the child has its end. Output beyond the limit is still read, so that the child never
// blocks on a full pipe.
func (p *pipe) keep() {
	p.write.Close()
	go func() {
		defer close(p.copied)
		buffer := make([]byte, 256<<10)
		for {
			n, err := p.read.Read(buffer)
			p.add(buffer[:n])
			if err != nil {
				return
			}
		}
	}()
}

// cutAt cuts the text where the mark will appear: what was kept before it goes into the channel, and what follows it
// begins anew.
func (p *pipe) cutAt(mark string) (before <-chan []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mark, p.before = []byte(mark), make(chan []byte, 1)
	return p.before
}

func (p *pipe) add(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mark == nil {
		p.text.add(b)
		return
	}
	b = append(p.held, b...)
	if at := bytes.Index(b, p.mark); at >= 0 {
		p.text.add(b[:at])
		text, _ := p.text.bytes()
		p.before <- text
		p.text = newHeadTail(p.limit)
		p.text.add(b[at+len(p.mark):])
		p.mark, p.held = nil, nil
		return
	}
	known := max(0, len(b)-len(p.mark)+1)
	p.text.add(b[:known])
	p.held = b[known:]
}

// finish waits for the end of the output, until the deadline at most, and returns what was kept of it.
func (p *pipe) finish(deadline time.Time) (text []byte, truncated bool) {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-p.copied:
	case <-timer.C:
	}
	p.read.Close() // ends a read that is still waiting
	<-p.copied
	p.text.add(p.held)
	return p.text.bytes()
}

// headTail keeps the first and the last bytes of what is added.
type headTail struct {
	head  []byte // up to its capacity
	tail  []byte // a ring once it is as long as its capacity
	next  int    // where the ring's oldest byte is
	total int64  // bytes added
}

func newHeadTail(limit int) headTail {
	return headTail{head: make([]byte, 0, limit-limit/2), tail: make([]byte, 0, limit/2)}
}

func (h *headTail) add(b []byte) {
	h.total += int64(len(b))
	n := min(len(b), cap(h.head)-len(h.head))
	h.head, b = append(h.head, b[:n]...), b[n:]
	if over := len(b) - cap(h.tail); over > 0 {
		b = b[over:]
	}
	n = min(len(b), cap(h.tail)-len(h.tail))
	h.tail, b = append(h.tail, b[:n]...), b[n:]
	for len(b) > 0 {
		n = copy(h.tail[h.next:], b)
		h.next, b = (h.next+n)%len(h.tail), b[n:]
	}
}

func (h *headTail) bytes() (text []byte, truncated bool) {
	missing := h.total - int64(len(h.head)) - int64(len(h.tail))
	text = append(text, h.head...)
	if missing > 0 {
		text = fmt.Appendf(text, "\n[%d bytes of output left out]\n", missing)
	}
	text = append(text, h.tail[h.next:]...)
	return append(text, h.tail[:h.next]...), missing > 0
}
