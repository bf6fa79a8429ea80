package class

import "time"

// live is what is said of a grading while it goes on.
type live struct {
	Progress
	next time.Time // when the live page is written again
}

// The live page is renewed so often, and less often where writing it takes long: it is not to take more than a fiftieth
// of the time.
const (
	liveEvery = 3 * time.Second
	liveShare = 50
)

// tell says how far the grading has come, to who asked for it and on the live page. A page that cannot be written now
// is written later.
func (g *grading) tell(p Progress) {
	g.live.Progress = p
	if g.Progress != nil && p.Done > 0 {
		g.Progress(p)
	}
	now := time.Now()
	if g.Live == nil || now.Before(g.live.next) {
		return
	}
	c := g.class()
	c.Live = &Live{Progress: p, At: now}
	for i := range c.Students {
		g.folder.findPage(&c.Students[i])
	}
	_ = g.Live(g.folder.dir, c)
	g.live.next = time.Now().Add(max(liveEvery, liveShare*time.Since(now)))
}
