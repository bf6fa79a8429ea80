package suite

import (
	"cudalab/grader/suite/verdict"
)

// record has each contender run once with the trace on, behind a run that fills the pool, for a picture: nothing is
// judged by it, and no time is noted.
func (b *Bench) record(t Timing, contenders []Contender) {
	t.Span = UntilIdle
	for range t.Warm {
		for i := range contenders {
			if _, _, ok := b.sample(&contenders[i], t); !ok {
				return
			}
		}
	}
	for _, c := range contenders {
		run := c.Run
		c.Repeat = 0
		c.Run = func() error {
			b.Session.Mark(verdict.MarkBegan + c.Name)
			err := run()
			b.Session.Mark(verdict.MarkReturned + c.Name)
			return err
		}
		ok := false
		b.Session.Traced(func() {
			_, _, ok = b.sample(&c, t)
			b.Session.Mark(verdict.MarkRested + c.Name)
			if ok && c.Check != nil {
				c.Check()
			}
		})
		if !ok {
			return
		}
	}
}
