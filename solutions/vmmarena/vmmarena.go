// Package vmmarena is the exercise vmm-arena: an allocator that hands out the next bytes of one long range of addresses,
// and puts memory behind them as it gets there. It grows without moving or copying what is there.
package vmmarena

import (
	"errors"
	"fmt"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

// alignment is what every block begins at a multiple of, in bytes, as cuda.Malloc's blocks do.
const alignment = 256

// Arena hands out blocks one behind the other and takes them back all at once. Its addresses are one reserved range,
// which begins at base and never moves; the first committed bytes of it have memory behind them. Any number of arenas
// may be in use at once.
type Arena struct {
	device      int
	base        cuda.DevicePtr // where the range begins
	reserved    int64          // bytes of the range
	granularity int64          // what the device maps memory in multiples of, in bytes
	committed   int64          // bytes from base on that are mapped and may be used
	used        int64          // bytes from base on that are handed out
	closed      bool
}

// New reserves addresses for reserve bytes, rounded up to the device's granularity, and no memory yet. A reserve below 1
// is contract.ErrArgument, before any CUDA call, and so may be one that no int64 can count once it is rounded up. An
// error that CUDA answers, as where there is no such device or not so many addresses, is returned, and nothing is left
// behind. With any error the Arena is nil.
func New(device int, reserve int64) (*Arena, error) {
	if reserve < 1 {
		return nil, fmt.Errorf("%d bytes of addresses: %w", reserve, contract.ErrArgument)
	}
	a := &Arena{device: device}
	var err error
	if a.granularity, err = cuda.MemGetAllocationGranularity(a.memory(), cuda.MemAllocGranularityMinimum); err != nil {
		return nil, err
	}
	a.reserved = roundUp(reserve, a.granularity)
	if a.base, err = cuda.MemAddressReserve(a.reserved, 0, 0, 0); err != nil {
		return nil, err
	}
	return a, nil
}

// memory says what physical memory the arena wants: of its device, and pinned, which is the only kind there is.
func (a *Arena) memory() cuda.MemAllocationProp {
	return cuda.MemAllocationProp{
		Type:     cuda.MemAllocationTypePinned,
		Location: cuda.MemLocation{Type: cuda.MemLocationTypeDevice, ID: a.device},
	}
}

// Alloc hands out size bytes, rounded up to a multiple of 256, right behind the block before. A size below 1 is
// contract.ErrSize, one for which the addresses do not suffice contract.ErrFull. If more memory is needed and CUDA
// does not give it, that error is returned, and the arena is as it was. CUDA is called only to grow, and the
// memory that a growth adds is not cleared.
func (a *Arena) Alloc(size int64) (cuda.DevicePtr, error) {
	if a.closed {
		return 0, contract.ErrClosed
	}
	if size < 1 {
		return 0, contract.ErrSize
	}
	// Compared with what is left: a sum with a size near the largest int64 would overflow.
	if size > a.reserved-a.used {
		return 0, contract.ErrFull
	}
	end := a.used + roundUp(size, alignment)
	if end > a.committed {
		if err := a.grow(end); err != nil {
			return 0, err
		}
	}
	p := a.base + cuda.DevicePtr(a.used)
	a.used = end
	return p, nil
}

// grow has at least need bytes committed. It asks for 1.25 to 2 times that, so that the next growths are few, and is
// content with what is needed if the device has not so much; after another error of CUDA's it may try that, too.
func (a *Arena) grow(need int64) error {
	least := roundUp(need, a.granularity)
	generous := a.reserved
	if need <= a.reserved/2 {
		generous = roundUp(2*need, a.granularity)
	}
	err := a.commit(generous - a.committed)
	if err != nil && least < generous {
		err = a.commit(least - a.committed)
	}
	return err
}

// commit puts size bytes of memory behind the addresses that follow the committed ones. It is all done or nothing.
func (a *Arena) commit(size int64) error {
	at := a.base + cuda.DevicePtr(a.committed)
	handle, err := cuda.MemCreate(size, a.memory(), 0)
	if err != nil {
		return err
	}
	if err := cuda.MemMap(at, size, 0, handle, 0); err != nil {
		return errors.Join(err, cuda.MemRelease(handle))
	}
	// A mapping keeps the memory alive, so the handle has done its work: from here on, unmapping gives all back.
	if err := cuda.MemRelease(handle); err != nil {
		return errors.Join(err, cuda.MemUnmap(at, size), cuda.MemRelease(handle))
	}
	// Every new mapping begins without any access, also next to one that has it.
	readWrite := cuda.MemAccessDesc{Location: a.memory().Location, Flags: cuda.MemAccessFlagsProtReadWrite}
	if err := cuda.MemSetAccess(at, size, []cuda.MemAccessDesc{readWrite}); err != nil {
		return errors.Join(err, cuda.MemUnmap(at, size))
	}
	a.committed += size
	return nil
}

// Reset takes all blocks back at once: the next one begins at Base again. The memory stays mapped. The caller has
// finished all use of the blocks, so nothing has to be waited for.
func (a *Arena) Reset() error {
	if a.closed {
		return contract.ErrClosed
	}
	a.used = 0
	return nil
}

// Close gives memory and addresses back. The caller has finished all use of the blocks. Where CUDA answers an error, that
// is returned, and calling Close again gives back what is left; no memory that has gone is handed out until then.
// Otherwise the arena is closed, and every later call that can answer an error answers contract.ErrClosed.
func (a *Arena) Close() error {
	if a.closed {
		return contract.ErrClosed
	}
	if a.committed > 0 {
		// One call takes any number of whole mappings away.
		if err := cuda.MemUnmap(a.base, a.committed); err != nil {
			return err
		}
		a.used, a.committed = 0, 0
	}
	if err := cuda.MemAddressFree(a.base, a.reserved); err != nil {
		return err
	}
	a.closed = true
	return nil
}

// Stats is the arena's state.
func (a *Arena) Stats() contract.ArenaStats {
	return contract.ArenaStats{
		Base: a.base, Used: a.used, Committed: a.committed, Reserved: a.reserved, Granularity: a.granularity,
	}
}

// roundUp is the smallest multiple of unit that is not below n.
func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }
