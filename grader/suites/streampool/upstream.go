package streampool

import (
	"errors"

	"cudalab/grader/suite"
	"cudalab/native/cuda"
)

// lent is an upstream as a pool gets it.
type lent suite.Lent[*upstream]

func (l lent) Malloc(size int64, s cuda.Stream) (cuda.DevicePtr, error) { return l().Malloc(size, s) }
func (l lent) Free(at cuda.DevicePtr) error                             { return l().Free(at) }

func (u *upstream) lend() lent { return lent(suite.Lend(u)) }

// upstream is the grader's own, with a limit. It keeps account of what it was asked.
type upstream struct {
	limit   int64
	side    bool // what it hands out lies side by side, in one allocation of CUDA's
	ordered bool // it hands out in stream order, and not at once; then nothing lies side by side

	region cuda.DevicePtr // that allocation, as long as anything of it is out
	sizes  map[cuda.DevicePtr]int64
	held   int64
	least  int64   // the least size that it has refused; 0: none
	log    []int64 // three numbers for each thing that has happened since it was read: what, a size, an address
}

// What the log tells of.
const (
	handedOut int64 = 1 + iota
	refused
	takenBack
	keptBack    // a Free that failed
	calledCUDA  // once for each cuda.Malloc or cuda.MallocAsync
	calledFree  // once for each cuda.Free
	logged      = 3
	saidRefusal = 1 // what stands before the log where the error was, or wraps, the upstream's
	past        = 2 // what stands there where the log is that of a past, which nobody judges
)

// errNoMore is the upstream's own.
var errNoMore = errors.New("the upstream has no more memory")

func newUpstream(l layout) *upstream {
	return &upstream{limit: l.limit, side: l.side, ordered: l.ordered, sizes: map[cuda.DevicePtr]int64{}}
}

func (u *upstream) note(what, size int64, at cuda.DevicePtr) {
	u.log = append(u.log, what, size, int64(at))
}

// seen is what was asked since it was last read, behind whether an error tells of a refusal; nil: neither.
func (u *upstream) seen(err error) []int64 {
	said := int64(0)
	if errors.Is(err, errNoMore) || errors.Is(err, cuda.ErrorMemoryAllocation) {
		said = saidRefusal
	}
	if said == 0 && len(u.log) == 0 {
		return nil
	}
	all := append([]int64{said}, u.log...)
	u.log = u.log[:0]
	return all
}

// Malloc hands out memory within the limit.
func (u *upstream) Malloc(size int64, s cuda.Stream) (at cuda.DevicePtr, err error) {
	switch {
	case size < 1 || size > u.limit-u.held:
		err = errNoMore
	case u.side:
		at, err = u.beside(size)
	default:
		at, err = u.malloc(size, s)
	}
	if err != nil {
		u.note(refused, size, 0)
		if u.least == 0 || size < u.least {
			u.least = size
		}
		return 0, err
	}
	u.sizes[at] = size
	u.held += size
	u.note(handedOut, size, at)
	return at, nil
}

func (u *upstream) malloc(size int64, s cuda.Stream) (cuda.DevicePtr, error) {
	u.note(calledCUDA, size, 0)
	if u.ordered {
		return cuda.MallocAsync(size, s)
	}
	return cuda.Malloc(size)
}

// beside is the lowest room in the region.
func (u *upstream) beside(size int64) (at cuda.DevicePtr, err error) {
	if len(u.sizes) == 0 {
		if u.region, err = u.malloc(u.limit, cuda.Stream{}); err != nil {
			return 0, err
		}
	}
	at = u.region
	for moved := true; moved; {
		moved = false
		for other, length := range u.sizes {
			if at < other+cuda.DevicePtr(length) && other < at+cuda.DevicePtr(size) {
				at, moved = other+cuda.DevicePtr((length+255)/256*256), true
			}
		}
	}
	if at+cuda.DevicePtr(size) > u.region+cuda.DevicePtr(u.limit) {
		return 0, errNoMore
	}
	return at, nil
}

// Free takes back what Malloc has handed out, and passes on what it has not to CUDA, which has words for that.
func (u *upstream) Free(at cuda.DevicePtr) error {
	size, known := u.sizes[at]
	gives := at
	if u.side && known {
		gives = u.region
	}
	if !u.side || !known || len(u.sizes) == 1 {
		u.note(calledFree, 0, gives)
		if u.ordered { // for memory of cuda.Malloc cuda.Free waits; whether the pool has waited is for trim to tell
			if err := cuda.DeviceSynchronize(); err != nil {
				return err
			}
		}
		if err := cuda.Free(gives); err != nil {
			u.note(keptBack, size, at)
			return err
		}
	}
	if known {
		delete(u.sizes, at)
		u.held -= size
		u.note(takenBack, size, at)
	}
	return nil
}
