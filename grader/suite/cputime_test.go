package suite

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThreadTimeAdvancesWithWork(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, x := ThreadTime(), 1
	for i := range 10_000_000 {
		x = x*31 + i
	}
	require.NotZero(t, x)
	require.Greater(t, ThreadTime(), before)
}
