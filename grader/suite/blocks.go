package suite

import "cudalab/native/trace"

// Block is memory that a call of the code under test has allocated and what became of it, by indices of records.
type Block struct {
	Alloc   trace.ID
	Made    int
	Pool    trace.ID // 0: the default pool, or none
	Pooled  bool     // from any pool, not from Malloc
	Stream  trace.ID // 0, as the legacy default stream, where it is not pooled
	Size    int64
	Touched []int // the launches that read or write it
	Freed   int   // -1 where it was not
}

// Blocks are what the call allocated, in the order of its calls.
func (c *Call) Blocks() (all []Block) {
	index := map[trace.ID]int{}
	c.Records(func(at int, r *trace.Record) bool {
		if r.Code != 0 {
			return true
		}
		switch r.Op {
		case trace.OpMalloc, trace.OpMallocAsync, trace.OpMallocFromPoolAsync:
			index[r.Alloc] = len(all)
			all = append(all, Block{Alloc: r.Alloc, Made: at, Pool: r.Pool, Pooled: r.Op != trace.OpMalloc, Stream: r.Stream, Size: r.Size, Freed: -1})
		case trace.OpFree, trace.OpFreeAsync:
			if i, ok := index[r.Alloc]; ok {
				all[i].Freed = at
			}
		case trace.OpLaunch:
			for _, a := range r.Accesses {
				if i, ok := index[a.Alloc]; ok {
					all[i].Touched = append(all[i].Touched, at)
				}
			}
		}
		return true
	})
	return all
}

// Allocates reports whether a call takes memory, of the device or pinned.
func Allocates(op trace.Op) bool { return op == trace.OpMallocHost || AllocatesOnDevice(op) }

// AllocatesOnDevice reports whether a call takes memory of the device, from wherever that is.
func AllocatesOnDevice(op trace.Op) bool {
	switch op {
	case trace.OpMalloc, trace.OpMallocAsync, trace.OpMallocFromPoolAsync, trace.OpMemCreate:
		return true
	}
	return false
}
