package guarded

import (
	"flag"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/corpus"
	"cudalab/grader/proof/sample"
	"cudalab/grader/suites/course"
)

var (
	lesson = flag.String("lesson", "", "try guarded programs of the `lesson`, by its package; of \"all\" lessons")
	all    = flag.Bool("all", false, "with -lesson: try every pair of a wrong program and a predicate")
	only   = flag.String("only", "", "with -lesson: try every pair in which this `text` is, as the table has them")
	pairs  = flag.Int("pairs", 150, "with -lesson: how many drawn `pairs` are tried")
	draw   = flag.Uint64("draw", 1, "with -lesson: the `seed` that they are drawn by")
)

// A sample is so many wrong programs of so many lessons, and so many pairs of each lesson.
const (
	fewLessons  = 4
	fewPrograms = 3
	fewPairs    = 4
)

// TestGuarded has the suites check guarded programs. They have to fail, but for those that are listed.
func TestGuarded(t *testing.T) {
	c, err := course.Open("../../..")
	require.NoError(t, err)
	if *lesson == "" {
		for _, i := range sample.Few("guarded", len(c.Exercises), fewLessons) {
			t.Run(c.Exercises[i].Package, func(t *testing.T) { trySample(t, c, c.Exercises[i]) })
		}
		return
	}
	eachAsked(t, c, func(t *testing.T, e course.Exercise) {
		tryLesson(t, c, e, func(corpus.Program) bool { return true }, mostPairs(), *draw)
	})
}

// mostPairs is how many pairs are tried of a lesson that -lesson names.
func mostPairs() int {
	if *all || *only != "" {
		return 1 << 40
	}
	return *pairs
}

// eachAsked does something with every lesson that -lesson names.
func eachAsked(t *testing.T, c *course.Course, do func(*testing.T, course.Exercise)) {
	for _, e := range c.Exercises {
		if *lesson == "all" || *lesson == e.Package {
			t.Run(e.Package, func(t *testing.T) { do(t, e) })
		}
	}
}

// trySample tries some pairs that are drawn by the commit.
func trySample(t *testing.T, c *course.Course, e course.Exercise) {
	programs, err := corpus.Programs(c.Root, e.Package)
	require.NoError(t, err)
	programs = slices.DeleteFunc(programs, func(p corpus.Program) bool { return p.Kind != corpus.Wrong })
	var drawn []string
	for _, i := range sample.Few("guarded "+e.Package, len(programs), fewPrograms) {
		drawn = append(drawn, programs[i].String())
	}
	seed := uint64(sample.Few("guarded pairs of "+e.Package, 1<<16, 1)[0])
	tryLesson(t, c, e, func(p corpus.Program) bool { return slices.Contains(drawn, p.String()) }, fewPairs, seed)
}

// tryLesson tries pairs of the wrong programs that are asked for, as many as most says or all.
func tryLesson(t *testing.T, c *course.Course, e course.Exercise, asked func(corpus.Program) bool, most int,
	seed uint64) {
	began := time.Now()
	programs, left, err := Of(c.Root, e.Package, asked)
	require.NoError(t, err)
	for _, u := range left {
		t.Errorf("there are no guarded programs of %s: %v", u, u.Why)
	}
	precompiled := precompile(c, e)
	table := &table{known: passing(t, e.Package)}
	wrong := 0
	for _, p := range programs {
		wrong += len(p.Wrong)
	}
	for _, p := range programs {
		b := build(t, c, e, precompiled, p)
		b.tryAll(t, b.chosen(table, most*len(p.Wrong)/wrong, seed), table)
		table.drawn(b)
	}
	table.seconds = time.Since(began).Seconds()
	t.Logf("%s\n%s", e.Name, table)
	table.complain(t, e.Package)
}

// chosen are the pairs of a program that are tried: every wrong program without a guard, and a number of drawn pairs of
// which the predicate held somewhere. The table counts the others.
func (b *bench) chosen(table *table, most int, seed uint64) (chosen []Pair) {
	var todo []Pair
	for _, w := range b.Wrong {
		known := map[string]bool{}
		for _, f := range b.functions {
			for _, q := range slices.Concat(f.predicates(), b.shapes(f)) {
				p, ok := b.pair(w, q)
				if !ok || !strings.Contains(p.String(), *only) {
					continue
				}
				ever, always := b.seen.Holds(q)
				switch like := b.seen.like(q); {
				case q.Kind == Always:
					chosen = append(chosen, p)
				case !ever:
					table.count(result{Pair: p, fate: never})
				case *only == "" && (always || known[like]):
					table.like++
				default:
					known[like] = true
					todo = append(todo, p)
				}
			}
		}
	}
	h := fnv.New64a()
	h.Write([]byte(b.exercise.Name + b.Base.String()))
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	r.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	table.held += len(todo)
	return append(chosen, todo[:min(len(todo), most)]...)
}

// tryAll tries pairs.
func (b *bench) tryAll(t *testing.T, todo []Pair, table *table) {
	results := make([]result, len(todo))
	each(len(todo), func(i int) { results[i] = b.try(t, todo[i]) })
	for _, r := range results {
		table.count(r)
	}
}

// each does something n times, as often at once as there are processors.
func each(n int, do func(i int)) {
	free := make(chan struct{}, runtime.NumCPU())
	var running sync.WaitGroup
	for i := range n {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			do(i)
		})
	}
	running.Wait()
}

// mostShapes bounds the shapes that are tried of a function.
const mostShapes = 8

// shapes are predicates of the shapes of calls that came in timed cases alone.
func (b *bench) shapes(f *function) (found []Predicate) {
	for i, o := range f.observed {
		if o.kind != shape {
			continue
		}
		key := [2]int{f.index, i}
		for _, v := range b.seen[key] {
			if !slices.Contains(b.untimed[key], v) && len(found) < mostShapes {
				found = append(found, Predicate{Shape, f, i, is, v})
			}
		}
	}
	return found
}
