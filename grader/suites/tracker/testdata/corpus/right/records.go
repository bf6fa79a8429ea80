// Records in one slice that are used again, with the tags numbered; what is sorted is kept until something changes.
package tracker

import (
	"errors"
	"fmt"
	"sort"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type record struct {
	at     cuda.DevicePtr
	size   int64
	tag    int
	number int
}

type Tracker struct {
	below  contract.Allocator
	memory cuda.DevicePtr
	bytes  int64
	limit  int64
	chance func(int64) bool
	asking bool

	records []record
	spare   []int
	where   map[cuda.DevicePtr]int
	names   map[string]int
	tags    []contract.TagUse
	classes map[int64]contract.SizeUse

	live, peak                         int64
	count, peakCount, allocs, failures int

	known  bool // the report is still as it was
	report contract.MemoryReport
}

func Wrap(inner contract.Allocator, memory cuda.DevicePtr, bytes, limit int64) (*Tracker, error) {
	for _, bad := range []bool{inner == nil, memory == 0, bytes < 1, limit < 1} {
		if bad {
			return nil, contract.ErrArgument
		}
	}
	if left := uint64(1)<<63 - uint64(memory); uint64(memory) > 1<<63 || left < uint64(bytes) {
		return nil, contract.ErrArgument
	}
	return &Tracker{below: inner, memory: memory, bytes: bytes, limit: limit, where: map[cuda.DevicePtr]int{}, names: map[string]int{},
		classes: map[int64]contract.SizeUse{}}, nil
}

func (t *Tracker) OnFull(f func(size int64) bool) { t.chance = f }

func (t *Tracker) Alloc(size int64, tag string) (cuda.DevicePtr, error) {
	if size < 1 || size > t.limit || size > 1<<62 {
		return 0, contract.ErrSize
	}
	fits := func() bool { return t.live <= t.limit-size }
	var p cuda.DevicePtr
	err := fmt.Errorf("%d bytes live: %w", t.live, contract.ErrFull)
	if fits() {
		p, err = t.below.Alloc(size)
	}
	f := t.chance
	if f != nil && !t.asking && errors.Is(err, contract.ErrFull) {
		t.asking = true
		said := f(size)
		t.asking = false
		if said && fits() {
			p, err = t.below.Alloc(size)
		} else if said {
			err = fmt.Errorf("%d bytes live: %w", t.live, contract.ErrFull)
		}
	}
	if err == nil {
		t.put(p, size, tag)
		return p, nil
	}
	if errors.Is(err, contract.ErrFull) {
		t.failures++
		t.known = false
	}
	return 0, fmt.Errorf("tracked: %w", err)
}

func (t *Tracker) put(p cuda.DevicePtr, size int64, tag string) {
	t.known = false
	n, ok := t.names[tag]
	if !ok {
		n = len(t.tags)
		t.names[tag] = n
		t.tags = append(t.tags, contract.TagUse{Tag: tag})
	}
	t.allocs++
	i := len(t.records)
	if k := len(t.spare); k > 0 {
		i, t.spare = t.spare[k-1], t.spare[:k-1]
	} else {
		t.records = append(t.records, record{})
	}
	t.records[i] = record{p, size, n, t.allocs}
	t.where[p] = i
	t.tags[n].Allocs++
	t.move(i, size, 1)
	t.peak = max(t.peak, t.live)
	t.peakCount = max(t.peakCount, t.count)
	t.tags[n].Peak = max(t.tags[n].Peak, t.tags[n].Live)
}

func upTo(size int64) int64 {
	up := int64(1)
	for ; up < size; up += up {
	}
	return up
}

func (t *Tracker) move(i int, bytes int64, blocks int) {
	r := t.records[i]
	t.live += bytes
	t.count += blocks
	t.tags[r.tag].Live += bytes
	t.tags[r.tag].Count += blocks
	c := t.classes[upTo(r.size)]
	c.UpTo = upTo(r.size)
	c.Live += bytes
	c.Count += blocks
	if blocks > 0 {
		c.Allocs++
	}
	t.classes[c.UpTo] = c
}

func (t *Tracker) Free(p cuda.DevicePtr) error {
	i, ok := t.where[p]
	if !ok {
		return fmt.Errorf("%#x: %w", uint64(p), contract.ErrInvalidFree)
	}
	if err := t.below.Free(p); err != nil {
		return fmt.Errorf("tracked: %w", err)
	}
	t.known = false
	t.move(i, -t.records[i].size, -1)
	t.records[i] = record{}
	t.spare = append(t.spare, i)
	delete(t.where, p)
	return nil
}

func (t *Tracker) Report() contract.MemoryReport {
	if !t.known {
		t.report, t.known = t.look(), true
	}
	r := t.report
	r.BySize = append([]contract.SizeUse(nil), r.BySize...)
	r.ByTag = append([]contract.TagUse(nil), r.ByTag...)
	r.Blocks = append([]contract.LiveBlock(nil), r.Blocks...)
	return r
}

func (t *Tracker) look() contract.MemoryReport {
	r := contract.MemoryReport{Live: t.live, Peak: t.peak, Free: t.bytes - t.live, Count: t.count, PeakCount: t.peakCount, Allocs: t.allocs,
		Failures: t.failures}
	for _, rec := range t.records {
		if rec.size > 0 {
			r.Blocks = append(r.Blocks, contract.LiveBlock{Ptr: rec.at, Size: rec.size, Tag: t.tags[rec.tag].Tag, Number: rec.number})
		}
	}
	sort.Slice(r.Blocks, func(i, j int) bool { return r.Blocks[i].Ptr < r.Blocks[j].Ptr })
	next := t.memory
	for i := 0; i <= len(r.Blocks); i++ {
		to := t.memory + cuda.DevicePtr(t.bytes)
		if i < len(r.Blocks) {
			to = r.Blocks[i].Ptr
		}
		if int64(to-next) > r.LargestFree {
			r.LargestFree = int64(to - next)
		}
		if i < len(r.Blocks) {
			next = to + cuda.DevicePtr(r.Blocks[i].Size)
		}
	}
	if r.Free > 0 {
		r.Fragmentation = float64(r.Free-r.LargestFree) / float64(r.Free)
	}
	sort.Slice(r.Blocks, func(i, j int) bool { return r.Blocks[i].Number < r.Blocks[j].Number })
	for _, c := range t.classes {
		r.BySize = append(r.BySize, c)
	}
	sort.Slice(r.BySize, func(i, j int) bool { return r.BySize[i].UpTo < r.BySize[j].UpTo })
	r.ByTag = append(r.ByTag, t.tags...)
	sort.Slice(r.ByTag, func(i, j int) bool {
		if r.ByTag[i].Live == r.ByTag[j].Live {
			return r.ByTag[i].Tag < r.ByTag[j].Tag
		}
		return r.ByTag[i].Live > r.ByTag[j].Live
	})
	return r
}
