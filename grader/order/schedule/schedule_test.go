package schedule_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/order"
	"cudalab/grader/order/schedule"
	_ "cudalab/kernels" // puts itself into the list
	"cudalab/native/device"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/native/trace"
)

const size = 1024

// world is a simulated device with two streams and an event.
type world struct {
	*session.Session
	a, b  *session.Stream
	event *session.Event
	spare *[]device.Ptr // memory that is there from the beginning
}

// record is the trace of what a program asks of CUDA.
func record(t *testing.T, program func(w world)) *trace.Trace {
	return recordOn(t, program, 250, func(*session.Session) {})
}

// recordOn is record on a session that is set up, with so many pieces of spare memory.
func recordOn(t testing.TB, program func(w world), spare int, setUp func(*session.Session)) *trace.Trace {
	t.Helper()
	d := sim.New(sim.Options{})
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	w := world{Session: session.New(d)}
	setUp(w.Session)
	w.StartTrace()
	var code device.Code
	for name, s := range map[string]**session.Stream{"a": &w.a, "b": &w.b} {
		*s, code = w.StreamCreate(device.StreamNonBlocking)
		require.Zero(t, code)
		w.Label("stream " + name)
	}
	w.event, code = w.EventCreate(device.EventDisableTiming)
	require.Zero(t, code)
	w.spare = new([]device.Ptr)
	for range spare {
		*w.spare = append(*w.spare, w.malloc(t))
	}
	program(w)
	return w.StopTrace()
}

func (w world) malloc(t testing.TB) device.Ptr {
	p, code := w.Malloc(size)
	require.Zero(t, code)
	return p
}

// next is memory that nothing has used.
func (w world) next() device.Ptr {
	p := (*w.spare)[0]
	*w.spare = (*w.spare)[1:]
	return p
}

// ops are the records of all calls of some kind.
func ops(tr *trace.Trace, op trace.Op) (all []int) {
	for i := range tr.Records {
		if tr.Records[i].Op == op && tr.Records[i].Phase != trace.Leave {
			all = append(all, i)
		}
	}
	return all
}

func TestOrdersAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		program    func(w world)
		operations int
		count      string
	}{
		"nothing":    {func(world) {}, 0, "1"},
		"one stream": {func(w world) { memsets(t, w, w.a, 9) }, 9, "1"},
		"two streams": {func(w world) {
			memsets(t, w, w.a, 3)
			memsets(t, w, w.b, 4)
		}, 7, "35"}, // 7! / (3! 4!)
		"one after the other": {func(w world) {
			memsets(t, w, w.a, 3)
			w.EventRecord(w.event, w.a)
			w.StreamWaitEvent(w.b, w.event)
			memsets(t, w, w.b, 4)
		}, 7, "1"},
		"an edge in the middle": {func(w world) {
			memsets(t, w, w.a, 1)
			w.EventRecord(w.event, w.a)
			memsets(t, w, w.a, 1)
			w.StreamWaitEvent(w.b, w.event)
			memsets(t, w, w.b, 2)
		}, 4, "3"},
		"the host waits in between": {func(w world) {
			for range 3 {
				memsets(t, w, w.a, 1)
				memsets(t, w, w.b, 1)
				w.DeviceSynchronize()
			}
		}, 6, "8"},
		"the legacy default stream passes non-blocking ones by": {func(w world) {
			memsets(t, w, w.a, 2)
			memsets(t, w, nil, 1)
		}, 3, "3"},
		"more than anybody counts": {func(w world) {
			memsets(t, w, w.a, 100)
			memsets(t, w, w.b, 100)
		}, 200, "more than 10^49"},
	} {
		t.Run(name, func(t *testing.T) {
			p := schedule.New(record(t, c.program))
			o := p.Count()
			require.Equal(t, c.operations, o.Operations)
			require.Equal(t, c.count, o.String())
			if o.Exact && o.Count.Cmp(big.NewInt(100)) < 0 {
				n := int64(0)
				require.True(t, p.Each(100, func([]int) { n++ }))
				require.Equal(t, o.Count.Int64(), n)
			}
			require.False(t, o.Count.Cmp(big.NewInt(1)) > 0 && p.Each(int(min(o.Count.Int64()-1, 10)), func([]int) {}),
				"there are more")
		})
	}
}

// memsets enqueues some work, each on memory of its own.
func memsets(t *testing.T, w world, s *session.Stream, n int) {
	for range n {
		require.Zero(t, w.MemsetAsync(w.next(), 1, size, s))
	}
}

// The lower bound of what is too much to count is one.
func TestABoundIsALowerBound(t *testing.T) {
	p := schedule.New(record(t, func(w world) {
		memsets(t, w, w.a, 100)
		memsets(t, w, w.b, 100)
	}))
	o := p.Count()
	exact := new(big.Int).Binomial(200, 100)
	require.False(t, o.Exact)
	require.Negative(t, o.Count.Cmp(exact))
	require.Greater(t, o.Count.BitLen(), exact.BitLen()/2)
}

func TestWhatCUDAMayNotDo(t *testing.T) {
	for name, c := range map[string]struct {
		program func(w world)
		says    string // about the last memset first
	}{
		"a stream's own order": {func(w world) { memsets(t, w, w.a, 2) }, "which it has to wait for"},
		"an event": {func(w world) {
			memsets(t, w, w.a, 1)
			w.EventRecord(w.event, w.a)
			w.StreamWaitEvent(w.b, w.event)
			memsets(t, w, w.b, 1)
		}, "which it has to wait for"},
		"the host waits for a stream": {func(w world) {
			memsets(t, w, w.a, 1)
			w.StreamSynchronize(w.a)
			memsets(t, w, w.b, 1)
		}, "which the host waits for first"},
		"the host waits for an event": {func(w world) {
			memsets(t, w, w.a, 1)
			w.EventRecord(w.event, w.a)
			w.EventSynchronize(w.event)
			memsets(t, w, w.b, 1)
		}, "which the host waits for first"},
		"the host waits for everything": {func(w world) {
			memsets(t, w, w.a, 1)
			w.DeviceSynchronize()
			memsets(t, w, w.b, 1)
		}, "which the host waits for first"},
		"the legacy default stream waits for a blocking one": {func(w world) {
			s, _ := w.StreamCreate(0)
			memsets(t, w, s, 1)
			memsets(t, w, nil, 1)
		}, "which it has to wait for"},
		"a blocking stream waits for the legacy default stream": {func(w world) {
			s, _ := w.StreamCreate(0)
			memsets(t, w, nil, 1)
			memsets(t, w, s, 1)
		}, "which it has to wait for"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := record(t, c.program)
			p := schedule.New(tr)
			happened := p.Happened()
			require.NoError(t, schedule.Legal(tr, happened))
			sets := ops(tr, trace.OpMemsetAsync)
			require.Len(t, sets, 2)
			bad := slices.DeleteFunc(slices.Clone(happened), func(i int) bool { return slices.Contains(sets, i) })
			require.ErrorContains(t, schedule.Legal(tr, append(bad, sets[1], sets[0])), c.says)
			require.NoError(t, schedule.Legal(tr, append(bad, sets[0], sets[1])))
		})
	}
}

func TestWhatCUDAMayDo(t *testing.T) {
	for name, program := range map[string]func(w world){
		"two streams": func(w world) {
			memsets(t, w, w.a, 1)
			memsets(t, w, w.b, 1)
		},
		"an event that was recorded too early": func(w world) {
			w.EventRecord(w.event, w.a)
			memsets(t, w, w.a, 1)
			w.StreamWaitEvent(w.b, w.event)
			memsets(t, w, w.b, 1)
		},
		"an event that was never recorded": func(w world) {
			memsets(t, w, w.a, 1)
			w.StreamWaitEvent(w.b, w.event)
			memsets(t, w, w.b, 1)
		},
		"the host waits for another stream": func(w world) {
			memsets(t, w, w.a, 1)
			w.StreamSynchronize(w.b)
			memsets(t, w, w.b, 1)
		},
		"a free of other memory": func(w world) {
			p, _ := w.MallocAsync(size, w.b)
			memsets(t, w, w.a, 1)
			w.FreeAsync(p, w.b)
			memsets(t, w, w.b, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := record(t, program)
			p := schedule.New(tr)
			sets := ops(tr, trace.OpMemsetAsync)
			other := slices.DeleteFunc(p.Happened(), func(i int) bool { return i == sets[0] })
			require.NoError(t, schedule.Legal(tr, append(other, sets[0])))
			same := p.Same()
			_, differ := same(append(other, sets[0]))
			require.False(t, differ)
		})
	}
}

func TestNoOrderNamesACallTwiceOrOneThatIsNone(t *testing.T) {
	tr := record(t, func(w world) { memsets(t, w, w.a, 1) })
	for _, order := range [][]int{{0, 0}, {-1}, {len(tr.Records)}} {
		require.ErrorContains(t, schedule.Legal(tr, order), "is no call that is still to be carried out")
	}
}

// kernel is one of the lessons', by its entry point.
func kernel(t *testing.T, entry string) *device.Kernel {
	k := kernelNamed(entry)
	require.NotNil(t, k)
	return k
}

// Atomic sums may come in any order, and what is added is not lost on who looks in between.
func TestAtomicSumsMayComeInAnyOrder(t *testing.T) {
	program := func(look bool) *trace.Trace {
		return record(t, func(w world) {
			data, sum := w.malloc(t), w.malloc(t)
			w.Memset(data, 1, size)
			w.Memset(sum, 0, size)
			w.DeviceSynchronize()
			for _, s := range []*session.Stream{w.a, w.b} {
				l := &device.Launch{Kernel: kernel(t, "checksum"), Grid: device.Dim{X: 1}, Block: device.Dim{X: 32}}
				l.Args[0], l.Args[1], l.Args[2] = uint64(data), 8, uint64(sum)
				require.Zero(t, w.Launch(l, s))
				if look && s == w.a {
					require.Zero(t, w.MemcpyDtoDAsync(data+512, sum, 8, w.a))
				}
			}
			w.DeviceSynchronize()
		})
	}
	p := schedule.New(program(false))
	require.Empty(t, faults(p))
	same := p.Same()
	require.True(t, p.Each(100, func(order []int) {
		_, differ := same(order)
		require.False(t, differ)
	}))

	p = schedule.New(program(true))
	found := faults(p)
	require.NotEmpty(t, found)
	c, ok := p.Counterexample(found[0])
	require.True(t, ok)
	require.NoError(t, schedule.Legal(p.Trace, c.Order))
}

// faults are the errors in the order of a program, but for what it leaves behind.
func faults(p *schedule.Program) []order.Finding {
	return slices.DeleteFunc(order.Check(p.Trace), func(f order.Finding) bool {
		return f.Severity != order.Error ||
			f.Rule == order.Leak
	})
}

func TestStories(t *testing.T) {
	use := func(w world, p device.Ptr, s *session.Stream) { w.MemsetAsync(p, 1, size, s) }
	for name, c := range map[string]struct {
		program func(w world)
		rule    string
		calls   []string
		wrong   string // what is said of the last of them that is wrong, or at the end
	}{
		"used before it is there": {func(w world) {
			p, _ := w.MallocAsync(size, w.a)
			use(w, p, w.b)
		}, order.UseBeforeAlloc, []string{"MemsetAsync on stream b", "MallocAsync on stream a"},
			"the memory is not there yet, which step 1 makes"},
		"freed too early": {func(w world) {
			p, _ := w.MallocAsync(size, w.a)
			w.EventRecord(w.event, w.a)
			w.StreamWaitEvent(w.b, w.event)
			use(w, p, w.b)
			w.FreeAsync(p, w.a)
		}, order.FreeBeforeUse, []string{"MallocAsync on stream a", "FreeAsync on stream a", "MemsetAsync on stream b"},
			"the memory is no longer its own: by then its bytes may belong to another allocation"},
		"used after the free": {func(w world) {
			p, _ := w.MallocAsync(size, w.a)
			w.FreeAsync(p, w.a)
			l := &device.Launch{Kernel: kernel(t, "fill"), Grid: device.Dim{X: 1}, Block: device.Dim{X: 32}}
			l.Args[0], l.Args[1] = uint64(p), 8
			w.Launch(l, w.a)
		}, order.UseAfterFree, []string{"MallocAsync on stream a", "FreeAsync on stream a", "the launch of fill on stream a"},
			"the memory is no longer its own: by then its bytes may belong to another allocation"},
		"read too early": {func(w world) {
			p, q := w.malloc(t), w.malloc(t)
			use(w, p, w.a)
			w.MemcpyDtoDAsync(q, p, size, w.b)
		}, order.DataRace, []string{"Malloc", "MemcpyDtoDAsync on stream b", "MemsetAsync on stream a"},
			"it finds what nothing has written, and not what step 2 writes"},
		"read too late": {func(w world) {
			p, q := w.malloc(t), w.malloc(t)
			w.Memset(p, 0, size)
			w.DeviceSynchronize()
			w.MemcpyDtoDAsync(q, p, size, w.a)
			use(w, p, w.b)
		}, order.DataRace, []string{"Malloc", "Memset on the legacy default stream", "MemsetAsync on stream b",
			"MemcpyDtoDAsync on stream a"},
			"it finds what step 4 has written, and not what step 2 writes"},
		"both write": {func(w world) {
			p := w.malloc(t)
			use(w, p, w.a)
			use(w, p, w.b)
		}, order.DataRace, []string{"Malloc", "MemsetAsync on stream b", "MemsetAsync on stream a"},
			"In the end the memory holds what step 2 has written, and not what step 3 has."},
		"never written": {func(w world) {
			p, q := w.malloc(t), w.malloc(t)
			w.MemcpyDtoDAsync(q, p, size, w.a)
		}, order.UninitializedRead, []string{"Malloc", "Malloc", "MemcpyDtoDAsync on stream a"},
			"it finds what nothing has written"},
		"the host looks too early": {func(w world) {
			p := w.malloc(t)
			host, _ := w.MallocHost(size)
			w.HostWrite(host, 0, make([]byte, size))
			use(w, p, w.a)
			w.MemcpyDtoHAsync(session.Host{Buffer: host}, p, size, w.a)
			w.HostRead(host, 0, make([]byte, size))
		}, order.HostRace, []string{"MallocHost", "HostBuffer.Write", "HostBuffer.Read", "MemcpyDtoHAsync on stream a"},
			"it finds what step 2 has written, and not what step 3 writes"},
	} {
		t.Run(name, func(t *testing.T) {
			p := schedule.New(record(t, c.program))
			found := faults(p)
			require.Len(t, found, 1)
			require.Equal(t, c.rule, found[0].Rule)
			ce, ok := p.Counterexample(found[0])
			require.True(t, ok)
			require.NoError(t, schedule.Legal(p.Trace, ce.Order))
			s := p.Story(ce, nil)
			var calls []string
			wrong := s.Ends
			for _, step := range s.Steps {
				calls = append(calls, step.Call)
				wrong += step.Wrong
			}
			require.Equal(t, c.calls, calls)
			require.Equal(t, c.wrong, wrong)
		})
	}
}

// A leak and a remark have no order in which they go wrong.
func TestWhatNoOrderIsToBlameFor(t *testing.T) {
	p := schedule.New(record(t, func(w world) {
		w.malloc(t)
		w.StreamSynchronize(w.a)
	}))
	all := order.Check(p.Trace)
	require.NotEmpty(t, all)
	for _, f := range all {
		_, ok := p.Counterexample(f)
		require.False(t, ok, f.Rule)
	}
}

func TestRandomOrdersAreLegalAndDiffer(t *testing.T) {
	tr := record(t, func(w world) {
		memsets(t, w, w.a, 10)
		memsets(t, w, w.b, 10)
	})
	p := schedule.New(tr)
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	for range 50 {
		other := p.Random(random)
		require.NoError(t, schedule.Legal(tr, other))
		key := ""
		for _, i := range other {
			key += string(rune(i))
		}
		seen[key] = true
	}
	require.Greater(t, len(seen), 20)
}

func BenchmarkCounterexample(b *testing.B) {
	d := sim.New(sim.Options{})
	defer d.Close()
	s := session.New(d)
	s.StartTrace()
	one, _ := s.StreamCreate(device.StreamNonBlocking)
	other, _ := s.StreamCreate(device.StreamNonBlocking)
	for range 1000 {
		p, _ := s.MallocAsync(size, one)
		s.MemsetAsync(p, 1, size, other)
		s.FreeAsync(p, one)
	}
	p := schedule.New(s.StopTrace())
	found := faults(p)
	for b.Loop() {
		if _, ok := p.Counterexample(found[len(found)-1]); !ok {
			b.Fatal("none")
		}
	}
}
