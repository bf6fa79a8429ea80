package conformance

import (
	"fmt"
	"strings"

	"cudalab/native/cuda"
	"cudalab/native/device"
)

// A walk is a sequence of steps through the default pool in one stream, after each of which the row notes how many MiB the
// pool has reserved: a20 allocates 20 MiB, and notes at which MiB from the first allocation, f0 frees the first
// allocation in the stream, F0 frees it synchronously, s synchronises the stream, t64 sets the threshold to 64 MiB.
var walks = []string{
	"a20 a4 a40 a100 f0 f1 f2 f3 s",
	"a40 a20 a30 f0 f1 f2 s",
	"a20 a20 s f0 s f1 s",
	"a20 a20 s f1 s f0 s",
	"a32 a32 a32 s f1 s f2 s f0 s",
	"a32 a32 a32 s f1 s a40 s a20 f0 f2 f3 f4 s",
	"a20 f0 a30 f1 a60 f2 s",
	"a48 f0 a60 f1 s",
	"a20 a20 s F0 F1",
	"t40 a20 a20 s F0 F1 s",
	"t31 a256 f0 s",
	"t32 a256 f0 s",
	"t63 a256 f0 s",
	"t64 a32 a32 a32 a32 f0 f1 f2 f3 s",
	"t100 a256 f0 s",
	"t255 a256 f0 s",
	"t256 a256 f0 s",
	"t65 a64 a64 f0 f1 s",
	"t40 a20 a20 a20 a20 a20 s f0 f2 f4 s f1 f3 s",
	"t1024 a256 f0 s t64 s t0 s",
	"t1024 a256 f0 s t64 a1 s t0 s f1 s",
}

func walkRows() []Row {
	rows := make([]Row, len(walks))
	for i, w := range walks {
		rows[i] = Row{Name: "pool/walk/" + strings.ReplaceAll(w, " ", "-"), Run: func(l *Log) { l.walk(w) }}
	}
	return rows
}

func (l *Log) walk(steps string) {
	s := l.stream(cuda.StreamNonBlocking)
	var blocks []cuda.DevicePtr
	var line []string
	for _, step := range strings.Fields(steps) {
		var n int64
		if _, err := fmt.Sscanf(step[1:], "%d", &n); step != "s" && err != nil {
			l.must(fmt.Errorf("step %q: %w", step, err))
		}
		note := step
		switch step[0] {
		case 'a':
			blocks = append(blocks, l.mallocAsync(n*mib, s))
			note = fmt.Sprintf("%s@%d", step, int64(blocks[len(blocks)-1]-blocks[0])/mib)
		case 'f':
			l.must(cuda.FreeAsync(blocks[n], s))
		case 'F':
			l.must(cuda.Free(blocks[n]))
		case 's':
			l.must(cuda.StreamSynchronize(s))
		case 't':
			l.mustCode(l.setPool(device.PoolReleaseThreshold, uint64(n*mib)))
		}
		line = append(line, fmt.Sprintf("%s:%d", note, int64(l.getPool(device.PoolReservedMemCurrent))/mib))
	}
	l.saw("%s", strings.Join(line, " "))
}
