//go:build !js

package child

import (
	"os"
	"time"
)

// pipe carries one output of a child.
type pipe struct {
	*extract
	read, write *os.File
	copied      chan struct{} // closed when the last writer has closed its end, or read was closed
}

func openPipe(limit int) (*pipe, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	widen(read)
	return &pipe{extract: newExtract(limit), read: read, write: write, copied: make(chan struct{})}, nil
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
	return p.all()
}

// Pipe is a pipe between this process and a child: one end goes into the child's Command.ExtraFiles.
func Pipe() (read, write *os.File, err error) { return os.Pipe() }
