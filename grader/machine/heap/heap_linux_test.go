package heap

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHugePages has a process touch memory behind Hasten, and looks at the pages in which it got that.
func TestHugePages(t *testing.T) {
	if mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil || strings.Contains(string(mode), "[never]") {
		t.Skip("the kernel gives out no huge pages")
	}
	const touched = 64 << 20
	if os.Getenv("CUDALAB_TEST_TOUCH") != "" {
		Hasten()
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
	cmd := exec.Command(os.Args[0], "-test.run=^TestHugePages$")
	cmd.Env = append(os.Environ(), "CUDALAB_TEST_TOUCH=1")
	text, err := cmd.Output()
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "AnonHugePages:")
	require.True(t, found, "%s", text)
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	require.NoError(t, err)
	require.Greater(t, kib<<10, touched/2, "bytes in huge pages, of %d touched", touched)
}
