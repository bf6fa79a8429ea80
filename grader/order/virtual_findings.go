package order

import (
	"fmt"

	"cudalab/native/trace"
)

const (
	whyReserved = "Reserved addresses are only numbers: there is no memory behind them until MemMap puts some there."
	whyUnmap    = "MemUnmap takes away whole mappings, one or several side by side; some drivers accept less, but CUDA " +
		"does not promise it."
	whyGiveBack = "MemAddressFree takes a range exactly as MemAddressReserve made it, and only once nothing is mapped " +
		"there."
	whyPhysical = "Memory from MemCreate goes back to the device only when it is both unmapped and released."
	whyHandle   = "A handle is valid from MemCreate to MemRelease; after that the driver may use the same number for " +
		"other memory."
)

// rangeOf is the range of addresses that a call names: "2,097,152 bytes at address 0x7f0000000000".
func (w *words) rangeOf(i int) string {
	r := w.record(i)
	return fmt.Sprintf("%s at address 0x%x", bytes(r.Size), r.Addr)
}

// noAccess reports an access to the bytes of a between lo and hi that MemSetAccess has not allowed since the MemMap of
// record mapping.
func (p *report) noAccess(i int, x *trace.Access, a *allocation, lo, hi int64, mapping int) {
	w := p.words
	p.add(OutOfBounds, i, mapping, a.made, x.Arg, func() Finding {
		return Finding{
			Message: fmt.Sprintf("%s %s %s, which MemSetAccess should have allowed after MemMap, but nothing did.",
				capital(w.callOn(i)), verb(x.Kind), w.part(a, lo, hi)),
			Why: "A new mapping allows no access, even where a mapping beside it does: CUDA refuses a copy or memset, and " +
				"after a kernel's access every CUDA call fails.",
			Fix: "Call cuda.MemSetAccess with cuda.MemAccessFlagsProtReadWrite for the whole mapping, right after " +
				"cuda.MemMap, and check its error.",
			Related: append([]Related{{mapping, "mapped here"}}, p.from(a)...),
		}
	})
}

// notMapped reports an access to a block that lies, at least in part, at addresses that are only reserved.
func (p *report) notMapped(i int, x *trace.Access, a *allocation, reserved int) {
	w := p.words
	p.add(OutOfBounds, i, reserved, a.made, x.Arg, func() Finding {
		return Finding{
			Message: fmt.Sprintf("%s %s %s, which should have memory mapped to all of its addresses, but has not.",
				capital(w.callOn(i)), verb(x.Kind), w.memory(a)),
			Why: whyReserved,
			Fix: "Have memory mapped (cuda.MemCreate, cuda.MemMap, cuda.MemSetAccess) up to the end of a block before it " +
				"is handed out.",
			Related: append([]Related{{reserved, "the addresses are reserved here"}}, p.from(a)...),
		}
	})
}

// onlyReserved reports an access to an address that is reserved and never had memory.
func (p *report) onlyReserved(i int, x *trace.Access, reserved int) {
	w := p.words
	p.add(OutOfBounds, i, reserved, -1, x.Arg, func() Finding {
		return Finding{
			Message: fmt.Sprintf("%s %s %s at address 0x%x, which should have memory mapped to it, but is only reserved.",
				capital(w.callOn(i)), verb(x.Kind), bytes(x.Size), uint64(x.Offset)),
			Why:     whyReserved,
			Fix:     "Map memory there first (cuda.MemCreate, cuda.MemMap, cuda.MemSetAccess), or use fewer bytes.",
			Related: []Related{{reserved, "reserved here"}},
		}
	})
}

func (p *report) unmapTwice(i, first int, severity Severity) {
	w := p.words
	p.add(DoubleFree, i, first, -1, 0, func() Finding {
		return Finding{
			Severity: severity,
			Message:  "MemUnmap should be given what is mapped, but is given " + w.rangeOf(i) + ", which was unmapped before.",
			Why:      "After the first unmap nothing is mapped there any more.",
			Fix:      "Unmap each mapping once: " + p.removeOne(first, i, "forget the mapping after the first") + ".",
			Related:  []Related{{first, "unmapped first here"}},
		}
	})
}

func (p *report) unmapOfPart(i, mapping int, severity Severity) {
	w := p.words
	p.add(InvalidFree, i, mapping, -1, 0, func() Finding {
		return Finding{
			Severity: severity,
			Message: "MemUnmap should be given whole mappings, but is given " + w.rangeOf(i) +
				", which is not exactly one or several of them.",
			Why:     whyUnmap,
			Fix:     "Pass the address and the size that cuda.MemMap was given, or those of several mappings without a gap.",
			Related: []Related{{mapping, "mapped here: " + w.rangeOf(mapping)}},
		}
	})
}

func (p *report) unmapOfNothing(i int, severity Severity) {
	w := p.words
	p.add(InvalidFree, i, -1, -1, 0, func() Finding {
		return Finding{
			Severity: severity,
			Message:  "MemUnmap should be given what is mapped, but is given " + w.rangeOf(i) + ", where nothing is mapped.",
			Why:      whyUnmap,
			Fix:      "Pass the address and the size that cuda.MemMap was given.",
		}
	})
}

// giveBackOfMapped reports a MemAddressFree of addresses with mappings.
func (p *report) giveBackOfMapped(i int, mappings []int) {
	w := p.words
	p.add(InvalidFree, i, mappings[0], -1, 0, func() Finding {
		f := Finding{
			Message: "MemAddressFree should come after the last unmap, but it is given " + w.rangeOf(i) +
				", where memory is still mapped.",
			Why: whyGiveBack,
			Fix: "Call cuda.MemUnmap for all that is mapped in the range first, on every path.",
		}
		for _, m := range mappings[:min(len(mappings), relatedKept)] {
			f.Related = append(f.Related, Related{m, "mapped here, and not unmapped"})
		}
		return f
	})
}

func (p *report) giveBackOfPart(i, reserved int) {
	w := p.words
	p.add(InvalidFree, i, reserved, -1, 0, func() Finding {
		return Finding{
			Message: "MemAddressFree should be given the whole range that was reserved, " + w.rangeOf(reserved) +
				", but is given " +
				w.rangeOf(i) + ".",
			Why:     whyGiveBack,
			Fix:     "Pass the address that cuda.MemAddressReserve returned and the size that it was given.",
			Related: []Related{{reserved, "reserved here"}},
		}
	})
}

func (p *report) giveBackTwice(i, first int) {
	w := p.words
	p.add(DoubleFree, i, first, -1, 0, func() Finding {
		return Finding{
			Message: "MemAddressFree gives back " + w.rangeOf(i) + " a second time; once is enough.",
			Why:     "Once the addresses are given back, the next allocation may get them.",
			Fix:     "Give each range back once: " + p.removeOne(first, i, "set the address to 0 after the first") + ".",
			Related: []Related{{first, "given back first here"}},
		}
	})
}

func (p *report) giveBackOfNothing(i int) {
	w := p.words
	p.add(InvalidFree, i, -1, -1, 0, func() Finding {
		return Finding{
			Message: "MemAddressFree should be given a range that MemAddressReserve returned, but is given " + w.rangeOf(i) +
				", which is none.",
			Why: whyGiveBack,
			Fix: "Pass the address that cuda.MemAddressReserve returned and the size that it was given.",
		}
	})
}

// releaseTwice reports a release of a handle that record first has released.
func (p *report) releaseTwice(i, first int, a *allocation) {
	w := p.words
	p.add(DoubleFree, i, first, a.made, 0, func() Finding {
		return Finding{
			Message: "MemRelease releases the handle of " + w.memory(a) + " a second time; once is enough.",
			Why:     whyHandle,
			Fix: "Release each handle once: " + p.removeOne(first, i, "forget the handle after the first") +
				". What is mapped keeps its memory without a handle, until it is unmapped.",
			Related: append([]Related{{first, "released first here"}}, p.from(a)...),
		}
	})
}

func (p *report) releaseOfNothing(i int) {
	p.add(InvalidFree, i, -1, -1, 0, func() Finding {
		return Finding{
			Message: "MemRelease should be given a handle from MemCreate, but is given 0.",
			Why:     whyHandle,
			Fix:     "Check the error of cuda.MemCreate, and pass the handle that it returned.",
		}
	})
}

// freeOfMapping reports a Free or FreeAsync of an address where the memory a is, or was, mapped.
func (p *report) freeOfMapping(i int, a *allocation) {
	w := p.words
	p.add(InvalidFree, i, -1, a.made, 0, func() Finding {
		return Finding{
			Message: fmt.Sprintf("%s should be given memory that an allocation returned, but is given an address where %s was "+
				"mapped.", capital(w.callOn(i)), w.memory(a)),
			Why: "Memory that is mapped with MemMap is given back in the steps in which it was made: mapping, handle, " +
				"addresses.",
			Fix:     "Call cuda.MemUnmap for the mapping, cuda.MemRelease for the handle and cuda.MemAddressFree for the range.",
			Related: p.from(a),
		}
	})
}
