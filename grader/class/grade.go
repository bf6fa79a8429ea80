package class

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	"cudalab/grader/class/policy"
	"cudalab/grader/judge/check"
)

// Grade grades a class, or goes on with it, and leaves the results in their folder. It also returns the class as far as
// it has been graded where the context was done before all were; its error is the context's then. Other errors are a
// *UsageError, those of package compile and run about the machine, or faults of cudalab's own. Submissions that could
// not be graded are no error: their Status says so.
func Grade(ctx context.Context, o Options) (class *Class, err error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	defer func() { err = fullDisk(o.Results, err) }()
	rules, err := readPolicy(o.Policy, exercises(o))
	if err != nil {
		return nil, err
	}
	o.inTurn()
	f, err := openFolder(o.Results, o.Resume || len(o.Only) > 0)
	if err != nil {
		return nil, err
	}
	defer f.close()
	in, submissions, err := open(o, f.dir, rules)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	ready, err := prepare(ctx, o, in.Submissions())
	if err != nil {
		return nil, err
	}
	j, state, err := openJournal(f.dir)
	if err != nil {
		return nil, err
	}
	defer j.close()
	if state.torn {
		o.say("The journal's last line was not whole, because cudalab was ended while it wrote it; it has been cut off.")
	}
	g := &grading{Options: o, request: ready.request, folder: f, journal: j,
		results: state.results, earlier: state.earlier, arrivals: receive(in, o.Roster), rules: rules}
	if err := g.settleHeader(state.header, ready, submissions); err != nil {
		return nil, err
	}
	g.request.Seed = g.header.Seed
	todo, err := g.todo(submissions)
	if err != nil {
		return nil, err
	}
	if err := f.begin(); err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(state.arrivals, g.arrivals) {
		if err := j.receive(g.arrivals); err != nil {
			return nil, err
		}
	}
	err = g.run(ctx, todo)
	if err == nil {
		err = g.draw(ctx, submissions)
	}
	class = g.class()
	if g.live.Progress != (Progress{}) && ctx.Err() != nil {
		class.Live = &Live{g.live.Progress, time.Now(), true}
	}
	if writeErr := f.class(class, o.Writers); err == nil {
		err = writeErr
	}
	return class, err
}

// grading is one Grade under way.
type grading struct {
	Options
	request  check.Request // of every check, but for what is a submission's own
	folder   *folder
	journal  *journal
	header   Header
	results  map[string]Student   // by ID
	earlier  map[string][]Student // see journalState
	arrivals *arrivals
	rules    *policy.Policy // that make grades of points; nil: none
	live     live
}

// settleHeader settles what all results have in common: what the journal says, or for a new one what was asked for.
func (g *grading) settleHeader(old *Header, ready *prepared, submissions []submission) error {
	now := Header{Schema: SchemaVersion, Seed: g.Seed, Device: ready.device, Versions: ready.versions,
		Exercises: exercises(g.Options),
		Shard:     g.Shard, Submissions: digestOfAll(submissions)}
	if old == nil {
		if now.Seed == 0 {
			now.Seed = 1 + rand.Uint64N(check.MaxSeed)
		}
		g.header = now
		g.say("The seed is %d.", now.Seed)
		return g.journal.begin(now)
	}
	if now.Seed == 0 {
		now.Seed = old.Seed
	}
	if now.Shard == (Shard{}) && len(g.Only) > 0 {
		now.Shard = old.Shard
	}
	if err := now.fits(*old); err != nil {
		return &UsageError{fmt.Sprintf("The results in %s cannot be gone on with: %v. Name another folder with -o to "+
			"grade anew.",
			g.Results, err)}
	}
	g.header = *old
	g.say("The seed is %d, as in the journal.", old.Seed)
	return nil
}
