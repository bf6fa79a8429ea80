package order

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/native/trace"
)

// randomTrace is a program without sense: streams of both sorts, events, host waits, and accesses to small pieces of
// little memory, so that everything meets everything.
func randomTrace(random *rand.Rand, calls int) *trace.Trace {
	const size = 6
	t := &trace.Trace{Sites: []trace.Site{nil}}
	add := func(x trace.Record) {
		t.Sites = append(t.Sites, trace.Site{{Line: len(t.Sites)}})
		x.Site = uint32(len(t.Sites) - 1)
		t.Records = append(t.Records, x)
	}
	streams := 1 + random.IntN(5)
	for s := range streams {
		add(trace.Record{Op: trace.OpStreamCreate, Stream: trace.ID(s + 1), Flags: uint32(random.IntN(2))})
	}
	events := 1 + random.IntN(3)
	for e := range events {
		add(trace.Record{Op: trace.OpEventCreate, Event: trace.ID(e + 1)})
	}
	const buffer, plain = trace.ID(1), trace.ID(2) // pinned memory, and memory that was there before
	add(trace.Record{Op: trace.OpMallocHost, Alloc: buffer, Size: size})
	add(trace.Record{Op: trace.OpMalloc, Alloc: plain, Size: size})
	for i := range 2 {
		t.Records[len(t.Records)-1-i].Site = 0
	}
	live, next := []trace.ID{plain}, plain
	blocks := map[trace.ID]bool{}
	for range calls {
		stream := trace.ID(random.IntN(streams + 1))
		event := trace.ID(random.IntN(events) + 1)
		k := random.IntN(len(live))
		access := func(m trace.ID, kind trace.AccessKind, arg uint8) trace.Access {
			lo := random.Int64N(size)
			return trace.Access{Alloc: m, Offset: lo, Size: 1 + random.Int64N(size-lo), Kind: kind, Arg: arg}
		}
		switch random.IntN(22) {
		case 0, 1, 2:
			add(trace.Record{Op: trace.OpEventRecord, Event: event, Stream: stream})
		case 3, 4, 5:
			add(trace.Record{Op: trace.OpStreamWaitEvent, Event: event, Stream: stream})
		case 6:
			switch random.IntN(4) {
			case 0:
				add(trace.Record{Op: trace.OpStreamSynchronize, Stream: stream})
			case 1:
				add(trace.Record{Op: trace.OpEventSynchronize, Event: event})
			case 2:
				add(trace.Record{Op: trace.OpEventQuery, Event: event})
			case 3:
				add(trace.Record{Op: trace.OpDeviceSynchronize})
			}
		case 7, 8:
			next++
			live = append(live, next)
			add(trace.Record{Op: trace.OpMallocAsync, Alloc: next, Size: size, Stream: stream})
		case 9:
			if k > 0 {
				if m := live[k]; blocks[m] {
					add(trace.Record{Op: trace.OpBlockFree, Alloc: m, Addr: uint64(m) * size})
				} else {
					add(trace.Record{Op: trace.OpFreeAsync, Alloc: m, Stream: stream})
				}
				live = append(live[:k], live[k+1:]...)
			}
		case 10:
			add(trace.Record{Op: trace.OpHostRead, Accesses: []trace.Access{access(buffer, trace.Read, 0)}})
		case 11:
			add(trace.Record{Op: trace.OpHostWrite, Accesses: []trace.Access{access(buffer, trace.Write, 0)}})
		case 12:
			add(trace.Record{Op: trace.OpMemcpyHtoDAsync, Host: trace.Pinned, Stream: stream,
				Accesses: []trace.Access{access(live[k], trace.Write, 0), access(buffer, trace.Read, 1)}})
		case 13:
			add(trace.Record{Op: trace.OpMemcpyDtoHAsync, Host: trace.Pinned, Stream: stream,
				Accesses: []trace.Access{access(buffer, trace.Write, 0), access(live[k], trace.Read, 1)}})
		case 14:
			add(trace.Record{Op: trace.OpMemset, Accesses: []trace.Access{access(live[k], trace.Write, 0)}})
		case 15:
			next++
			live = append(live, next)
			blocks[next] = true
			add(trace.Record{Op: trace.OpBlockAlloc, Alloc: next, Addr: uint64(next) * size, Size: size})
		default:
			add(trace.Record{Op: trace.OpLaunch, Kernel: "k", Stream: stream,
				Accesses: []trace.Access{access(live[k], trace.AccessKind(1+random.IntN(3)), 0)}})
		}
	}
	return t
}

// faults is what Check found, but leaks and remarks.
func faults(found []Finding) map[fault]bool {
	all := map[fault]bool{}
	for _, f := range found {
		switch f.Rule {
		case UseBeforeAlloc, DataRace, HostRace:
			all[fault{f.Rule, f.At, f.Related[0].At}] = true
		case FreeBeforeUse:
			all[fault{f.Rule, f.At, f.Related[0].At}] = true
		case UninitializedRead:
			all[fault{f.Rule, f.At, -1}] = true
		}
	}
	return all
}

// On random traces Check finds exactly what the oracle finds.
func TestAgainstOracle(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(4000) {
		random := rand.New(rand.NewPCG(seed, 1))
		calls := 5 + random.IntN(40)
		if seed%500 == 0 {
			calls = 300 // enough for what the checker remembers in limited numbers
		}
		made := randomTrace(random, calls)
		want := newOracle(made.Records).check()
		for f := range want {
			seen[f.rule]++
		}
		if got := faults(Check(made)); !sameFaults(want, got) {
			t.Fatalf("seed %d: want %v\ngot %v\n%s", seed, want, got, listing(made))
		}
	}
	for _, rule := range []string{UseBeforeAlloc, FreeBeforeUse, DataRace, HostRace, UninitializedRead} {
		require.Greater(t, seen[rule], 100, "the random traces hardly show %s", rule)
	}
}

func sameFaults(a, b map[fault]bool) bool {
	for f := range a {
		if !b[f] {
			return false
		}
	}
	return len(a) == len(b)
}

// Whatever the checker forgets on its way, memory in which any two accesses race has a finding of its own, and every
// race it reports is one: the two calls conflict, and the graph does not order them.
func TestRacesAreNeitherHiddenNorInvented(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 2))
		made := randomTrace(random, 5+random.IntN(40))
		o := newOracle(made.Records)
		racing := map[trace.ID]bool{}
		raw := map[[2]int]bool{}
		for j := range made.Records {
			for i := range j {
				for _, x := range made.Records[i].Accesses {
					for _, y := range made.Records[j].Accesses {
						both := x.Kind == trace.Write || y.Kind == trace.Write || x.Kind != y.Kind
						overlap := x.Offset < y.Offset+y.Size && y.Offset < x.Offset+x.Size
						if x.Alloc == y.Alloc && both && overlap && !o.ordered(i, j) {
							racing[x.Alloc] = true
							raw[[2]int{i, j}] = true
						}
					}
				}
			}
		}
		faulty := map[trace.ID]bool{}
		for _, f := range Check(made) {
			switch f.Rule {
			case DataRace, HostRace:
				require.True(t, raw[[2]int{f.Related[0].At, f.At}], "seed %d invents %v\n%s", seed, f, listing(made))
				fallthrough
			case UseBeforeAlloc:
				for _, i := range []int{f.At, f.Related[0].At} {
					faulty[made.Records[i].Alloc] = true
					for _, x := range made.Records[i].Accesses {
						faulty[x.Alloc] = true
					}
				}
			}
		}
		for m := range racing {
			require.True(t, faulty[m], "seed %d hides the races in allocation %d\n%s", seed, m, listing(made))
		}
	}
}

func listing(t *trace.Trace) string {
	var b strings.Builder
	for i := range t.Records {
		x := &t.Records[i]
		fmt.Fprintf(&b, "%3d %v stream %d event %d alloc %d flags %d %v\n", i, x.Op, x.Stream, x.Event, x.Alloc, x.Flags, x.Accesses)
	}
	return b.String()
}
