package order

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/trace"
)

var programs = flag.Int("programs", 10000, "how many random programs to run all interleavings of")

// verdicts are Check's findings in a program, but for leaks and what is a matter of style.
func (b *built) verdicts() map[verdict]bool {
	all := map[verdict]bool{}
	number := map[int]int{}
	for i, c := range b.calls {
		number[c.record] = i
	}
	for _, f := range Check(&b.trace) {
		v := verdict{rule: f.Rule, severity: f.Severity, at: number[f.At], with: -1}
		r := &b.trace.Records[f.At]
		switch f.Rule {
		case Leak, LegacyStream:
			continue
		case NeedlessWait:
			if r.Op == trace.OpStreamSynchronize && r.Stream == legacyID {
				continue // of what it waits for, Check asks for the legacy stream's own only
			}
		case UninitializedRead, WaitUnrecorded, OverlappingCopy:
		case UseBeforeAlloc:
			v.fix = (&words{t: &b.trace}).edge(f.from, f.At)
			if r.Stream != legacyID && f.Fix != v.fix { // another stream mends it as well
				v.fix = f.Fix
			}
			fallthrough
		default:
			if len(f.Related) > 0 {
				if with, ok := number[f.Related[0].At]; ok { // and not what was there before
					v.with = with
				}
			}
		}
		all[v] = true
	}
	return all
}

// mended is the program with each call at fault made to come after the one that it should come after.
func (b *built) mended(found map[verdict]int) machine {
	m := slices.Clone(b.machine)
	for v, after := range found {
		if after >= 0 {
			m[v.at].awaits = append(slices.Clone(m[v.at].awaits), after)
		}
	}
	return m
}

// disorder is what is not in order in a program: calls that conflict, and those that use memory and make or free it.
func (b *built) disorder(in relation) (list []string) {
	want := func(first, second int, what string) {
		if first >= 0 && second >= 0 && !in.ordered(first, second) {
			list = append(list, fmt.Sprintf("%d may come before %d: %s", second, first, what))
		}
	}
	for i, c := range b.calls {
		if b.machine[i].idle {
			continue
		}
		if c.op == trace.OpFreeAsync {
			want(c.frees.birth, i, "a free before the allocation")
		}
		for _, u := range c.uses {
			if u.broken != "" {
				continue
			}
			want(u.memory.birth, i, "a use before the allocation")
			if w := needed(u); w != u.memory {
				want(w.birth, i, "a use before the block is handed out")
			}
			want(i, u.memory.death, "a use after the free")
			for _, v := range u.views {
				if v.ended >= 0 && slices.Contains(b.calls[v.ended].ends, v) { // and not as what a block lies in, perhaps elsewhere
					want(i, v.ended, "a use after the end of a mapping or block")
				}
				want(i, b.limited(i, v, u.kind), "a use without access")
			}
			for x := range i {
				for _, v := range b.calls[x].uses {
					if u.memory == v.memory && v.broken == "" && u.lo < v.hi && v.lo < u.hi && conflicting(u.kind, v.kind) &&
						!b.machine[x].idle {
						want(x, i, "a race")
					}
				}
			}
		}
	}
	return list
}

// compared is what was seen of some programs.
type compared struct {
	programs, calls, clean, disordered int
	interleavings                      float64
	rules                              map[string]int
}

// compare says how Check and a reference disagree on a program; the answer is empty if they do not.
func (p *steps) compare(relate func(machine) relation, sum *compared) string {
	b := p.build()
	in := relate(b.machine)
	want, got := b.judge(in, relate), b.verdicts()
	before, after := b.disorder(in), b.disorder(relate(b.mended(want)))
	sum.programs++
	sum.calls += len(b.calls)
	if o, ok := in.(*observed); ok {
		sum.interleavings += o.interleavings
	}
	for v := range want {
		sum.rules[v.rule]++
	}
	if len(want) == 0 {
		sum.clean++
	}
	if len(before) > 0 {
		sum.disordered++
	}
	switch {
	case !maps.EqualFunc(want, got, func(int, bool) bool { return true }):
		return fmt.Sprintf("There is:\n  %s\nCheck finds:\n  %s", listed(want), listed(got))
	case len(after) > 0:
		return fmt.Sprintf("Check finds:\n  %s\nWith that mended:\n  %s", listed(got), strings.Join(after, "\n  "))
	}
	return ""
}

func listed[T any](all map[verdict]T) string {
	var list []string
	for v := range all {
		list = append(list, v.String())
	}
	slices.Sort(list)
	return strings.Join(list, "\n  ")
}

// compareAll compares so many random programs and stops at the first that differs.
func compareAll(t *testing.T, n int, relate func(machine) relation, random func(*rand.Rand) *steps) {
	sum := &compared{rules: map[string]int{}}
	for seed := range uint64(n) {
		p := random(rand.New(rand.NewPCG(seed, 4)))
		if p.compare(relate, sum) == "" {
			continue
		}
		unseen := &compared{rules: map[string]int{}}
		p = p.shrink(func(q *steps) bool { return q.compare(relate, unseen) != "" })
		t.Fatalf("After %d programs that agree, seed %d:\n%s%s", sum.programs-1, seed, p, p.compare(relate, unseen))
	}
	t.Logf("%d programs of %d calls, %d of them in disorder and %d without a finding; %.3g interleavings; findings: %v",
		sum.programs, sum.calls, sum.disordered, sum.clean, sum.interleavings, sum.rules)
	for _, rule := range []string{UseBeforeAlloc, UseAfterFree, FreeBeforeUse, DoubleFree, DataRace, HostRace,
		UninitializedRead, WaitUnrecorded, NeedlessWait, freeWhilePending, StagedCopy, OverlappingCopy, OutOfBounds,
		RevokeBeforeUse} {
		require.Greater(t, sum.rules[rule], 20, "the random programs hardly show %s", rule)
	}
}

// Check finds in random programs what all their interleavings show, with each fault once and none of its own; and once
// what it finds is mended, no interleaving shows a fault any more.
func TestAgainstEveryInterleaving(t *testing.T) {
	compareAll(t, *programs, func(m machine) relation { return m.observe() }, func(random *rand.Rand) *steps {
		return randomProgram(random, 4+random.IntN(18), 3, 3)
	})
}

// The same holds for programs with too many interleavings to run, and with more streams, events and accesses than Check
// keeps in one piece.
func TestAgainstTheGraph(t *testing.T) {
	compareAll(t, 600, machine.graph, func(random *rand.Rand) *steps {
		if random.IntN(20) == 0 {
			return randomProgram(random, 500, 24, 40)
		}
		return randomProgram(random, 20+random.IntN(40), 6, 3)
	})
}

// A stream that reads the same memory again finds every write since, be they few or more than Check remembers one by
// one.
func TestAgainstTheGraphManyWrites(t *testing.T) {
	const size = 3 * latestKept
	p := &steps{flags: []uint32{nonBlocking, nonBlocking}, bytes: size}
	reading := step{op: trace.OpLaunch, stream: 1, from: piece{old, 0, size}}
	p.list = append(p.list, reading)
	at := int64(0)
	for _, writes := range []int{1, latestKept - 1, latestKept, latestKept + 1} {
		for range writes {
			p.list = append(p.list, step{op: trace.OpLaunch, stream: 2, to: piece{old, at % size, 1}})
			at++
		}
		p.list = append(p.list, reading)
	}
	sum := &compared{rules: map[string]int{}}
	require.Empty(t, p.compare(machine.graph, sum))
	require.Equal(t, 2*4, sum.rules[DataRace], "two edges mend the writes between two reads, or behind the last")
	c := newChecker(&p.build().trace)
	c.follow(func(int, *trace.Record) {})
	require.Equal(t, 2*int(at), c.report.races(), "each write races with the read before it and with the next")
}
