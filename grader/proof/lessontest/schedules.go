package lessontest

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/require"

	"cudalab/grader/judge/check"
	"cudalab/grader/judge/prove"
	"cudalab/grader/order"
	"cudalab/grader/order/schedule"
	"cudalab/grader/proof/corpus"
	"cudalab/grader/suite/verdict"
)

// shortSteps is how many steps a counterexample may show that fits on a page.
const shortSteps = 8

// otherOrders is in how many orders the work of each case is carried out in which the order checker has found nothing.
const otherOrders = 3

// scheduled is what other orders of a program's work came to.
type scheduled struct {
	shown   map[string]*shown // by rule
	none    []string          // findings that no order shows, with the reason
	cases   int               // without a finding
	several int               // of them: those that CUDA has a choice for
	most    schedule.Orders   // of the case with the most
}

// shown counts counterexamples.
type shown struct{ all, short, longest int }

// schedules builds a counterexample for every fault in the order of a program's work, and carries out other orders of
// that which is without one: they have to come to the same. Counting all orders takes longer than that, and only the
// recorded table tells how many there are.
func schedules(t *testing.T, cases []*verdict.CaseNotes, counted bool) (s scheduled) {
	t.Helper()
	s.shown = map[string]*shown{}
	random := rand.New(rand.NewPCG(seed, 0))
	for _, c := range cases {
		if len(c.Trace.Records) == 0 {
			continue
		}
		p, faults := schedule.New(c.Trace), 0
		for _, f := range order.Check(c.Trace) {
			if f.Severity != order.Error {
				continue
			}
			faults++
			s.add(t, p, f)
		}
		if faults > 0 {
			continue
		}
		s.cases++
		require.NoError(t, schedule.Legal(c.Trace, p.Happened()), c.ID)
		if counted {
			if orders := p.Count(); orders.Count.Cmp(big.NewInt(1)) > 0 {
				s.several++
				if s.most.Count == nil || orders.Count.Cmp(s.most.Count) > 0 {
					s.most = orders
				}
			}
		}
		same := p.Same()
		for range otherOrders {
			other := p.Random(random)
			require.NoError(t, schedule.Legal(c.Trace, other), c.ID)
			d, differ := same(other)
			require.False(t, differ, "%s comes to something else in another order, though nothing was found: %+v", c.ID, d)
		}
	}
	return s
}

// faulty reports whether the order checker has found errors, whatever the lesson makes of them.
func (s *scheduled) faulty() bool { return len(s.shown)+len(s.none) > 0 }

// requireProofAgrees holds prove to what the check has told of order: it shows an order for each rule that was broken,
// and none else, so that of a program that passes nothing is refuted.
// Prove also carries out other orders of what is sound, which schedules has done.
func requireProofAgrees(t *testing.T, r check.Result, s scheduled) {
	t.Helper()
	if r.Report.Status != verdict.Passed && r.Report.Status != verdict.Failed {
		return
	}
	told, refuted := map[string]bool{}, map[string]bool{}
	for _, c := range r.Report.Checks {
		for _, f := range c.Findings {
			rule := strings.TrimSuffix(f.Rule, "-on-error")
			if f.Severity == verdict.Error && slices.Contains(shownByOrder, rule) {
				told[rule] = true
			}
		}
	}
	faults := prove.Faults(r)
	for i, f := range faults {
		requireFits(t, &faults[i])
		refuted[f.Finding.Rule] = true
		require.True(t, told[f.Finding.Rule] || !slices.Contains(shownByOrder, f.Finding.Rule), f.Finding.Message)
	}
	for rule := range told {
		require.True(t, refuted[rule] || len(s.none) > 0, "nothing shows the %s", rule)
	}
	if r.Report.Status == verdict.Passed {
		require.Empty(t, faults)
	}
}

// add builds the counterexample of a finding.
func (s *scheduled) add(t *testing.T, p *schedule.Program, f order.Finding) {
	t.Helper()
	c, ok := p.Counterexample(f)
	if !ok {
		rule := f.Rule
		require.True(t, !slices.Contains(shownByOrder, rule) || !p.Does(f.At), "no order shows it: %s", f.Message)
		if slices.Contains(shownByOrder, rule) {
			rule += refused
		}
		s.none = append(s.none, rule)
		return
	}
	require.NoError(t, schedule.Legal(p.Trace, c.Order), f.Message)
	requireFilm(t, p.Film(c, p.Story(c, nil), func(int) bool { return true }))
	r := s.shown[f.Rule]
	if r == nil {
		r = &shown{}
		s.shown[f.Rule] = r
	}
	r.all++
	r.longest = max(r.longest, len(c.Steps))
	if len(c.Steps) <= shortSteps {
		r.short++
	}
}

// orders are what other orders of a lesson's programs came to.
type orders struct {
	faults         map[string]*shown
	none           map[string]int
	cases, several int
	most           schedule.Orders
}

// take takes in a program's.
func (o *orders) take(p corpus.Program, s scheduled) {
	for rule, r := range s.shown {
		if o.faults[rule] == nil {
			o.faults[rule] = &shown{}
		}
		all := o.faults[rule]
		all.all, all.short, all.longest = all.all+r.all, all.short+r.short, max(all.longest, r.longest)
	}
	for _, rule := range s.none {
		o.none[rule]++
	}
	if p.Kind == corpus.Solution || p.Kind == corpus.Right {
		o.cases, o.several = o.cases+s.cases, o.several+s.several
		if s.most.Count != nil && (o.most.Count == nil || s.most.Count.Cmp(o.most.Count) > 0) {
			o.most = s.most
		}
	}
}

// String is a table.
func (o *orders) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "rule\tfaults\tan order shows it\tin at most 8 steps\tlongest\t")
	for _, rule := range slices.Sorted(keys(o.faults, o.none)) {
		r := o.faults[rule]
		if r == nil {
			r = &shown{}
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t\n", rule, r.all+o.none[rule], r.all, r.short, r.longest)
	}
	w.Flush()
	fmt.Fprintf(&b, "\ncases of right programs: %d, of which %d have more than one order; the most orders: %s\n", o.cases,
		o.several, o.most)
	return b.String()
}

// refused stands behind the rule of a call that did nothing, in any order.
const refused = " (refused)"

// keys are those of two maps.
func keys[A, B any](a map[string]A, b map[string]B) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range a {
			if !yield(k) {
				return
			}
		}
		for k := range b {
			if _, both := a[k]; !both && !yield(k) {
				return
			}
		}
	}
}

// compareOrders holds what became of the lesson's orders to what no lesson may fall short of. How many faults there are
// hangs on how far a program gets that takes all the time there is, so the table is recorded and not compared.
func compareOrders(t *testing.T, o *orders) {
	if *record {
		t.Log("\n" + o.String())
	}
	all, short := 0, 0
	for _, r := range o.faults {
		all, short = all+r.all, short+r.short
	}
	require.GreaterOrEqual(t, float64(short), 0.95*float64(all), "counterexamples are too long")
	for rule := range o.none {
		require.Contains(t, inEveryOrder, strings.TrimSuffix(rule, refused), "a fault has no order in which it shows")
	}
	if *record && *onDevice == "sim" {
		require.NoError(t, os.WriteFile(filepath.Join("testdata", "orders.txt"), []byte(o.String()), 0o644))
	}
}

// inEveryOrder are the rules of which a fault may have no order that shows it, since it is there in each; and
// use-after-free, where the device has refused the call.
var inEveryOrder = []string{order.Leak, order.DoubleFree, order.InvalidFree, order.OutOfBounds, order.OverlappingCopy,
	order.UseAfterDestroy, order.WaitUnrecorded, order.UseAfterFree}

// shownByOrder are the rules of which every fault has an order in which it shows.
var shownByOrder = []string{order.UseBeforeAlloc, order.UseAfterFree, order.FreeBeforeUse, order.RevokeBeforeUse,
	order.EarlyReuse, order.DataRace, order.HostRace, order.UninitializedRead, order.StagedCopy}
