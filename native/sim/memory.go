package sim

import (
	"slices"
	"sort"
	"sync"
)

// poisonByte is every byte of memory that was allocated or freed and not written since: as a float32 about -1.2e17, as
// an int32 -606348325.
const poisonByte byte = 0xDB

// chunkSize is how much memory is made at once. It divides every granule of MemAlloc and every step of a pool.
const chunkSize = 256 << 10

// pageSize is how much of a chunk is written or not at a time: 4 KiB.
const pageSize = chunkSize / 64

// chunk is memory that somebody has touched. What is written to it is put off for as long as nobody looks: most memory
// is poisoned again before.
type chunk struct {
	bytes     *[chunkSize]byte // nil until somebody looks
	unwritten uint64           // by page, whether it holds poison, whatever is in bytes
	later     func([]byte)     // writes all bytes when somebody looks; nil: that has been done
}

// spareChunks is how many chunks' bytes are kept for the next touch: 64 MiB.
const spareChunks = 256

// memory is the mapped part of the device's address space and what is in it.
type memory struct {
	mappings []*mapping         // by address
	spare    []*[chunkSize]byte // of any content
}

// mapping is a stretch of mapped addresses. A chunk that is nil holds poison. Of the last chunk, the mapping may have
// only the beginning.
type mapping struct {
	base, size uint64
	chunks     []*chunk  // nil until the first touch
	shared     *physical // whose chunks these are; nil: nobody else's
	readOnly   bool
}

func (m *mapping) end() uint64 { return m.base + m.size }

// add maps addresses that are not mapped yet; both numbers are multiples of chunkSize.
func (m *memory) add(base, size uint64) { m.show(&mapping{base: base, size: size}) }

// show maps addresses that are not mapped yet to the chunks that a mapping has.
func (m *memory) show(r *mapping) { m.mappings = slices.Insert(m.mappings, m.at(r.base), r) }

// hide takes a mapping away and leaves its chunks as they are.
func (m *memory) hide(r *mapping) {
	i := m.at(r.base)
	m.mappings = slices.Delete(m.mappings, i, i+1)
}

// remove unmaps addresses that are mapped, by one mapping or several, and forgets what was there.
func (m *memory) remove(base, size uint64) {
	m.poison(base, size)
	end := base + size
	first := m.at(base)
	last := first
	var rest []*mapping
	for ; last < len(m.mappings) && m.mappings[last].base < end; last++ {
		old := m.mappings[last]
		if old.base < base {
			rest = append(rest, old.part(old.base, base-old.base))
		}
		if old.end() > end {
			rest = append(rest, old.part(end, old.end()-end))
		}
	}
	m.mappings = slices.Replace(m.mappings, first, last, rest...)
}

func (m *mapping) part(base, size uint64) *mapping {
	p := &mapping{base: base, size: size}
	if m.chunks != nil {
		first := (base - m.base) / chunkSize
		p.chunks = slices.Clone(m.chunks[first : first+size/chunkSize])
	}
	return p
}

// at is the index of the first mapping that ends behind an address.
func (m *memory) at(address uint64) int {
	return sort.Search(len(m.mappings), func(i int) bool { return m.mappings[i].end() > address })
}

// view is the memory at an address: at most n bytes, and no further than a chunk. With overwrite, the caller is about
// to write all of it. It is nil where nothing is mapped, and with overwrite where memory is read-only.
func (m *memory) view(address, n uint64, overwrite bool) []byte {
	i := m.at(address)
	if i == len(m.mappings) || m.mappings[i].base > address {
		return nil
	}
	r := m.mappings[i]
	if overwrite && r.readOnly {
		return nil
	}
	index, offset := (address-r.base)/chunkSize, (address-r.base)%chunkSize
	n = min(n, chunkSize-offset, r.end()-address)
	return m.open(r.chunk(index), offset, offset+n, overwrite)
}

// chunk is the mapping's chunk with this index, made where there is none.
func (r *mapping) chunk(index uint64) *chunk {
	if r.touched() == nil {
		r.chunks = make([]*chunk, (r.size+chunkSize-1)/chunkSize)
		if r.shared != nil {
			r.shared.chunks = r.chunks
		}
	}
	if r.chunks[index] == nil {
		r.chunks[index] = &chunk{unwritten: ^uint64(0)}
	}
	return r.chunks[index]
}

// touched is the mapping's chunks, which another mapping of the same memory may have made; nil: nobody has touched it.
func (r *mapping) touched() []*chunk {
	if r.chunks == nil && r.shared != nil {
		r.chunks = r.shared.chunks
	}
	return r.chunks
}

// open has the bytes of a chunk from one up to another be what they mean.
func (m *memory) open(c *chunk, from, to uint64, overwrite bool) []byte {
	if overwrite && to-from == chunkSize {
		c.unwritten, c.later = 0, nil
	}
	m.write(c)
	for at := from / pageSize * pageSize; c.unwritten != 0 && at < to; at += pageSize {
		if bit := uint64(1) << (at / pageSize); c.unwritten&bit != 0 {
			c.unwritten &^= bit
			if !overwrite || at < from || at+pageSize > to {
				fill(c.bytes[at:at+pageSize], poisonByte)
			}
		}
	}
	return c.bytes[from:to]
}

// write sees to it that a chunk has bytes, and does what was put off.
func (m *memory) write(c *chunk) {
	if c.bytes == nil {
		c.bytes = m.take()
	}
	if c.later != nil {
		c.later(c.bytes[:])
		c.later = nil
	}
}

// fill has f write n bytes at an address, in pieces: f is given the index of a piece's first byte and the piece, all of
// which it writes, by the index alone. Of whole chunks that happens when somebody looks, or never. It reports false
// where it came to addresses that are not mapped or are read-only.
func (m *memory) fill(address, n uint64, f func(first int64, bytes []byte)) bool {
	for done := uint64(0); done < n; {
		first := int64(done)
		if c := m.whole(address+done, n-done); c != nil {
			c.unwritten, c.later = 0, func(bytes []byte) { f(first, bytes) }
			done += chunkSize
			continue
		}
		b := m.view(address+done, n-done, true)
		if b == nil {
			return false
		}
		f(first, b)
		done += uint64(len(b))
	}
	return true
}

// whole is the chunk that begins at an address, made where there is none, with bytes that nobody has to see any more.
// It is nil where none begins there or fewer than all its bytes, of which there are n, are written.
func (m *memory) whole(address, n uint64) *chunk {
	i := m.at(address)
	if n < chunkSize || i == len(m.mappings) || m.mappings[i].base > address || m.mappings[i].readOnly {
		return nil
	}
	r := m.mappings[i]
	if (address-r.base)%chunkSize != 0 || r.end()-address < chunkSize {
		return nil
	}
	return r.chunk((address - r.base) / chunkSize)
}

// unwritten is how many bytes from an address on, n at most, nobody has written, as far as that shows without a look at
// them: up to the end of a chunk that has not been made.
func (m *memory) unwritten(address, n uint64) uint64 {
	i := m.at(address)
	if i == len(m.mappings) || m.mappings[i].base > address {
		return 0
	}
	r := m.mappings[i]
	index, offset := (address-r.base)/chunkSize, (address-r.base)%chunkSize
	if r.touched() != nil && r.chunks[index] != nil {
		return 0
	}
	return min(n, chunkSize-offset, r.end()-address)
}

// writable is how many bytes from an address on, n at most, can be written, as far as its mapping goes.
func (m *memory) writable(address, n uint64) uint64 {
	i := m.at(address)
	if i == len(m.mappings) || m.mappings[i].base > address || m.mappings[i].readOnly {
		return 0
	}
	return min(n, m.mappings[i].end()-address)
}

// take is the bytes of a chunk, of any content.
func (m *memory) take() *[chunkSize]byte {
	if len(m.spare) == 0 {
		m.spare = append(m.spare, left.take())
	}
	c := m.spare[len(m.spare)-1]
	m.spare = m.spare[:len(m.spare)-1]
	return c
}

// left is what closed devices have left, for others in the same process: memory that the operating system has to find
// takes several times as long to fill.
var left leftover

type leftover struct {
	mu     sync.Mutex
	chunks []*[chunkSize]byte // of any content
}

func (l *leftover) take() *[chunkSize]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.chunks) == 0 {
		return new([chunkSize]byte)
	}
	c := l.chunks[len(l.chunks)-1]
	l.chunks = l.chunks[:len(l.chunks)-1]
	return c
}

func (l *leftover) add(chunks []*[chunkSize]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.chunks = append(l.chunks, chunks[:min(len(chunks), spareChunks-len(l.chunks))]...)
}

// close leaves the chunks to others.
func (m *memory) close() {
	for _, r := range m.mappings {
		m.poison(r.base, r.size)
	}
	left.add(m.spare)
	*m = memory{}
}

// keep takes the bytes of a chunk that nobody uses any more.
func (m *memory) keep(c *chunk) {
	if c.bytes != nil && len(m.spare) < spareChunks {
		m.spare = append(m.spare, c.bytes)
	}
}

// poison makes whatever is mapped of these addresses unwritten again.
func (m *memory) poison(address, size uint64) {
	end := address + size
	for i := m.at(address); i < len(m.mappings) && m.mappings[i].base < end; i++ {
		r := m.mappings[i]
		if r.touched() == nil {
			continue
		}
		from, to := max(address, r.base)-r.base, min(end, r.end())-r.base
		for from < to {
			index, offset := from/chunkSize, from%chunkSize
			n := min(to-from, chunkSize-offset)
			if c := r.chunks[index]; c != nil && n == chunkSize {
				r.chunks[index] = nil
				m.keep(c)
			} else if c != nil {
				m.poisonPart(c, offset, offset+n)
			}
			from += n
		}
	}
}

// poisonPart makes the bytes of a chunk from one up to another unwritten again.
func (m *memory) poisonPart(c *chunk, from, to uint64) {
	m.write(c)
	for at := from / pageSize * pageSize; at < to; at += pageSize {
		bit := uint64(1) << (at / pageSize)
		switch {
		case from <= at && at+pageSize <= to:
			c.unwritten |= bit
		case c.unwritten&bit == 0:
			fill(c.bytes[max(from, at):min(to, at+pageSize)], poisonByte)
		}
	}
}

// fill sets every byte.
func fill(b []byte, value byte) {
	switch {
	case len(b) == 0:
		return
	case value == 0:
		clear(b)
		return
	}
	b[0] = value
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}
