// Grows as one does without virtual memory: by a larger allocation and a copy.
//
//cudalab:fails growth
//cudalab:may memory
package vmmarena

import (
	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type Arena struct {
	prop                                   cuda.MemAllocationProp
	base, memory                           cuda.DevicePtr
	reserved, granularity, committed, used int64
	closed                                 bool
}

func New(device int, reserve int64) (*Arena, error) {
	if reserve < 1 {
		return nil, contract.ErrArgument
	}
	a := &Arena{}
	a.prop.Type = cuda.MemAllocationTypePinned
	a.prop.Location = cuda.MemLocation{Type: cuda.MemLocationTypeDevice, ID: device}
	var err error
	a.granularity, err = cuda.MemGetAllocationGranularity(a.prop, cuda.MemAllocGranularityMinimum)
	if err != nil {
		return nil, err
	}
	a.reserved = up(reserve, a.granularity)
	a.base, err = cuda.MemAddressReserve(a.reserved, 0, 0, 0)
	if err != nil {
		return nil, err
	}
	return a, nil
}

func (a *Arena) Alloc(size int64) (cuda.DevicePtr, error) {
	if a.closed {
		return 0, contract.ErrClosed
	}
	if size < 1 {
		return 0, contract.ErrSize
	}
	if size > a.reserved-a.used {
		return 0, contract.ErrFull
	}
	end := a.used + up(size, 256)
	if end > a.committed {
		if err := a.grow(end); err != nil {
			return 0, err
		}
	}
	p := a.memory + cuda.DevicePtr(a.used)
	a.used = end
	return p, nil
}

func (a *Arena) grow(need int64) error {
	size := min(2*need, a.reserved)
	next, err := cuda.Malloc(size) // want: copied
	if err != nil {
		return err
	}
	if a.memory != 0 {
		if err := cuda.MemcpyDtoD(next, a.memory, a.used); err != nil {
			return err
		}
		if err := cuda.Free(a.memory); err != nil {
			return err
		}
	}
	a.memory, a.committed = next, size
	return nil
}

func (a *Arena) Reset() error {
	if a.closed {
		return contract.ErrClosed
	}
	a.used = 0
	return nil
}

func (a *Arena) Close() error {
	if a.closed {
		return contract.ErrClosed
	}
	if a.committed > 0 {
		if err := cuda.Free(a.memory); err != nil {
			return err
		}
		a.committed = 0
	}
	if err := cuda.MemAddressFree(a.base, a.reserved); err != nil {
		return err
	}
	a.closed = true
	return nil
}

func (a *Arena) Stats() contract.ArenaStats {
	return contract.ArenaStats{Base: a.base, Used: a.used, Committed: a.committed, Reserved: a.reserved, Granularity: a.granularity}
}

func up(n, unit int64) int64 { return (n + unit - 1) / unit * unit }
