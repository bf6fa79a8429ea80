package run

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const lastWords = `panic: oh

goroutine 7 [chan receive, 1 minutes]:
cudalab/exercises/slab.(*Allocator).Alloc(0xc000012345, 0x10)
	/src/exercises/slab/slab.go:41 +0x1d
`

// FuzzCrash reads any bytes as a runner's last words. Whatever a student's code has printed before, the runtime's own
// are found, unless it has printed such words itself.
func FuzzCrash(f *testing.F) {
	for _, text := range []string{lastWords, "panic: a\nfatal error: b\n", "SIGSEGV: x\nSIGQUIT: y\n",
		"goroutine [:]:\n\t:\n\t:3 (\n(\n\ta.go:9\n",
		"goroutine 1 [running]:\n\ta.go:99999999999999999999\nf(\n\ta.go:-1\r\n", strings.Repeat("long line ", 200_000)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, printed []byte) {
		c := parseCrash(printed)
		require.NotContains(t, c.headline, "\n")
		lines := 1 + bytes.Count(printed, []byte("\n"))
		require.LessOrEqual(t, len(c.stacks), lines)
		for _, g := range c.stacks {
			lines -= len(g.site)
			for _, frame := range g.site {
				require.NotEmpty(t, frame.File)
			}
		}
		require.Positive(t, lines, "each frame has a line of its own")
		c.ours(slabLines)

		dying := parseCrash(append(append(bytes.Clone(printed), "\n\n"...), lastWords...))
		if c.headline == "" {
			require.Equal(t, "oh", dying.headline)
		} else {
			require.Equal(t, c.headline, dying.headline)
		}
		require.Equal(t, append(c.stacks, parseCrash([]byte(lastWords)).stacks...), dying.stacks)
	})
}
