package mend

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/compile"
	"cudalab/grader/judge/run"
	"cudalab/grader/suite/verdict"
)

// steps is how many steps a candidate may make in a case.
const steps = 40_000_000

// trials try candidates.
type trials struct {
	s         *Search
	folder    string
	leave     func()        // gives the folder up
	reference *run.Evidence // the solution's; nil where there is none
	cases     []string      // that decide
	before    run.Trial     // what the code does in them as it is
	whole     bool          // nothing fails in them, or by chance
	anew      bool          // as run.Trials has it
	built     *compile.Result
	known     run.Code
	waiting   int // candidates that have waited in vain
	program   *program
}

func (s *Search) newTrials(ctx context.Context) (*trials, error) {
	t := &trials{s: s}
	var err error
	if t.folder, t.leave, err = compile.Workplace(s.Root, "why"); err != nil {
		return nil, err
	}
	if s.solution == nil {
		return t, nil
	}
	e := s.Code[0].Exercise
	built, known, err := (check.Code{Exercise: e, Dir: filepath.Join(s.Root, e.SolutionFolder())}).Stepwise(ctx, s.Course)
	if err == nil {
		runner := run.NewRunner(built.Binary, s.options(s.Result.Report.Seed))
		t.reference, err = (&run.Trials{Runner: runner, Code: known}).Evidence(ctx, 0, s.target.needs, s.target.check.ID)
		runner.Close()
		built.Close()
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *trials) close() {
	t.give()
	t.leave()
}

// give gives the program up.
func (t *trials) give() {
	if t.built != nil {
		t.built.Close()
		t.built = nil
	}
}

// passing are those of some candidates with which the check passes, and no other check fails that has passed.
func (t *trials) passing(ctx context.Context, all []*candidate, before int) (found []*Edit, err error) {
	numbers := map[*candidate]int{}
	for i, c := range all {
		numbers[c] = before + i + 1
	}
	t.give()
	p, written, err := write(t.s.code, t.imports(), append([]*candidate{}, all...))
	if err != nil || len(written) == 0 {
		return nil, err
	}
	for _, c := range written {
		c.compiles = true
	}
	t.program = p
	if err := t.build(ctx); err != nil {
		return nil, err
	}
	if len(t.cases) == 0 {
		if err := t.decide(ctx); err != nil {
			return nil, err
		}
	}
	if t.whole {
		return nil, nil
	}
	passed, waited := make([]bool, len(written)), make([]bool, len(written))
	var waiting atomic.Int64
	err = t.each(ctx, t.s.Result.Report.Seed, len(written), func(r *run.Trials, i int) error {
		if t.waiting+int(waiting.Load()) >= mostWaiting {
			return nil
		}
		trial, err := r.Cases(ctx, written[i].number, t.cases, t.s.target.check.ID)
		passed[i], waited[i] = err == nil && trial.Passed(), trial.Waited
		written[i].gone, written[i].more = compared(t.before, trial)
		if trial.Waited {
			waiting.Add(1)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var likely []*candidate
	for i, c := range written {
		if t.waiting >= mostWaiting {
			break // which of those behind were tried is chance
		}
		if waited[i] {
			t.waiting++
		}
		if passed[i] && len(likely) < confirmed {
			likely = append(likely, c)
		}
	}
	whole := make([]bool, len(likely))
	err = t.each(ctx, t.s.Result.Report.Seed, len(likely), func(r *run.Trials, i int) (err error) {
		whole[i], err = t.harmless(ctx, r, likely[i].number)
		return err
	})
	for i, c := range likely {
		if whole[i] {
			found = append(found, &Edit{candidate: c, Place: t.s.place(c), Number: numbers[c]})
		}
	}
	return found, err
}

// confirmed is how many candidates are carried out in all cases, of those of one program with which the deciding case
// passes.
const confirmed = 30

// mostWaiting is how many candidates may wait for what never comes: each takes a hundred times as long as another.
const mostWaiting = 8

// compare enters how the code does in the deciding cases as it is and with an edit of the program that was built last.
func (t *trials) compare(ctx context.Context, c *Cause) (*Cause, error) {
	r := t.runner(t.s.Result.Report.Seed)
	defer r.Close()
	with, err := r.Cases(ctx, c.number, t.cases, t.s.target.check.ID)
	c.before, c.after = t.before.Cases, with.Cases
	if t.s.target.timed {
		c.figures[0], c.figures[1] = measured(t.before), measured(with)
	}
	return c, err
}

// build builds the program.
func (t *trials) build(ctx context.Context) (err error) {
	e := t.s.Code[0].Exercise
	dir := filepath.Join(t.folder, e.Package)
	if err := writeAll(dir, t.program.named()); err != nil {
		return err
	}
	t.built, t.known, err = (check.Code{Exercise: e, Dir: dir}).Stepwise(ctx, t.s.Course)
	return err
}

// named are a program's files by name.
func (p *program) named() map[string]string {
	texts := map[string]string{}
	for i, f := range p.code.Files {
		texts[f.Name] = p.texts[i]
	}
	return texts
}

func writeAll(dir string, texts map[string]string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (t *trials) imports() map[string]string {
	if t.s.solution == nil {
		return nil
	}
	return importsOf(t.s.solution)
}

// decide finds the case that decides: the smallest that fails beside what the solution notes elsewhere. Where
// none does, or there is no solution, all do that the check needs.
func (t *trials) decide(ctx context.Context) (err error) {
	for _, t.anew = range []bool{false, true} {
		if t.s.target.timed {
			break // all that it needs, twice
		}
		if err := t.decideBeside(ctx); err != nil || len(t.cases) > 0 {
			return err
		}
	}
	r := t.runner(t.s.Result.Report.Seed)
	defer r.Close()
	t.cases = t.s.target.needs
	t.before, err = r.Cases(ctx, 0, t.cases, t.s.target.check.ID)
	t.whole = err == nil && t.before.Passed() // as many programs in one it does what it should
	if err != nil || !t.s.target.timed {
		return err
	}
	again, err := r.Cases(ctx, 0, t.cases, t.s.target.check.ID)
	t.whole = t.whole || !reflect.DeepEqual(measured(t.before), measured(again)) // by a clock that is chance
	return err
}

// measured is what the checks of a trial measured.
func measured(t run.Trial) (all []verdict.Measurement) {
	for _, c := range t.Checks {
		all = append(all, c.Measurements...)
	}
	return all
}

func (t *trials) decideBeside(ctx context.Context) error {
	if t.reference == nil {
		return nil
	}
	r := t.runner(t.s.Result.Report.Seed)
	defer r.Close()
	least := 0
	for _, id := range t.s.target.needs {
		trial, err := r.Cases(ctx, 0, []string{id}, t.s.target.check.ID)
		if err != nil {
			return err
		}
		if n := size(trial); !trial.Passed() && (least == 0 || n < least) {
			t.cases, t.before, least = []string{id}, trial, n
		}
	}
	return nil
}

// size is how much there is of a trial: the less, the sooner it is judged.
func size(t run.Trial) int {
	n := 1
	for _, c := range t.Cases {
		n += len(c.Trace.Records) + len(c.Outcomes)
		for _, values := range c.Values {
			n += len(values)
		}
		for i := range c.Trace.Records {
			for _, a := range c.Trace.Records[i].Accesses {
				n += int(max(a.Size, 0) >> 10) // what is simulated by the byte takes its time, too
			}
		}
	}
	return n
}

// harmless reports whether the check passes with a candidate, and no other fails that has passed without it.
func (t *trials) harmless(ctx context.Context, r *run.Trials, number int) (bool, error) {
	alone := *r
	alone.Beside = nil
	return alone.All(ctx, number, t.s.enough)
}

// enough reports whether a check is none that failed for the edit's sake: the one that is looked for passes, and any
// other but those that failed before. One that the code did not come to before has to pass as well: many an edit only
// leads elsewhere.
func (s *Search) enough(c verdict.Check) bool {
	return run.Good(c, s.Result.Report.Gap != nil) || c.ID != s.target.check.ID && s.target.failed[c.ID]
}

// guarded makes a panic of a judge's, which is asked about less than a whole check has, an error: it ends the search,
// and not cudalab.
func guarded(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("a fault of cudalab's: %v", v)
		}
	}()
	return do()
}

// runner is a runner of the program.
func (t *trials) runner(seed uint64) *run.Trials {
	runner := run.NewRunner(t.built.Binary, t.s.options(seed))
	return &run.Trials{Runner: runner, Code: t.known, Steps: steps, Beside: t.reference, Anew: t.anew}
}

// each does something with n candidates, with a runner for each processor. Which of them has which does not matter: a
// case begins on a device that nobody has touched.
func (t *trials) each(ctx context.Context, seed uint64, n int, do func(r *run.Trials, i int) error) error {
	var mu sync.Mutex
	var failed error
	next := 0
	var all sync.WaitGroup
	for range min(n, runtime.NumCPU(), 4) {
		all.Go(func() {
			r := t.runner(seed)
			defer func() { r.Close() }()
			for {
				mu.Lock()
				i, over := next, next >= n || failed != nil
				next++
				mu.Unlock()
				if over || ctx.Err() != nil {
					return
				}
				if t.program.keeps {
					r.Close()
					r = t.runner(seed)
				}
				if err := guarded(func() error { return do(r, i) }); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if failed == nil {
		failed = ctx.Err()
	}
	return failed
}
