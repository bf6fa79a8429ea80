package timeline

import (
	"cudalab/native/device"
	"cudalab/native/trace"
)

// Kind tells what memory a Block is.
type Kind uint8

// The kinds of memory.
const (
	DeviceMemory Kind = iota // from Malloc or a pool
	PinnedMemory             // of the host, from MallocHost
	Reservation              // addresses without memory, from MemAddressReserve
	Mapping                  // physical memory mapped into a reservation
	Part                     // what an allocator under test handed out
)

func (k Kind) String() string {
	return [...]string{"device memory", "pinned host memory", "reserved addresses", "mapped memory", "block"}[k]
}

// Block is a piece of memory and its life.
type Block struct {
	Kind    Kind
	Addr    uint64
	Size    int64 // bytes
	Made    int   // index into Calls
	Freed   int   // index into Calls; -1 where it never was
	From    int64 // from when on it was there, on the clock of Call.Start
	Until   int64 // and until when; where it never was freed, the end of the trace
	Student bool  // made by the code under test
}

// Level is a figure of a pool's at a time.
type Level struct {
	Record   int // index into Trace.Records
	Time     int64
	Pool     trace.ID
	Reserved bool // the memory that the pool holds; otherwise that which is handed out
	Bytes    uint64
}

// memory follows the blocks and the pools.
func (t *Timeline) memory(at []int) {
	live := map[key]int{} // index into Blocks
	for i := range t.Trace.Records {
		r := &t.Trace.Records[i]
		if r.Op == trace.OpMemPoolGetAttribute && r.Site == 0 {
			t.level(i, r)
			continue
		}
		if at[i] < 0 || r.Phase == trace.Enter || r.Code != 0 {
			continue
		}
		c := &t.Calls[at[i]]
		k, addr := key{kind: DeviceMemory, alloc: r.Alloc}, r.Addr
		switch r.Op {
		case trace.OpMalloc, trace.OpMallocAsync, trace.OpMallocFromPoolAsync:
			t.made(live, k, addr, at[i])
		case trace.OpMallocHost:
			k.kind = PinnedMemory
			t.made(live, k, addr, at[i])
		case trace.OpBlockAlloc:
			k.kind = Part
			t.made(live, k, addr, at[i])
		case trace.OpMemAddressReserve:
			t.made(live, key{kind: Reservation, addr: addr}, addr, at[i])
		case trace.OpMemMap:
			t.made(live, key{kind: Mapping, addr: addr}, addr, at[i])
		case trace.OpFree, trace.OpFreeAsync:
			t.freed(live, k, at[i])
		case trace.OpFreeHost:
			k.kind = PinnedMemory
			t.freed(live, k, at[i])
		case trace.OpBlockFree:
			k.kind = Part
			t.freed(live, k, at[i])
		case trace.OpMemAddressFree:
			t.freed(live, key{kind: Reservation, addr: addr}, at[i])
		case trace.OpMemUnmap:
			for k, b := range live {
				if k.kind == Mapping && k.addr >= addr && k.addr < addr+uint64(c.Size) {
					t.Blocks[b].Freed, t.Blocks[b].Until = at[i], c.Start
					delete(live, k)
				}
			}
		}
	}
	var end int64
	for i := range t.Calls {
		end = max(end, t.Calls[i].End, t.Calls[i].Time+t.Calls[i].Took)
	}
	for i := range t.Blocks {
		if t.Blocks[i].Freed < 0 {
			t.Blocks[i].Until = end
		}
	}
}

// key is what a live block is found by: its identity, or its address where it has none of its own.
type key struct {
	kind  Kind
	alloc trace.ID
	addr  uint64
}

func (t *Timeline) made(live map[key]int, k key, addr uint64, call int) {
	c := &t.Calls[call]
	live[k] = len(t.Blocks)
	t.Blocks = append(t.Blocks, Block{
		Kind: k.kind, Addr: addr, Size: c.Size, Made: call, Freed: -1, From: c.Start,
		Student: len(c.Places) > 0,
	})
}

func (t *Timeline) freed(live map[key]int, k key, call int) {
	i, ok := live[k]
	if !ok {
		return
	}
	b := &t.Blocks[i]
	b.Freed, b.Until = call, max(t.Calls[call].End, b.From)
	delete(live, k)
}

func (t *Timeline) level(i int, r *trace.Record) {
	t.Levels = append(t.Levels, Level{
		Record: i, Time: r.Time, Pool: r.Pool, Bytes: r.Value,
		Reserved: device.PoolAttr(r.Attr) == device.PoolReservedMemCurrent,
	})
}

// Space is one stretch of addresses: an allocation that an allocator under test hands out in parts, or a reservation.
type Space struct {
	Block  int   // index into Blocks
	Parts  []int // of it, as indices into Blocks, in the order in which they were made
	Mapped []int // the memory mapped into it, likewise
}

// Spaces finds the allocations and reservations that something lies in.
func (t *Timeline) Spaces() []Space {
	var spaces []Space
	for i, b := range t.Blocks {
		if b.Kind != DeviceMemory && b.Kind != Reservation {
			continue
		}
		s := Space{Block: i}
		for j, p := range t.Blocks {
			inside := p.Addr >= b.Addr && p.Addr < b.Addr+uint64(b.Size) && b.livesAt(p.Made)
			switch {
			case !inside:
			case p.Kind == Part:
				s.Parts = append(s.Parts, j)
			case p.Kind == Mapping:
				s.Mapped = append(s.Mapped, j)
			}
		}
		if len(s.Parts)+len(s.Mapped) > 0 {
			spaces = append(spaces, s)
		}
	}
	return spaces
}

func (b *Block) livesAt(call int) bool { return b.Made <= call && (b.Freed < 0 || call < b.Freed) }
