// Takes a longer range when its own is used up to the half, and copies what is there.
//
//cudalab:fails arguments bump growth
//cudalab:may committed reset memory cleanup
package vmmarena

import (
	"errors"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type Arena struct {
	prop                                   cuda.MemAllocationProp
	base                                   cuda.DevicePtr
	reserved, granularity, committed, used int64
	closed                                 bool
	room                                   int64
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
	a.room = a.granularity
	a.base, err = cuda.MemAddressReserve(a.room, 0, 0, 0)
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
	p := a.base + cuda.DevicePtr(a.used)
	a.used = end
	return p, nil
}

func (a *Arena) grow(need int64) error {
	wish := min(up(2*need, a.granularity), a.reserved)
	if wish <= a.room {
		return a.commit(wish - a.committed)
	}
	old := *a
	base, err := cuda.MemAddressReserve(wish, 0, 0, 0) // want: moved
	if err != nil {
		return err
	}
	a.base, a.room, a.committed = base, wish, 0
	if err := a.commit(wish); err != nil {
		*a = old
		return errors.Join(err, cuda.MemAddressFree(base, wish))
	}
	if old.committed == 0 {
		return cuda.MemAddressFree(old.base, old.room)
	}
	if err := cuda.MemcpyDtoD(base, old.base, old.committed); err != nil { // want: copied
		return err
	}
	if err := cuda.DeviceSynchronize(); err != nil {
		return err
	}
	if err := cuda.MemUnmap(old.base, old.committed); err != nil {
		return err
	}
	return cuda.MemAddressFree(old.base, old.room)
}

func (a *Arena) commit(size int64) error {
	at := a.base + cuda.DevicePtr(a.committed)
	handle, err := cuda.MemCreate(size, a.prop, 0)
	if err != nil {
		return err
	}
	if err := cuda.MemMap(at, size, 0, handle, 0); err != nil {
		return errors.Join(err, cuda.MemRelease(handle))
	}
	if err := a.allow(at, size); err != nil {
		return errors.Join(err, cuda.MemUnmap(at, size), cuda.MemRelease(handle))
	}
	if err := cuda.MemRelease(handle); err != nil {
		return errors.Join(err, cuda.MemUnmap(at, size), cuda.MemRelease(handle))
	}
	a.committed += size
	return nil
}

func (a *Arena) allow(at cuda.DevicePtr, size int64) error {
	return cuda.MemSetAccess(at, size, []cuda.MemAccessDesc{{Location: a.prop.Location, Flags: cuda.MemAccessFlagsProtReadWrite}})
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
		if err := cuda.MemUnmap(a.base, a.committed); err != nil {
			return err
		}
		a.committed = 0
	}
	if err := cuda.MemAddressFree(a.base, a.room); err != nil {
		return err
	}
	a.closed = true
	return nil
}

func (a *Arena) Stats() contract.ArenaStats {
	return contract.ArenaStats{Base: a.base, Used: a.used, Committed: a.committed, Reserved: a.reserved, Granularity: a.granularity}
}

func up(n, unit int64) int64 { return (n + unit - 1) / unit * unit }
