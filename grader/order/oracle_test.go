package order

import "cudalab/native/trace"

// oracle finds what Check has to find by the slowest means there are: it builds the happens-before relation as a
// graph, closes it transitively, and remembers every byte's accesses one by one. It knows the calls that randomTrace
// makes, and that each of those has a site of its own.
type oracle struct {
	records []trace.Record
	before  [][]bool // before[x][y]: node x is ordered before node y

	bytes map[[2]int64]*byteHistory // by allocation and offset
	found map[fault]bool
}

// fault is a finding: its rule and the records of both calls.
type fault struct {
	rule     string
	at, with int
}

// byteHistory is the accesses to one byte that count; -1 stands for a write that is ordered before everything.
type byteHistory struct {
	written bool
	write   int
	reads   map[trace.ID]int
	atomics map[trace.ID]int
}

// Record i's call is node 2i on the host and, as work in a stream, node 2i+1.
func hostNode(i int) int   { return 2 * i }
func streamNode(i int) int { return 2*i + 1 }

func isWork(r *trace.Record) bool {
	switch r.Op {
	case trace.OpLaunch, trace.OpMemset, trace.OpMallocAsync, trace.OpFreeAsync, trace.OpEventRecord, trace.OpStreamWaitEvent,
		trace.OpMemcpyHtoDAsync, trace.OpMemcpyDtoHAsync:
		return true
	}
	return false
}

func newOracle(records []trace.Record) *oracle {
	n := len(records)
	o := &oracle{records: records, bytes: map[[2]int64]*byteHistory{}, found: map[fault]bool{}}
	o.before = make([][]bool, 2*n+2)
	for x := range o.before {
		o.before[x] = make([]bool, 2*n+2)
	}
	blocking := map[trace.ID]bool{}
	for i := range records {
		r := &records[i]
		o.before[hostNode(i)][hostNode(i+1)] = true
		if r.Op == trace.OpStreamCreate {
			blocking[r.Stream] = r.Flags&nonBlocking == 0
		}
		if isWork(r) {
			o.before[hostNode(i)][streamNode(i)] = true
		}
		recorded := -1
		for j := range i {
			e := &records[j]
			if e.Op == trace.OpEventRecord && e.Event == r.Event {
				recorded = j
			}
			if !isWork(e) {
				continue
			}
			same := e.Stream == r.Stream
			barrier := e.Stream == legacyID && blocking[r.Stream] || r.Stream == legacyID && blocking[e.Stream]
			switch {
			case isWork(r) && (same || barrier):
				o.before[streamNode(j)][streamNode(i)] = true
			case r.Op == trace.OpDeviceSynchronize,
				r.Op == trace.OpStreamSynchronize && (same || r.Stream == legacyID && blocking[e.Stream]):
				o.before[streamNode(j)][hostNode(i+1)] = true
			}
		}
		switch {
		case recorded < 0:
		case r.Op == trace.OpStreamWaitEvent:
			o.before[streamNode(recorded)][streamNode(i)] = true
		case r.Op == trace.OpEventSynchronize || r.Op == trace.OpEventQuery:
			o.before[streamNode(recorded)][hostNode(i+1)] = true
		}
	}
	for k := range o.before {
		for x := range o.before {
			if !o.before[x][k] {
				continue
			}
			for y := range o.before {
				o.before[x][y] = o.before[x][y] || o.before[k][y]
			}
		}
	}
	return o
}

// node is where a record's accesses are made.
func (o *oracle) node(i int) int {
	if isWork(&o.records[i]) {
		return streamNode(i)
	}
	return hostNode(i)
}

func (o *oracle) ordered(i, j int) bool { return i < 0 || i == j || o.before[o.node(i)][o.node(j)] }

// check is every fault that Check has to find, except leaks and remarks.
func (o *oracle) check() map[fault]bool {
	birth := map[trace.ID]int{}
	excused := map[trace.ID][]int{}
	for i := range o.records {
		r := &o.records[i]
		switch r.Op {
		case trace.OpMallocAsync, trace.OpMalloc, trace.OpMallocHost, trace.OpBlockAlloc:
			birth[r.Alloc] = -1
			if r.Op == trace.OpMallocAsync {
				birth[r.Alloc] = i
			}
			for at := range r.Size {
				o.bytes[[2]int64{int64(r.Alloc), at}] = &byteHistory{
					written: r.Site == 0, write: -1, reads: map[trace.ID]int{}, atomics: map[trace.ID]int{},
				}
			}
		case trace.OpFreeAsync, trace.OpBlockFree:
			o.free(i, birth[r.Alloc], o.excuses(excused[r.Alloc], i))
		}
		for _, x := range append(o.kinds(r, trace.Read), o.kinds(r, trace.Write)...) {
			if !o.ordered(birth[x.Alloc], i) && !o.excuses(excused[x.Alloc], i) {
				o.found[fault{UseBeforeAlloc, i, birth[x.Alloc]}] = true
				excused[x.Alloc] = append(excused[x.Alloc], i)
			}
			for at := x.Offset; at < x.Offset+x.Size; at++ {
				o.touch(i, o.bytes[[2]int64{int64(x.Alloc), at}], x.Kind, birth[x.Alloc])
			}
		}
	}
	return o.found
}

// kinds is r's accesses that write, or the others.
func (o *oracle) kinds(r *trace.Record, kind trace.AccessKind) (list []trace.Access) {
	for _, x := range r.Accesses {
		if (x.Kind == trace.Write) == (kind == trace.Write) {
			list = append(list, x)
		}
	}
	return list
}

func (o *oracle) excuses(uses []int, i int) bool {
	for _, use := range uses {
		if o.ordered(use, i) {
			return true
		}
	}
	return false
}

// queueOf is the stream that a record's accesses belong to, or the host.
func (o *oracle) queueOf(i int) trace.ID {
	if isWork(&o.records[i]) {
		return o.records[i].Stream
	}
	return hostID
}

// races calls found for each earlier access to a byte that the i-th record conflicts with and is not ordered after,
// unless it raced with an access that came between the two and that record i is ordered after.
func (o *oracle) races(i int, b *byteHistory, kind trace.AccessKind, found func(int)) {
	one := func(j int, conflicts ...map[trace.ID]int) {
		if o.ordered(j, i) {
			return
		}
		for _, list := range conflicts {
			for _, k := range list {
				if k > j && o.ordered(k, i) {
					return
				}
			}
		}
		found(j)
	}
	if b.written {
		one(b.write, b.reads, b.atomics)
	}
	if kind != trace.Atomic {
		for _, j := range b.atomics {
			one(j, b.reads)
		}
	}
	if kind != trace.Read {
		for _, j := range b.reads {
			one(j, b.atomics)
		}
	}
}

func (o *oracle) touch(i int, b *byteHistory, kind trace.AccessKind, birth int) {
	born := o.ordered(birth, i)
	o.races(i, b, kind, func(j int) {
		if !born && o.records[j].Stream == o.records[birth].Stream && o.queueOf(j) != hostID {
			return
		}
		rule := DataRace
		if o.queueOf(i) == hostID {
			rule = HostRace
		}
		o.found[fault{rule, i, j}] = true
	})
	if !b.written && born && kind != trace.Write {
		o.found[fault{UninitializedRead, i, -1}] = true
		b.written, b.write = true, -1
	}
	switch kind {
	case trace.Read:
		b.reads[o.queueOf(i)] = i
	case trace.Atomic:
		b.atomics[o.queueOf(i)] = i
	default:
		*b = byteHistory{written: true, write: i, reads: map[trace.ID]int{}, atomics: map[trace.ID]int{}}
		if o.queueOf(i) == hostID {
			b.write = -1
		}
	}
}

func (o *oracle) free(i, birth int, excused bool) {
	latest := map[trace.ID]int{}
	alloc := o.records[i].Alloc
	for at := int64(0); o.bytes[[2]int64{int64(alloc), at}] != nil; at++ {
		o.races(i, o.bytes[[2]int64{int64(alloc), at}], trace.Write, func(j int) {
			if last, ok := latest[o.queueOf(j)]; !ok || j > last {
				latest[o.queueOf(j)] = j
			}
		})
	}
	covered := excused || o.ordered(birth, i)
	for stream, j := range latest {
		ofBirth := birth >= 0 && stream == o.records[birth].Stream
		if ofBirth && excused {
			continue
		}
		covered = covered || ofBirth
		o.found[fault{FreeBeforeUse, i, j}] = true
	}
	if !covered {
		o.found[fault{FreeBeforeUse, i, birth}] = true
	}
}
