package schedule

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"cudalab/native/device"
	"cudalab/native/interval"
	"cudalab/native/trace"
)

// Kernels finds a kernel by its entry point; nil where there is none of that name.
type Kernels func(entry string) *device.Kernel

// mostBytes is how many bytes the calls of an order may use together for it to be carried out with its values, and
// mostCalls how many they may be: nobody is to wait for it.
const (
	mostBytes = 16 << 20
	mostCalls = 600
)

// values are what a call has found and written in an order, as the kernels compute it. The trace has to hold what its
// calls were given.
type values struct {
	Finds  [][]byte // of each range that the call reads, in the order of its accesses
	Writes [][]byte // of each that it writes or updates, likewise
}

// Values carries an order out, up to a call, on memory that holds bytes. It is not ok where they cannot be known: where
// they hang on memory that nothing has written, or that was written before the trace, or where there would be too much
// to do.
func (p *Program) Values(order []int, call int, kernels Kernels) (v values, ok bool) {
	if len(order) > mostCalls {
		return values{}, false
	}
	left := int64(mostBytes)
	for _, i := range order {
		for _, t := range p.ops[i].touches {
			if n := t.hi - t.lo; p.ops[i].kind == uses && (n < 0 || n > left) {
				return values{}, false
			} else if p.ops[i].kind == uses {
				left -= n
			}
		}
	}
	b := &machine{p: p, kernels: kernels, memory: p.execute(nil, false), // on which all is carried out from the beginning
		bytes: map[trace.ID]*pages{}}
	for _, i := range order {
		o := p.ops[i]
		if i == call {
			v.Finds, ok = b.read(o, trace.Read)
		}
		if o.kind == uses {
			b.use(i, o)
		}
		b.memory.do(i)
		if o.kind == makes && !o.part {
			delete(b.bytes, o.memory)
		}
		if i == call {
			var known bool
			v.Writes, known = b.read(o, trace.Write, trace.Atomic)
			return v, ok && known
		}
	}
	return values{}, false
}

// machine carries calls out on bytes. What is known of them is kept apart: bytes that nobody knows spoil whatever is
// made of them.
type machine struct {
	p       *Program
	kernels Kernels
	memory  *memory // which says what exists
	bytes   map[trace.ID]*pages
}

// pages are the bytes of some memory, as far as they were touched.
type pages struct {
	at    map[int64]*[pageSize]byte
	known interval.Map[int64, bool]
}

const pageSize = 1 << 14

func (b *machine) of(id trace.ID) *pages {
	p := b.bytes[id]
	if p == nil {
		p = &pages{at: map[int64]*[pageSize]byte{}}
		b.bytes[id] = p
	}
	return p
}

// view is the bytes of a page from an offset on, at most up to hi.
func (p *pages) view(lo, hi int64) []byte {
	number, first := lo/pageSize, lo%pageSize
	page := p.at[number]
	if page == nil {
		page = new([pageSize]byte)
		p.at[number] = page
	}
	return page[first:min(first+hi-lo, pageSize)]
}

// isKnown reports whether all bytes of a range are known.
func (p *pages) isKnown(lo, hi int64) bool {
	for s := range p.known.Within(lo, hi) {
		if s.Lo > lo {
			return false
		}
		lo = s.Hi
	}
	return lo >= hi
}

// copyTo copies bytes from an offset on, in pieces.
func (p *pages) copyTo(lo int64, to []byte) {
	for len(to) > 0 {
		n := copy(to, p.view(lo, lo+int64(len(to))))
		lo, to = lo+int64(n), to[n:]
	}
}

// write puts bytes in, in pieces.
func (p *pages) write(lo int64, from []byte) {
	for len(from) > 0 {
		n := copy(p.view(lo, lo+int64(len(from))), from)
		lo, from = lo+int64(n), from[n:]
	}
}

// read is what a call's ranges of some kinds hold; not ok where that is not known.
func (b *machine) read(o *op, kinds ...trace.AccessKind) (all [][]byte, ok bool) {
	for _, t := range o.touches {
		for _, kind := range kinds {
			if t.kind != kind {
				continue
			}
			if !b.of(t.memory).isKnown(t.lo, t.hi) {
				return nil, false
			}
			part := make([]byte, t.hi-t.lo)
			b.of(t.memory).copyTo(t.lo, part)
			all = append(all, part)
		}
	}
	return all, true
}

// use carries out a call, as far as it can be known what it does.
func (b *machine) use(i int, o *op) {
	known := true
	for _, t := range o.touches {
		if b.memory.usable(i, t) != exists || t.kind != trace.Write && !b.of(t.memory).isKnown(t.lo, t.hi) {
			known = false
		}
	}
	known = known && b.do(i)
	for _, t := range o.touches {
		switch {
		case t.kind == trace.Read:
		case known:
			b.of(t.memory).known.Set(t.lo, t.hi, true)
		default:
			b.of(t.memory).known.Cut(t.lo, t.hi)
		}
	}
}

// do does what the i-th record's call does, and reports whether it is known what that is.
func (b *machine) do(i int) bool {
	r := &b.p.Trace.Records[i]
	switch r.Op {
	case trace.OpHostRead, trace.OpMemcpyDtoH, trace.OpMemcpyDtoHAsync:
		if r.Host != trace.Pinned || r.Op == trace.OpHostRead {
			return true
		}
		return b.copy(i)
	case trace.OpMemcpyDtoD, trace.OpMemcpyDtoDAsync:
		return b.copy(i)
	case trace.OpMemcpyHtoD, trace.OpMemcpyHtoDAsync:
		if r.Host == trace.Pinned {
			return b.copy(i)
		}
		return r.Given != nil && b.put(i, r.Given.Data)
	case trace.OpHostWrite:
		return r.Given != nil && b.put(i, r.Given.Data)
	case trace.OpMemset, trace.OpMemsetAsync:
		if r.Given == nil || len(r.Given.Data) != 1 {
			return false
		}
		size := int64(0)
		for _, t := range b.p.ops[i].touches {
			size += t.hi - t.lo
		}
		return b.put(i, bytes.Repeat(r.Given.Data, int(size)))
	case trace.OpLaunch:
		return b.launch(r)
	}
	return false
}

// put writes what a call was given to what it writes.
func (b *machine) put(i int, bytes []byte) bool {
	for _, t := range b.p.ops[i].touches {
		if t.kind != trace.Write {
			continue
		}
		n := t.hi - t.lo
		if int64(len(bytes)) < n {
			return false
		}
		b.of(t.memory).write(t.lo, bytes[:n])
		bytes = bytes[n:]
	}
	return true
}

// copy writes what a call reads to what it writes.
func (b *machine) copy(i int) bool {
	var all []byte
	read, ok := b.read(b.p.ops[i], trace.Read)
	for _, part := range read {
		all = append(all, part...)
	}
	return ok && b.put(i, all)
}

// launch carries out a kernel.
func (b *machine) launch(r *trace.Record) bool {
	k := b.kernels(r.Kernel)
	if k == nil || r.Given == nil || len(r.Given.Args) != k.Params() {
		return false
	}
	g := r.Given
	l := &device.Launch{Kernel: k, Grid: device.Dim{X: g.Grid[0], Y: g.Grid[1], Z: g.Grid[2]},
		Block: device.Dim{X: g.Block[0], Y: g.Block[1], Z: g.Block[2]}}
	copy(l.Args[:], g.Args)
	m := &deviceMemory{b, b.windows(r), false}
	k.Exec(l, m)
	return !m.lost
}

// deviceMemory is what a kernel sees: the ranges that its launch touches, at the addresses that they had.
type deviceMemory struct {
	b       *machine
	windows []windowOn
	lost    bool // the kernel has gone beyond them
}

// windowOn is a range of addresses and whose bytes are there.
type windowOn struct {
	addr   uint64
	size   int64
	memory trace.ID
	lo     int64
}

// windows are the ranges that a launch touches.
func (b *machine) windows(r *trace.Record) (list []windowOn) {
	for _, x := range r.Accesses {
		addr := x.Addr
		if addr == 0 {
			addr = b.p.space.bases[x.Alloc] + uint64(max(x.Offset, 0))
		}
		for _, t := range b.p.space.bytesOf(&x) {
			list = append(list, windowOn{addr, t.hi - t.lo, t.memory, t.lo})
			addr += uint64(t.hi - t.lo)
		}
	}
	return list
}

// View is device.Memory's.
func (m *deviceMemory) View(p device.Ptr, n uint64) []byte {
	for _, w := range m.windows {
		if at := int64(uint64(p) - w.addr); uint64(p) >= w.addr && at < w.size {
			return m.b.of(w.memory).view(w.lo+at, w.lo+min(at+int64(n), w.size))
		}
	}
	m.lost = true
	return nil
}

// Fill is device.Memory's.
func (m *deviceMemory) Fill(p device.Ptr, n uint64, write func(first int64, bytes []byte)) bool {
	for first := uint64(0); first < n; {
		bytes := m.View(p+device.Ptr(first), n-first)
		if bytes == nil {
			return false
		}
		write(int64(first), bytes)
		first += uint64(len(bytes))
	}
	return true
}

// changed says what of a call's values is other in an order than it should be; "" where that is not known.
func changed(should, is values) string {
	for k := range min(len(should.Writes), len(is.Writes)) {
		if a, b := should.Writes[k], is.Writes[k]; len(a) == 8 && len(b) == 8 && string(a) != string(b) {
			return fmt.Sprintf("what it adds up comes to %s instead of %s", grouped(fmt.Sprint(binary.LittleEndian.Uint64(b))),
				grouped(fmt.Sprint(binary.LittleEndian.Uint64(a))))
		}
	}
	for k := range min(len(should.Finds), len(is.Finds)) {
		a, b := should.Finds[k], is.Finds[k]
		for i := 0; i+4 <= min(len(a), len(b)); i += 4 {
			if x, y := binary.LittleEndian.Uint32(a[i:]), binary.LittleEndian.Uint32(b[i:]); x != y {
				return fmt.Sprintf("the word at byte %d is 0x%08x instead of 0x%08x", i, y, x)
			}
		}
	}
	return ""
}
