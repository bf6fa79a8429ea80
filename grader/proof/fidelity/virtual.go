package fidelity

import "cudalab/native/cuda"

// space is reserved addresses, of which the first are mapped.
type space struct {
	k      *kit
	base   cuda.DevicePtr
	size   int64
	mapped int64
}

// reserve takes addresses.
func (k *kit) reserve(size int64) *space {
	return &space{k: k, base: got[cuda.DevicePtr](k)(cuda.MemAddressReserve(size, 0, 0, 0)), size: size}
}

// physical says what memory is asked for.
var physical = cuda.MemAllocationProp{
	Type:     cuda.MemAllocationTypePinned,
	Location: cuda.MemLocation{Type: cuda.MemLocationTypeDevice},
}

// grow maps so many more bytes of new memory.
func (v *space) grow(size int64) {
	h := got[cuda.MemGenericAllocationHandle](v.k)(cuda.MemCreate(size, physical, 0))
	v.open(size, h)
	v.k.Must(cuda.MemRelease(h))
}

// open maps a handle's memory behind what is mapped.
func (v *space) open(size int64, h cuda.MemGenericAllocationHandle) {
	at := v.base + cuda.DevicePtr(v.mapped)
	v.k.Must(cuda.MemMap(at, size, 0, h, 0))
	v.k.Must(cuda.MemSetAccess(at, size, []cuda.MemAccessDesc{{Location: physical.Location,
		Flags: cuda.MemAccessFlagsProtReadWrite}}))
	v.mapped += size
}

// unmap takes all memory away.
func (v *space) unmap() {
	v.k.Must(cuda.MemUnmap(v.base, v.mapped))
	v.mapped = 0
}

// giveBack unmaps what is mapped and gives the addresses back.
func (v *space) giveBack() {
	v.unmap()
	v.k.Must(cuda.MemAddressFree(v.base, v.size))
}

// virtualPrograms grow by mapping.
func virtualPrograms() []program {
	const total = 128 * mib
	grown := func(k *kit, next func(mapped int64) int64) func() {
		return func() {
			v := k.reserve(total)
			for v.mapped < total {
				v.grow(next(v.mapped))
			}
			v.giveBack()
		}
	}
	doubled := func(mapped int64) int64 { return max(mapped, 2*mib) }
	return []program{
		{
			Name: "vmm/steps",
			Slow: "a range that grows to 128 MiB by 2 MiB at a time",
			Fast: "the same, doubled each time",
			ways: func(k *kit) (slow, fast func()) {
				return grown(k, func(int64) int64 { return 2 * mib }), grown(k, doubled)
			},
		},
		{
			Name: "vmm/larger-steps",
			Slow: "a range that grows to 128 MiB by 16 MiB at a time",
			Fast: "the same by all of it at once",
			ways: func(k *kit) (slow, fast func()) {
				return grown(k, func(int64) int64 { return 16 * mib }), grown(k, func(int64) int64 { return total })
			},
		},
		{
			Name: "vmm/or-copy",
			Slow: "an array of 128 MiB that doubles from 2 MiB by Malloc, copy and Free",
			Fast: "one that doubles by mapping",
			ways: func(k *kit) (slow, fast func()) {
				return func() {
					p := got[cuda.DevicePtr](k)(cuda.Malloc(2 * mib))
					for size := int64(2 * mib); size < total; size *= 2 {
						next := got[cuda.DevicePtr](k)(cuda.Malloc(2 * size))
						k.Must(cuda.MemcpyDtoD(next, p, size))
						k.Must(cuda.Free(p))
						p = next
					}
					k.Must(cuda.Free(p))
				}, grown(k, doubled)
			},
		},
		{
			Name: "vmm/keep-memory",
			Slow: "10 × 32 MiB made, mapped, unmapped and given back",
			Fast: "10 × 32 MiB mapped and unmapped, made once",
			ways: func(k *kit) (slow, fast func()) {
				return func() {
						v := k.reserve(32 * mib)
						for range 10 {
							v.grow(32 * mib)
							v.unmap()
						}
						k.Must(cuda.MemAddressFree(v.base, v.size))
					}, func() {
						v := k.reserve(32 * mib)
						h := got[cuda.MemGenericAllocationHandle](k)(cuda.MemCreate(v.size, physical, 0))
						for range 10 {
							v.open(32*mib, h)
							v.unmap()
						}
						k.Must(cuda.MemRelease(h))
						k.Must(cuda.MemAddressFree(v.base, v.size))
					}
			},
		},
	}
}
