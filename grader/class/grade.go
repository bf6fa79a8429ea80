package class

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"time"

	"cudalab/grader/class/intake"
	"cudalab/grader/class/policy"
	"cudalab/grader/judge/check"
)

// Grade grades a class, or goes on with it, and leaves the results in their folder. It also returns the class as far as it
// has been graded where the context was done before all were; its error is the context's then. Other errors are a
// *UsageError, those of package compile and run about the machine, or faults of cudalab's own. Submissions that could not be
// graded are no error: their Status says so.
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
	in, err := open(o, f.dir)
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
	submissions, err := g.identify(in.Submissions())
	if err != nil {
		return nil, err
	}
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

// open reads the submissions into private folders below temp.
func open(o Options, temp string) (*intake.Intake, error) {
	in, err := intake.Open(o.Submissions, packages(o), intake.Options{Temp: temp})
	if err != nil {
		return nil, &UsageError{err.Error()}
	}
	for _, note := range in.Notes() {
		o.say("%s", note)
	}
	return in, nil
}

func packages(o Options) []string {
	var names []string
	for _, e := range o.Exercises {
		names = append(names, e.Package)
	}
	return names
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

// submission is one with the digest of its files.
type submission struct {
	intake.Submission
	digest string
}

// identify gives every submission of this shard its digest.
func (g *grading) identify(all []intake.Submission) ([]submission, error) {
	var found []submission
	for i, s := range all {
		if g.Shard.Of > 0 && i%g.Shard.Of != g.Shard.Index-1 {
			continue
		}
		digest, err := digestOf(s)
		if err != nil {
			return nil, err
		}
		found = append(found, submission{s, digest})
	}
	return found, nil
}

// settleHeader settles what all results have in common: what the journal says, or for a new one what was asked for.
func (g *grading) settleHeader(old *Header, ready *prepared, submissions []submission) error {
	now := Header{Schema: SchemaVersion, Seed: g.Seed, Device: ready.device, Versions: ready.versions, Exercises: exercises(g.Options),
		Shard: g.Shard, Submissions: digestOfAll(submissions)}
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
		return &UsageError{fmt.Sprintf("The results in %s cannot be gone on with: %v. Name another folder with -o to grade anew.",
			g.Results, err)}
	}
	g.header = *old
	g.say("The seed is %d, as in the journal.", old.Seed)
	return nil
}

// class is what is known so far, in order.
func (g *grading) class() *Class {
	c := assemble(g.header, g.results, g.arrivals)
	g.grader().class(c)
	return c
}

func (g *grading) grader() grader {
	return grader{g.rules, g.folder.dir, g.header.Exercises, g.earlier}
}

func assemble(h Header, results map[string]Student, a *arrivals) *Class {
	c := &Class{Schema: SchemaVersion, Seed: h.Seed, Device: h.Device, Versions: h.Versions, Exercises: h.Exercises, Students: []Student{}}
	for _, id := range slices.Sorted(maps.Keys(results)) {
		c.Students = append(c.Students, a.identify(results[id]))
	}
	if a != nil {
		c.Attention, c.Absent = append(slices.Clone(a.Attention), a.withdrawn(results)...), a.Absent
	}
	return c
}

// writeEvery is how often everything is written anew while grading goes on.
const writeEvery = 30 * time.Second

// run grades submissions with several workers and keeps every result as it comes.
func (g *grading) run(ctx context.Context, todo []submission) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &workers{grading: g, gpus: newGPUs(g.places())}
	settled := w.start(ctx, todo, g.jobs(len(todo)))
	began, wrote := time.Now(), time.Now()
	p := Progress{Total: len(todo)}
	if len(todo) > 0 {
		g.tell(p)
	}
	var failed error
	for r := range settled {
		if failed != nil {
			continue
		}
		if failed = g.keep(r); failed != nil {
			cancel()
			continue
		}
		p.Done++
		switch {
		case r.student.Status == Errored:
			p.Errors++
		case r.student.Passed():
			p.Passed++
		}
		p.Left = time.Since(began) / time.Duration(p.Done) * time.Duration(p.Total-p.Done)
		g.tell(p)
		if time.Since(wrote) > writeEvery {
			c := g.class()
			c.Live = &Live{Progress: p, At: time.Now()}
			failed = g.folder.class(c, g.Writers)
			wrote = time.Now()
		}
	}
	return cmp.Or(failed, ctx.Err())
}

// perGPU is how many submissions share a GPU at one time. Its processes take turns, so more of them only wait for each
// other: 12 submissions took 40 s by twos, 46 s by fours and 63 s by eights on one H200 with 16 processors.
const perGPU = 2

// jobs is how many of so many submissions are graded at one time.
func (g *grading) jobs(submissions int) int {
	n := runtime.NumCPU()
	if g.header.Device.Kind == "gpu" {
		n = min(n, perGPU*len(g.places()))
	}
	return min(cmp.Or(g.Jobs, n), max(submissions, 1))
}

// places are the GPUs to use; on the simulator one without a name.
func (g *grading) places() []string {
	if g.header.Device.Kind != "gpu" {
		return []string{""}
	}
	return gpusOf(g.Options)
}

// keep writes a result where nothing can take it away. A grade is not lost to a failure to grade the same files again.
func (g *grading) keep(r settled) error {
	old := g.results[r.student.ID]
	if r.student.Status == Errored && old.Status == Graded && old.Digest == r.student.Digest {
		g.say("%s keeps the earlier result. %s", old.ID, r.student.Problem)
		return nil
	}
	if old.Status == Graded {
		g.say("%s", regraded(old, r.student))
	}
	if err := g.folder.timings(r.timings); err != nil {
		return err
	}
	if err := g.journal.settle(r.student); err != nil {
		return err
	}
	if old.ID != "" {
		g.earlier[old.ID] = append(g.earlier[old.ID], old)
	}
	g.results[r.student.ID] = r.student
	return g.folder.student(g.grader().student(g.arrivals.identify(r.student)))
}
