package order_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/order"
	"cudalab/grader/order/schedule"
	"cudalab/native/trace"
)

var scheduled = flag.Int("schedules", 2000, "how many random programs to carry out in other orders")

// few is up to how many orders of a program are all carried out.
const few = 100

// withOrder are the rules whose faults an order shows.
var withOrder = []string{order.UseBeforeAlloc, order.UseAfterFree, order.FreeBeforeUse, order.RevokeBeforeUse,
	order.EarlyReuse, order.DataRace, order.HostRace, order.UninitializedRead, order.StagedCopy}

// refused reports whether a call did nothing for what it was given.
func refused(t *trace.Trace, i int) bool {
	if t.Records[i].Phase == trace.Enter {
		i = slices.IndexFunc(t.Records, func(r trace.Record) bool { return r.Phase == trace.Leave && int(r.Pair) == i })
	}
	return t.Records[i].Code != 0
}

// In random programs every fault has an order in which it shows, and a program without one comes to the same in every
// order. All orders are judged legal by what follows the calls, and by the machine that runs all interleavings.
func TestAFaultIsAnOrderInWhichItShows(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(*scheduled) {
		random := rand.New(rand.NewPCG(seed, 7))
		tr, program, machine := order.RandomTrace(random, 4+random.IntN(18), 3)
		p := schedule.New(tr)
		require.NoError(t, schedule.Legal(tr, p.Happened()), program())
		require.True(t, machine.Legal(p.Happened()), program())
		faults := 0
		for _, f := range order.Check(tr) {
			if f.Severity != order.Error || f.Rule == order.Leak {
				continue
			}
			faults++
			if !slices.Contains(withOrder, f.Rule) || refused(tr, f.At) {
				seen["no order"]++
				continue
			}
			c, ok := p.Counterexample(f)
			require.True(t, ok, "seed %d: %s has no counterexample in\n%s", seed, f.Message, program())
			require.NoError(t, schedule.Legal(tr, c.Order), "%s in\n%s", f.Message, program())
			require.True(t, machine.Legal(c.Order), "%s in\n%s", f.Message, program())
			require.LessOrEqual(t, len(c.Steps), 8)
			seen[f.Rule]++
		}
		if faults > 0 {
			continue
		}
		seen["right"]++
		same := p.Same()
		try := func(other []int) {
			require.NoError(t, schedule.Legal(tr, other), program())
			require.True(t, machine.Legal(other), program())
			d, differ := same(other)
			require.False(t, differ, "seed %d: %+v in the order %v of\n%s", seed, d, other, program())
		}
		for range 10 {
			try(p.Random(random))
		}
		carriedOut := 0
		if all := p.Each(few, func(order []int) {
			try(order)
			carriedOut++
		}); all {
			orders := p.Count()
			require.True(t, orders.Exact)
			require.Equal(t, int64(carriedOut), orders.Count.Int64(), program())
			seen["right in each of its orders"]++
			seen["orders"] += carriedOut
		}
	}
	t.Log(seen)
	for _, rule := range withOrder {
		require.Positive(t, seen[rule], rule)
	}
	require.Positive(t, seen["right"])
}
