package conformance

import (
	"errors"
	"fmt"
	"strings"

	"cudalab/native/cuda"
)

// A poolsWalk is a sequence of steps through a pool of the row's own, after each of which the row notes all that the
// pool counts. The steps are walk's and some more: d synchronises the device, e an event recorded in the stream, q asks
// whether the stream is done until it is, D puts a delay into the stream, T64 trims the pool to 64 MiB, R and U reset
// the high-watermarks of reserved and used memory.
var poolsWalks = []string{
	"a20 f0 s",
	"a20 f0 d",
	"a20 f0 e",
	"a20 D f0 q s",
	"a20 D f0 e s",
	"a20 D e f0 s",
	"k1 k1 k513 f1 s k1 f0 s",
	"a20 a20 a20 f0 s f1 s f2 s",
	"a20 a20 a20 f2 s f1 s f0 s",
	"a20 s F0",
	"a20 s F0 s a20 s F1",
	"t1024 a20 s F0 T0",
	"t1024 a20 s F0 a20 f1 s T0",
	"t40 a100 f0 e",
	"t40 a100 f0 d",
	"t40 a100 D f0 q s",
	"t64 a32 a32 a32 a32 f1 s f3 s f0 s f2 s",
	"t100 a20 a60 a50 f1 s a30 s f0 f2 f3 s",

	"T0 T64",
	"a20 T0 T20 T64",
	"t1024 a20 f0 s T0",
	"t1024 a20 f0 s T1 T0",
	"t1024 a256 f0 s T1024 T256 T255 T224 T200 T100 T64 T33 T32 T31 T1 T0",
	"t1024 a32 a32 a32 a32 f1 s T0 f3 s T0 f0 s T32 f2 s T0",
	"t1024 a32 a32 a32 a32 f0 f2 s T64 T32 T0",
	"t1024 a20 a20 a20 f1 s T0 f0 s T0 f2 s T0",
	"t1024 a64 f0 s a20 T0 f1 s T0",
	"t1024 a64 f0 s a20 T64 T32",
	"t1024 a100 f0 s T40 a100 T0",
	"t1024 a20 D f0 T0 s T0",
	"t1024 a20 a40 s D f1 T0 s T0 f0 s T0",
	"t1024 a20 D f0 q T0",
	"t1024 a20 D f0 e T0",
	"t1024 a20 D f0 a20 T0 s T0 f1 s T0",
	"t64 a128 f0 s T0 a32 f1 s",
	"t64 a128 f0 s T32 T64 t0 s",
	"t0 a64 D f0 T32 T0 s",

	"a40 a20 f0 s R U a10 s f1 f2 s R U",
	"t1024 a40 f0 s R U T0 R a1",
	"a1 a2 a3 f1 U a1 f0 U f2 f3 U s",
	"t1024 a40 a40 f0 f1 s R T0 a1 f2 s R",
}

func poolsWalkRows() []row {
	rows := make([]row, len(poolsWalks))
	for i, steps := range poolsWalks {
		rows[i] = row{Name: "pools/walk/" + strings.ReplaceAll(steps, " ", "-"), Run: func(l *log) {
			w := &poolsWalk{log: l, s: l.stream(cuda.StreamNonBlocking), pool: l.newPool()}
			for _, step := range strings.Fields(steps) {
				w.holds(step+w.take(step), w.pool)
			}
		}}
	}
	return rows
}

type poolsWalk struct {
	*log
	s      cuda.Stream
	pool   cuda.MemPool
	blocks []cuda.DevicePtr
}

// take takes one step; of an allocation it answers how far it lies from the first.
func (w *poolsWalk) take(step string) (where string) {
	var n int64
	if len(step) > 1 {
		_, err := fmt.Sscanf(step[1:], "%d", &n)
		w.must(err)
	}
	switch step[0] {
	case 'a', 'k':
		unit := mib
		if step[0] == 'k' {
			unit = mib >> 10
		}
		w.blocks = append(w.blocks, w.mallocFrom(w.pool, n*unit, w.s))
		return "@" + distance(int64(w.blocks[len(w.blocks)-1]-w.blocks[0]))
	case 'f':
		w.must(cuda.FreeAsync(w.blocks[n], w.s))
	case 'F':
		w.must(cuda.Free(w.blocks[n]))
	case 's':
		w.must(cuda.StreamSynchronize(w.s))
	case 'd':
		w.must(cuda.DeviceSynchronize())
	case 'e':
		w.must(cuda.EventSynchronize(w.recorded(w.s)))
	case 'q':
		w.poll(func() error { return cuda.StreamQuery(w.s) })
	case 'D':
		w.delay(w.s)
	case 't':
		w.set(w.pool, cuda.MemPoolAttrReleaseThreshold, uint64(n*mib))
	case 'T':
		w.must(cuda.MemPoolTrimTo(w.pool, n*mib))
	case 'R':
		w.set(w.pool, cuda.MemPoolAttrReservedMemHigh, 0)
	case 'U':
		w.set(w.pool, cuda.MemPoolAttrUsedMemHigh, 0)
	default:
		w.must(fmt.Errorf("there is no step %q", step))
	}
	return ""
}

// poll asks until the answer is not ErrorNotReady.
func (l *log) poll(query func() error) {
	err := query()
	for errors.Is(err, cuda.ErrorNotReady) {
		err = query()
	}
	l.must(err)
}
