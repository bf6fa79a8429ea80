package mapping_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/mapping"
	"cudalab/grader/suite/verdict"
	"cudalab/native/device"
	"cudalab/native/trace"
)

const base = 1 << 40

// The calls, at offsets from base.

func create(memory trace.ID, size int64) trace.Record {
	return trace.Record{Op: trace.OpMemCreate, Alloc: memory, Size: size}
}
func release(memory trace.ID) trace.Record {
	return trace.Record{Op: trace.OpMemRelease, Alloc: memory}
}
func put(memory trace.ID, offset uint64, size int64) trace.Record {
	return trace.Record{Op: trace.OpMemMap, Alloc: memory, Addr: base + offset, Size: size}
}
func unmap(offset uint64, size int64) trace.Record {
	return trace.Record{Op: trace.OpMemUnmap, Addr: base + offset, Size: size}
}
func allow(offset uint64, size int64, how device.MemAccess) trace.Record {
	return trace.Record{Op: trace.OpMemSetAccess, Addr: base + offset, Size: size, Flags: uint32(how)}
}

const both = device.MemAccessReadWrite

// ledger is one that has seen these calls.
func ledger(calls ...trace.Record) *mapping.Ledger {
	var l mapping.Ledger
	for at := range calls {
		l.See(at, &calls[at])
	}
	return &l
}

func TestRoundUp(t *testing.T) {
	for _, c := range []struct{ n, unit, want int64 }{{0, 8, 0}, {1, 8, 8}, {8, 8, 8}, {9, 8, 16}, {5, 1, 5}} {
		require.Equal(t, c.want, mapping.RoundUp(c.n, c.unit), "%d by %d", c.n, c.unit)
	}
}

func TestMostIsTwiceWhatIsUsedAndAtLeastAGranule(t *testing.T) {
	for _, c := range []struct{ used, want int64 }{{0, 100}, {1, 100}, {50, 100}, {51, 200}, {100, 200}, {101, 300}} {
		require.Equal(t, c.want, mapping.Most(c.used, 100), "%d used", c.used)
	}
}

func TestQuartersCountsTheGrowthsThatAreNeeded(t *testing.T) {
	q := mapping.Quarters{Granularity: 10}
	for _, step := range []struct {
		used    int64
		growths int
	}{
		{0, 0}, {1, 1}, {10, 1}, // a granule
		{11, 2}, {20, 2}, // a quarter of 10 is less than a granule
		{100, 3}, {101, 4}, {130, 4}, // 100 and its quarter are 125, rounded up to 130
		{131, 5}, {170, 5}, {171, 6},
	} {
		q.Need(step.used)
		require.Equal(t, step.growths, q.Growths, "%d used", step.used)
	}
	require.Equal(t, 6+3+1, q.Most())
	q.Shrink(15)
	q.Need(20)
	require.Equal(t, 6, q.Growths, "a granule is kept as a whole")
	q.Need(21)
	require.Equal(t, 7, q.Growths)
}

func TestHeldIsMemoryUntilNothingHoldsIt(t *testing.T) {
	l := ledger(create(1, 100), create(2, 50))
	require.EqualValues(t, 150, l.Held())
	for at, step := range []struct {
		call trace.Record
		held int64
	}{
		{put(1, 0, 100), 150}, {release(1), 150}, // still mapped
		{release(2), 100}, // never mapped
		{unmap(0, 100), 0},
		{create(3, 10), 10}, {put(3, 0, 10), 10}, {put(3, 10, 10), 10}, {unmap(0, 10), 10}, {release(3), 10},
		{unmap(10, 10), 0},
	} {
		l.See(at, &step.call)
		require.Equal(t, step.held, l.Held(), "behind call %d", at)
	}
}

func TestCallsThatFailOrHaveNotReturnedChangeNothing(t *testing.T) {
	failed, entered := put(1, 0, 100), unmap(0, 100)
	failed.Code, entered.Phase = int32(device.ErrorInvalidValue), trace.Enter
	l := ledger(create(1, 100), failed)
	require.Empty(t, l.Pieces)
	l = ledger(create(1, 100), put(1, 0, 100), entered)
	require.Len(t, l.Pieces, 1)
}

func TestPiecesLieInOrderAndReachToTheFirstHole(t *testing.T) {
	l := ledger(create(1, 1000), put(1, 200, 100), put(1, 0, 100))
	require.Equal(t, []uint64{base, base + 200}, []uint64{l.Pieces[0].From, l.Pieces[1].From})
	require.EqualValues(t, 100, l.Reach(base))
	hole := put(1, 100, 100)
	l.See(3, &hole)
	require.EqualValues(t, 300, l.Reach(base))
	require.EqualValues(t, 250, l.Reach(base+50))
	require.Zero(t, l.Reach(base+300))
	middle := unmap(100, 100)
	l.See(4, &middle)
	require.EqualValues(t, 100, l.Reach(base))
	require.Equal(t, []int{2, 1}, []int{l.Pieces[0].Mapped, l.Pieces[1].Mapped})
	part := unmap(200, 50)
	l.See(5, &part)
	require.Len(t, l.Pieces, 2, "a mapping goes as a whole")
}

func TestUnusableFindsWhatMayNotBeReadAndWritten(t *testing.T) {
	l := ledger(create(1, 1000), put(1, 0, 100), put(1, 100, 100), put(1, 300, 100), allow(0, 100, both))
	for _, c := range []struct {
		at, size uint64
		first    int // among the pieces, of what may not be used; -1: none
		whole    bool
	}{
		{0, 100, -1, true}, {50, 50, -1, true}, {50, 51, 1, true}, {100, 1, 1, true}, {200, 1, -1, false},
		{299, 2, -1, false}, {300, 1, 2, true},
	} {
		p, whole := l.Unusable(base+c.at, c.size)
		require.Equal(t, c.whole, whole, "%d bytes at %d", c.size, c.at)
		if c.first < 0 {
			require.Nil(t, p, "%d bytes at %d", c.size, c.at)
			continue
		}
		require.Same(t, &l.Pieces[c.first], p, "%d bytes at %d", c.size, c.at)
	}
	require.Equal(t, []int{4, -1, -1}, []int{l.Pieces[0].Access, l.Pieces[1].Access, l.Pieces[2].Access})
	across := allow(100, 300, both)
	l.See(5, &across)
	require.Equal(t, []bool{true, true, false}, []bool{l.Pieces[0].Usable, l.Pieces[1].Usable, l.Pieces[2].Usable},
		"CUDA stops at the hole")
	again := allow(0, 200, device.MemAccessRead)
	l.See(6, &again)
	require.False(t, l.Pieces[0].Usable || l.Pieces[1].Usable, "reading is not enough")
	whole := allow(0, 150, both)
	l.See(7, &whole)
	require.Equal(t, []bool{true, false}, []bool{l.Pieces[0].Usable, l.Pieces[1].Usable}, "access is for whole mappings")
}

func TestRowDrawsGranules(t *testing.T) {
	calls := []trace.Record{create(1, 1000), put(1, 0, 100), put(1, 100, 100), allow(0, 100, both)}
	row := mapping.Row(calls, base, 350, 100)
	require.Equal(t, verdict.Row{Name: "memory, in granules", Cells: []verdict.Cell{
		{From: 0, To: 100. / 350, Kind: verdict.Mapped, Text: "mapped"},
		{From: 100. / 350, To: 200. / 350, Kind: verdict.Wrong, Text: "mapped, but nobody may use it"},
		{From: 200. / 350, To: 300. / 350, Kind: verdict.Free, Text: "addresses only"},
		{From: 300. / 350, To: 1, Kind: verdict.Free, Text: "addresses only"},
	}}, row)
	many := mapping.Row(calls, base, 64*100+1, 50)
	require.Equal(t, "memory", many.Name)
	require.Len(t, many.Cells, 33, "each is four granules")
	require.Equal(t, verdict.Mapped, many.Cells[0].Kind)
}
