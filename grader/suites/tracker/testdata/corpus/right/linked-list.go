// The live blocks in a list by age, and a function that is taken out while it runs.
package tracker

import (
	"cmp"
	"container/list"
	"errors"
	"fmt"
	"slices"

	"cudalab/exercises/contract"
	"cudalab/native/cuda"
)

type Tracker struct {
	inner    contract.Allocator
	from, to cuda.DevicePtr
	limit    int64
	f        func(int64) bool
	replaced bool
	byAge    *list.List
	at       map[cuda.DevicePtr]*list.Element
	sums     contract.MemoryReport
	tags     map[string]*contract.TagUse
	classes  map[int64]*contract.SizeUse
}

func Wrap(inner contract.Allocator, memory cuda.DevicePtr, bytes, limit int64) (*Tracker, error) {
	const most = cuda.DevicePtr(1) << 63
	if inner == nil || memory == 0 || bytes <= 0 || limit <= 0 || memory > most || cuda.DevicePtr(bytes) > most-memory {
		return nil, fmt.Errorf("tracker: %w", contract.ErrArgument)
	}
	t := &Tracker{inner: inner, from: memory, to: memory + cuda.DevicePtr(bytes), limit: limit, byAge: list.New()}
	t.at = make(map[cuda.DevicePtr]*list.Element)
	t.tags = make(map[string]*contract.TagUse)
	t.classes = make(map[int64]*contract.SizeUse)
	return t, nil
}

func (t *Tracker) OnFull(f func(size int64) bool) { t.f, t.replaced = f, true }

func (t *Tracker) ask(size int64) bool {
	f := t.f
	if f == nil {
		return false
	}
	t.f, t.replaced = nil, false
	again := f(size)
	if !t.replaced {
		t.f = f
	}
	return again
}

func (t *Tracker) Alloc(size int64, tag string) (cuda.DevicePtr, error) {
	if size < 1 || size > min(t.limit, 1<<62) {
		return 0, fmt.Errorf("tracker: %d bytes: %w", size, contract.ErrSize)
	}
	for second := false; ; second = true {
		err := contract.ErrFull
		if room := t.limit - t.sums.Live; size <= room {
			var p cuda.DevicePtr
			if p, err = t.inner.Alloc(size); err == nil {
				t.sums.Allocs++
				t.count(&contract.LiveBlock{Ptr: p, Size: size, Tag: tag, Number: t.sums.Allocs}, +1)
				return p, nil
			}
		}
		if !errors.Is(err, contract.ErrFull) {
			return 0, fmt.Errorf("tracker: below: %w", err)
		}
		if second || !t.ask(size) {
			t.sums.Failures++
			return 0, fmt.Errorf("tracker: no room: %w", err)
		}
	}
}

func (t *Tracker) count(b *contract.LiveBlock, sign int) {
	if t.tags[b.Tag] == nil {
		t.tags[b.Tag] = &contract.TagUse{Tag: b.Tag}
	}
	up := int64(1)
	for up < b.Size {
		up *= 2
	}
	if t.classes[up] == nil {
		t.classes[up] = &contract.SizeUse{UpTo: up}
	}
	u, c, bytes := t.tags[b.Tag], t.classes[up], int64(sign)*b.Size
	t.sums.Live, u.Live, c.Live = t.sums.Live+bytes, u.Live+bytes, c.Live+bytes
	t.sums.Count, u.Count, c.Count = t.sums.Count+sign, u.Count+sign, c.Count+sign
	if sign < 0 {
		t.byAge.Remove(t.at[b.Ptr])
		delete(t.at, b.Ptr)
		return
	}
	u.Allocs++
	c.Allocs++
	t.sums.Peak, t.sums.PeakCount, u.Peak = max(t.sums.Peak, t.sums.Live), max(t.sums.PeakCount, t.sums.Count), max(u.Peak, u.Live)
	t.at[b.Ptr] = t.byAge.PushBack(b)
}

func (t *Tracker) Free(p cuda.DevicePtr) error {
	e, live := t.at[p]
	if !live {
		return fmt.Errorf("tracker: %#x: %w", uint64(p), contract.ErrInvalidFree)
	}
	err := t.inner.Free(p)
	if err == nil {
		t.count(e.Value.(*contract.LiveBlock), -1)
	}
	return err
}

func (t *Tracker) Report() contract.MemoryReport {
	r := t.sums
	r.BySize, r.ByTag, r.Blocks = []contract.SizeUse{}, []contract.TagUse{}, []contract.LiveBlock{}
	for e := t.byAge.Front(); e != nil; e = e.Next() {
		r.Blocks = append(r.Blocks, *e.Value.(*contract.LiveBlock))
	}
	borders := []cuda.DevicePtr{t.from}
	for _, b := range r.Blocks {
		borders = append(borders, b.Ptr, b.Ptr+cuda.DevicePtr(b.Size))
	}
	borders = append(borders, t.to)
	slices.Sort(borders) // no two blocks overlap: these are the ends of gaps, two by two
	for i := 0; i < len(borders); i += 2 {
		r.LargestFree = max(r.LargestFree, int64(borders[i+1]-borders[i]))
	}
	if r.Free = int64(t.to-t.from) - r.Live; r.Free != 0 {
		r.Fragmentation = float64(r.Free-r.LargestFree) / float64(r.Free)
	}
	for up := int64(1); up > 0; up <<= 1 {
		if c := t.classes[up]; c != nil {
			r.BySize = append(r.BySize, *c)
		}
	}
	for _, u := range t.tags {
		r.ByTag = append(r.ByTag, *u)
	}
	slices.SortFunc(r.ByTag, func(a, b contract.TagUse) int {
		if a.Live != b.Live {
			return cmp.Compare(b.Live, a.Live)
		}
		return cmp.Compare(a.Tag, b.Tag)
	})
	return r
}
