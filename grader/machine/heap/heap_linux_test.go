package heap

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUntouchedTakesNothing has a process make a table that nobody looks into.
func TestUntouchedTakesNothing(t *testing.T) {
	const table = 4 << 30
	if os.Getenv("CUDALAB_TEST_TOUCH") != "" {
		memory := make([]byte, table)
		text, err := os.ReadFile("/proc/self/status")
		require.NoError(t, err)
		os.Stdout.Write(text)
		require.Len(t, memory, table)
		return
	}
	for range 16 { // where the heap begins is random
		require.Less(t, inChild(t, "VmHWM:"), 64<<20, "neither the table nor what is to be had in huge pages")
	}
}

// inChild is what the test says of itself in a process of its own, in bytes.
func inChild(t *testing.T, field string) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "CUDALAB_TEST_TOUCH=1")
	text, err := cmd.Output()
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), field)
	require.True(t, found, "%s", text)
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	require.NoError(t, err)
	return kib << 10
}

// TestHugePages has a process touch memory, and looks at the pages in which it got that.
func TestHugePages(t *testing.T) {
	if mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil || strings.Contains(string(mode), "[never]") {
		t.Skip("the kernel gives out no huge pages")
	}
	const touched = 64 << 20
	if os.Getenv("CUDALAB_TEST_TOUCH") != "" {
		memory := make([]byte, touched)
		for i := 0; i < len(memory); i += 4096 {
			memory[i] = 1
		}
		text, err := os.ReadFile("/proc/self/smaps_rollup")
		require.NoError(t, err)
		os.Stdout.Write(text)
		require.EqualValues(t, 1, memory[0])
		return
	}
	require.Greater(t, inChild(t, "AnonHugePages:"), touched/2, "bytes in huge pages, of %d touched", touched)
}
