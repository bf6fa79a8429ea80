package child

import (
	"bytes"
	"fmt"
	"sync"
)

// extract is what is kept of one output: the start and the end of it.
type extract struct {
	limit int

	mu     sync.Mutex
	text   headTail
	mark   []byte      // where the text is to be cut; nil: nowhere
	before chan []byte // gets the text before the mark
	held   []byte      // the end of what was read, which may be the start of the mark
}

func newExtract(limit int) *extract { return &extract{limit: limit, text: newHeadTail(limit)} }

// cutAt cuts the text where the mark will appear: what was kept before it goes into the channel, and what follows it
// begins anew.
func (k *extract) cutAt(mark string) (before <-chan []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mark, k.before = []byte(mark), make(chan []byte, 1)
	return k.before
}

func (k *extract) add(b []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mark == nil {
		k.text.add(b)
		return
	}
	b = append(k.held, b...)
	if at := bytes.Index(b, k.mark); at >= 0 {
		k.text.add(b[:at])
		text, _ := k.text.bytes()
		k.before <- text
		k.text = newHeadTail(k.limit)
		k.text.add(b[at+len(k.mark):])
		k.mark, k.held = nil, nil
		return
	}
	known := max(0, len(b)-len(k.mark)+1)
	k.text.add(b[:known])
	k.held = b[known:]
}

// all is what was kept, once nothing is added any more.
func (k *extract) all() (text []byte, truncated bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.text.add(k.held)
	return k.text.bytes()
}

// headTail keeps the first and the last bytes of what is added.
type headTail struct {
	limit int    // bytes of both together; most children write few, so neither has its room before it needs it
	head  []byte // up to half the limit
	tail  []byte // up to the other half; a ring once it is as long as that
	next  int    // where the ring's oldest byte is
	total int64  // bytes added
}

func newHeadTail(limit int) headTail { return headTail{limit: limit} }

func (h *headTail) add(b []byte) {
	h.total += int64(len(b))
	last := h.limit / 2
	n := min(len(b), h.limit-last-len(h.head))
	h.head, b = append(h.head, b[:n]...), b[n:]
	if over := len(b) - last; over > 0 {
		b = b[over:]
	}
	n = min(len(b), last-len(h.tail))
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
