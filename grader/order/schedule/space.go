package schedule

import (
	"math"

	"cudalab/native/interval"
	"cudalab/native/trace"
)

// space is what is known of addresses at one place of a trace: whose bytes a call means. It is the host that maps
// memory and hands out blocks, so that is the same in every order.
type space struct {
	t      *trace.Trace
	done   []int
	mapped interval.Map[int64, int]      // addresses: the record of the MemMap, counted from 1
	last   interval.Map[int64, int]      // the same, of what is unmapped as well
	handed interval.Map[int64, trace.ID] // addresses: the block that was handed out there
	blocks map[trace.ID]part
	sizes  map[trace.ID]int64
	bases  map[trace.ID]uint64
	made   map[trace.ID]int // the record
	back   map[trace.ID]int // of the blocks that were taken back: the record of that
}

// part is where a block lies: in pieces, where it lies in mapped memory.
type part struct {
	record int
	pieces []piece
}

// piece is some bytes of a block, from lo on, that are those of memory from at on.
type piece struct {
	lo, hi int64
	memory trace.ID
	at     int64
}

func newSpace(t *trace.Trace, done []int) *space {
	return &space{t: t, done: done, blocks: map[trace.ID]part{}, sizes: map[trace.ID]int64{}, bases: map[trace.ID]uint64{},
		made: map[trace.ID]int{}, back: map[trace.ID]int{}}
}

// op is what the i-th record's call does to memory, nil if it does nothing to any. The records before it have been
// asked for.
func (s *space) op(i int) *op {
	r := &s.t.Records[i]
	if r.Phase == trace.Leave || s.done[i] < 0 {
		return nil
	}
	done := &s.t.Records[s.done[i]]
	if done.Code != 0 {
		return nil
	}
	switch r.Op {
	case trace.OpMalloc, trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpMallocHost, trace.OpMemCreate,
		trace.OpBlockAlloc:
		return s.make(i, r, done)
	case trace.OpFree, trace.OpFreeAsync, trace.OpFreeHost, trace.OpBlockFree:
		return s.end(i, r)
	case trace.OpMemMap:
		return s.mapMemory(i, r)
	case trace.OpMemUnmap, trace.OpMemSetAccess:
		return s.change(r)
	}
	return s.use(r)
}

func (s *space) make(i int, r, done *trace.Record) *op {
	if done.Alloc == 0 {
		return nil
	}
	if _, known := s.made[done.Alloc]; known {
		return nil // no identity of a session's
	}
	s.made[done.Alloc], s.sizes[done.Alloc], s.bases[done.Alloc] = i, done.Size, done.Addr
	o := &op{kind: makes, memory: done.Alloc, size: done.Size}
	if r.Op == trace.OpBlockAlloc {
		pieces := s.pieces(r)
		s.blocks[r.Alloc] = part{i, pieces}
		lo, hi := addresses(r)
		s.handed.Set(lo, hi, r.Alloc)
		o.part = len(pieces) > 0
		o.touches = s.bytes(nil, r.Alloc, 0, r.Size, trace.Write)
	}
	return o
}

// pieces are whose bytes a block's are: the memory's around it, or what is mapped to its addresses.
func (s *space) pieces(r *trace.Record) (list []piece) {
	around := trace.ID(r.Value)
	lo, hi := addresses(r)
	for m := range s.mapped.Within(lo, hi) {
		x := &s.t.Records[m.Value-1]
		list = append(list, piece{m.Lo - lo, m.Hi - lo, x.Alloc, m.Lo - int64(x.Addr) + int64(x.Value)})
	}
	if _, known := s.made[around]; len(list) == 0 && known {
		list = append(list, piece{0, hi - lo, around, lo - int64(s.bases[around])})
	}
	return list
}

// total is how many bytes some pieces have.
func total(pieces []piece) (sum int64) {
	for _, p := range pieces {
		sum += p.hi - p.lo
	}
	return sum
}

func (s *space) end(i int, r *trace.Record) *op {
	if r.Alloc == 0 || r.Freed {
		return nil
	}
	o := &op{kind: ends, memory: r.Alloc}
	if at, ok := s.made[r.Alloc]; ok {
		o.from = s.t.Records[at].Op
	}
	o.touches = s.bytes(nil, r.Alloc, 0, s.sizes[r.Alloc], trace.Write)
	if r.Op == trace.OpBlockFree {
		s.back[r.Alloc] = i
	}
	return o
}

func (s *space) mapMemory(i int, r *trace.Record) *op {
	lo, hi := addresses(r)
	if lo == hi || r.Alloc == 0 {
		return nil
	}
	s.mapped.Set(lo, hi, i+1)
	s.last.Set(lo, hi, i+1)
	return &op{kind: places, memory: r.Alloc}
}

// change ends mappings, or says what may be done through them.
func (s *space) change(r *trace.Record) *op {
	o := &op{kind: permits}
	lo, hi := addresses(r)
	for m := range s.mapped.Within(lo, hi) {
		if r.Op == trace.OpMemSetAccess && m.Lo > lo {
			break // behind a hole nothing changes: so an H200 with driver 580 does
		}
		lo = m.Hi
		o.touches = append(o.touches, touch{mapping: m.Value - 1})
	}
	if r.Op == trace.OpMemUnmap {
		o.kind = unmaps
		lo, hi := addresses(r)
		s.mapped.Cut(lo, hi)
		for b := range s.handed.Within(lo, hi) {
			o.blocks = append(o.blocks, b.Value)
		}
		s.handed.Cut(lo, hi)
	}
	return o
}

func (s *space) use(r *trace.Record) *op {
	o := &op{}
	for k := range r.Accesses {
		o.touches = append(o.touches, s.bytesOf(&r.Accesses[k])...)
	}
	if len(o.touches) == 0 {
		return nil
	}
	return o
}

// bytesOf is whose bytes an access is to, as far as it stays within memory that is known.
func (s *space) bytesOf(x *trace.Access) []touch {
	if x.Alloc == 0 || x.Size <= 0 {
		return nil
	}
	lo, hi := max(x.Offset, 0), x.Offset+x.Size
	if size, known := s.sizes[x.Alloc]; known {
		hi = min(hi, size)
	}
	if lo >= hi {
		return nil
	}
	list := s.bytes(nil, x.Alloc, lo, hi, x.Kind)
	covered := int64(0)
	for _, t := range list {
		covered += t.hi - t.lo
	}
	mapping := s.mappingOf(x)
	for k := range list {
		list[k].mapping, list[k].partly = mapping, mapping >= 0 && covered < hi-lo
	}
	return list
}

// bytes appends whose bytes those of some memory are from lo to hi.
func (s *space) bytes(list []touch, id trace.ID, lo, hi int64, kind trace.AccessKind) []touch {
	b, ok := s.blocks[id]
	if !ok {
		return append(list, touch{memory: id, lo: lo, hi: hi, mapping: -1, kind: kind})
	}
	if now := s.pieces(&s.t.Records[b.record]); total(now) > total(b.pieces) { // more was mapped since
		b.pieces = now
		s.blocks[id] = b
	}
	known := len(list)
	for _, p := range b.pieces {
		if first, last := max(lo, p.lo), min(hi, p.hi); first < last {
			list = append(list, touch{memory: p.memory, lo: p.at + first - p.lo, hi: p.at + last - p.lo, block: id, mapping: -1,
				kind: kind})
		}
	}
	if len(list) == known { // of memory that is not known: memory of its own
		list = append(list, touch{memory: id, lo: lo, hi: hi, mapping: -1, kind: kind})
	}
	return list
}

// mappingOf is the record of the mapping that an access goes through, or would if that were still there; -1: there was
// none.
func (s *space) mappingOf(x *trace.Access) int {
	at, size := x.Addr, x.Size
	if b, ok := s.blocks[x.Alloc]; ok {
		at = s.t.Records[b.record].Addr + uint64(max(x.Offset, 0))
	}
	if at == 0 {
		return -1
	}
	for m := range s.last.Within(int64(at), int64(at)+size) {
		return m.Value - 1
	}
	return -1
}

// addresses is the range that a call names. It is empty where the numbers make none.
func addresses(r *trace.Record) (lo, hi int64) {
	size := max(r.Size, 0)
	if r.Addr > math.MaxInt64-uint64(size) {
		return 0, 0
	}
	return int64(r.Addr), int64(r.Addr) + size
}
