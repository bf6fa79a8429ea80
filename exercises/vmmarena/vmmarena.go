// Package vmmarena is the exercise vmm-arena: an allocator that hands out the next bytes of one long range of addresses,
// and puts memory behind them as it gets there. It grows without moving or copying what is there.
package vmmarena

import (
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
	// TODO(1a): Answer contract.ErrArgument if reserve is below 1.
	if err := contract.TODO("1a"); err != nil {
		return nil, err
	}
	a := &Arena{device: device}
	// TODO(1b): Ask the device for its minimum granularity, and reserve the addresses: reserve bytes, rounded up to it.
	if err := contract.TODO("1b"); err != nil {
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
	// TODO(1c): Refuse what the comment above says, and everything after Close (contract.ErrClosed). Then hand out the next
	// bytes, and have the arena grow before that if it must.
	return 0, contract.TODO("1c")
}

// grow has at least need bytes committed. It asks for 1.25 to 2 times that, so that the next growths are few, and is
// content with what is needed if the device has not so much; after another error of CUDA's it may try that, too.
func (a *Arena) grow(need int64) error {
	// TODO(1d): Decide how much is to be committed, and commit what is missing. Try again with less if the device refuses.
	return contract.TODO("1d")
}

// commit puts size bytes of memory behind the addresses that follow the committed ones. It is all done or nothing.
func (a *Arena) commit(size int64) error {
	// TODO(1e): Create physical memory, map it, and allow the device to read and write it. Leave nothing behind if one of
	// these fails.
	return contract.TODO("1e")
}

// Reset takes all blocks back at once: the next one begins at Base again. The memory stays mapped. The caller has
// finished all use of the blocks, so nothing has to be waited for.
func (a *Arena) Reset() error {
	// TODO(1f): Take all blocks back, or answer contract.ErrClosed after Close.
	return contract.TODO("1f")
}

// Close gives memory and addresses back. The caller has finished all use of the blocks. Where CUDA answers an error, that
// is returned, and calling Close again gives back what is left; no memory that has gone is handed out until then.
// Otherwise the arena is closed, and every later call that can answer an error answers contract.ErrClosed.
func (a *Arena) Close() error {
	// TODO(1g): Give back the memory and the addresses, also if an earlier Close stopped halfway.
	return contract.TODO("1g")
}

// Stats is the arena's state.
func (a *Arena) Stats() contract.ArenaStats {
	return contract.ArenaStats{
		Base: a.base, Used: a.used, Committed: a.committed, Reserved: a.reserved, Granularity: a.granularity,
	}
}

// roundUp is the smallest multiple of unit that is not below n.
func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }
