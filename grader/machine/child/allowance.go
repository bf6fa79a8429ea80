package child

import "time"

// Allowance is time that a child may take for one thing. Its own time is what the machine gives it, which is CPU time,
// and what it does not ask for, sleeping in all its threads. When it is ready to run and others have the CPU, or waits
// for a disk, that is the machine's time. So code that loops, and code that waits for what never comes, use an
// allowance up on a busy machine as surely as on a quiet one, and code that is only slow there does not.
//
// Where a child's CPU time cannot be seen, which is everywhere but on Linux, all time counts as its own.
type Allowance struct {
	Own  time.Duration // of the child's own; beyond it, Quit(TooLong)
	Wall time.Duration // in all; beyond it, Quit(TooBusy)
}

// The reasons for which an allowance ends a child.
const (
	TooLong Reason = "own time" // beyond Allowance.Own
	TooBusy Reason = "machine"  // beyond Allowance.Wall, before Own was used up
)

// observed is the time after which it is looked at what a child does with its time: only few ever take as long.
const observed = time.Second

// account is an allowance in force.
type account struct {
	Allowance
	began time.Time
	first time.Duration // the CPU time at that moment; negative: not known yet
	slept time.Duration
	seen  time.Time     // the last look
	cpu   time.Duration // the CPU time then
}

// Allow gives the child an allowance from now on, in place of the one before, until stop is called.
func (p *Process) Allow(a Allowance) (stop func()) {
	now := time.Now()
	mine := &account{Allowance: a, began: now, first: -1, seen: now}
	p.mu.Lock()
	p.account = mine
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.account == mine {
			p.account = nil
		}
	}
}

// charge counts the time until now; it gives the reason to end the child, if there is one.
func (a *account) charge(now time.Time, u usage, asleep func() bool) Reason {
	passed := now.Sub(a.began)
	own := passed
	if measured {
		if a.first < 0 {
			a.first, a.cpu = u.cpu, u.cpu
		}
		// Whoever looks seldom, because the machine leaves it no time either, cannot tell what was in between.
		if passed > observed && asleep() && u.cpu == a.cpu {
			a.slept += min(now.Sub(a.seen), 5*pollInterval)
		}
		own = u.cpu - a.first + a.slept
	}
	a.seen, a.cpu = now, u.cpu
	switch {
	case own > a.Own:
		return TooLong
	case a.Wall > 0 && passed > a.Wall:
		return TooBusy
	}
	return ""
}
