package conformance

import (
	"fmt"
	"strings"

	"cudalab/native/cuda"
)

// A walk is a sequence of steps through the default pool in one stream, after each of which the row notes how many MiB
// the pool has reserved: a20 allocates 20 MiB and k20 20 KiB, and notes how far from the first allocation, in MiB or,
// as in 20k, in KiB; f0 frees the first allocation in the stream, F0 frees it synchronously, s synchronises the stream,
// t64 sets the threshold to 64 MiB.
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
	"t1024 a10 a1 a5 a1 a10 f0 f2 a4 a4 a4",
	"t1024 a10 a1 a5 a1 a10 f0 f2 s a4 a4 a4",
	"t1024 a10 a1 a5 a1 a10 f2 f0 s a4 a9",
	"a32 a32 a32 a10 s f1 s a20 a12",
	"a32 a32 a32 a10 s f1 s a4",
	"a20 a40 s f0 s a15 a4",
	"t1024 a1 a1 a1 f1 s a1 a1",
	"t1024 a4 a4 a4 a4 a4 f0 f2 a4 a4",
	"t1024 a4 a4 a4 a4 a4 f2 f0 a4 a4",
	"t1024 a4 a4 a4 a4 a4 f0 f2 a3",
	"t1024 a4 a4 a4 a4 a4 f0 f2 s a4",
	"t1024 a4 a4 a4 a4 a4 f2 f0 s a4 a4",
	"t1024 a4 a4 a4 a4 a4 f2 f0 s a3 a3",
	"t1024 a4 a4 a4 a4 a4 a4 a4 f4 f0 f2 a4 a4 a4",
	"t1024 a4 a4 a4 a1 f0 f1 a8",
	"t1024 k100 k100 k100 f0 k50 k50",
	"t1024 k100 k100 a20 k100 f0 s k50 a5 k50",
	"t1024 a20 k100 a20 k100 a3 f0 f2 s k100 a18 a19",
	"t1024 a100 f0 s a10 a20 f1 a5 a5 a15",
	"a100 a1 s f0 s a10 a50 a30",
	"t1024 k1 k1 k1 k513 k1 k700 k1",
}

func walkRows() []row {
	rows := make([]row, len(walks))
	for i, w := range walks {
		rows[i] = row{Name: "pool/walk/" + strings.ReplaceAll(w, " ", "-"), Run: func(l *log) { l.walk(w) }}
	}
	return rows
}

func (l *log) walk(steps string) {
	w := &poolsWalk{log: l, s: l.stream(cuda.StreamNonBlocking), pool: l.defaultPool()}
	var line []string
	for _, step := range strings.Fields(steps) {
		step += w.take(step)
		line = append(line, fmt.Sprintf("%s:%d", step, int64(l.get(w.pool, cuda.MemPoolAttrReservedMemCurrent))/mib))
	}
	l.saw("%s", strings.Join(line, " "))
}

// distance is a number of bytes in MiB, or in KiB with a k behind it where it is not whole MiB.
func distance(bytes int64) string {
	if bytes%mib == 0 {
		return fmt.Sprint(bytes / mib)
	}
	return fmt.Sprintf("%dk", bytes/(mib>>10))
}
