package kernels_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "cudalab/kernels" // lists its kernels
	"cudalab/kernels/listed"
)

// ptxFiles is every .ptx file under this folder, and must be what there are .cu files for.
func ptxFiles(t *testing.T) []string {
	var files []string
	for _, pattern := range []string{"*.cu", "*/*.cu"} {
		sources, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, source := range sources {
			files = append(files, strings.TrimSuffix(source, ".cu")+".ptx")
		}
	}
	require.NotEmpty(t, files)
	return files
}

func TestPTXIsWhatTheSourceCompilesTo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("kernels/build.sh and its compiler are pinned on Linux")
	}
	out := t.TempDir()
	said, err := exec.Command("./build.sh", out).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 3 {
		t.Skip(strings.TrimSpace(string(said)))
	}
	require.NoError(t, err, "%s", said)
	for _, file := range ptxFiles(t) {
		committed, err := os.ReadFile(file)
		require.NoError(t, err)
		built, err := os.ReadFile(filepath.Join(out, file))
		require.NoError(t, err)
		require.Equal(t, string(built), string(committed), "%s is not what its source compiles to: run kernels/build.sh",
			file)
	}
}

// Drivers since CUDA 11.2 take PTX ISA 7.2 and older; GPUs with stream-ordered allocation are of 6.0 and later.
func TestPTXSuitsEveryDriver(t *testing.T) {
	version := regexp.MustCompile(`(?m)^\.version (\d+)\.(\d+)$`)
	for _, file := range ptxFiles(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		found := version.FindSubmatch(text)
		require.NotNil(t, found, file)
		major, _ := strconv.Atoi(string(found[1]))
		minor, _ := strconv.Atoi(string(found[2]))
		require.LessOrEqual(t, 100*major+minor, 702, "%s has PTX ISA %d.%d", file, major, minor)
		require.Contains(t, string(text), "\n.target sm_60\n", file)
	}
}

// entry is the PTX of a kernel alone.
func entry(t *testing.T, name string) string {
	for _, k := range listed.All() {
		if _, from, found := strings.Cut(k.PTX(), ".visible .entry "+name+"("); found {
			body, _, _ := strings.Cut(from, "\n}")
			return body
		}
	}
	require.Fail(t, "no entry "+name)
	return ""
}

// TestAllHasEveryKernel sees to it that what others take from package listed, such as the tests of kernels on a GPU,
// leaves nothing out.
func TestAllHasEveryKernel(t *testing.T) {
	var compiled, known []string
	for _, file := range ptxFiles(t) {
		if filepath.Dir(file) != "." {
			continue // the grader's own
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^\.visible \.entry (\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			compiled = append(compiled, m[1])
		}
	}
	for _, k := range listed.All() {
		known = append(known, k.Entry())
	}
	for _, name := range compiled {
		require.Contains(t, known, name, "the kernel %s was compiled and is not listed: listed.Add it in an init, beside "+
			"its definition", name)
	}
	for _, name := range known {
		require.Contains(t, compiled, name, "the kernel %s is listed and was not compiled: kernels/build.sh does it, if "+
			"there is a .cu file with it", name)
	}
	require.Len(t, known, len(compiled), "a kernel is listed twice, or compiled twice")
}

// What the oracle and the timed workloads rely on, past what the compiler may change.
func TestPTXOfProcess(t *testing.T) {
	process := entry(t, "process")
	require.Contains(t, process, "sqrt.rn.f32")
	require.Contains(t, process, "mul.rn.f32")
	require.NotContains(t, process, "fma.")
	require.NotContains(t, process, ".ftz")
	loop := regexp.MustCompile(
		`(?s)(\$L__BB\d+_\d+):[^\n]*\n\t\.pragma "nounroll";\n(.*?)bra\.uni\s+(\$L__BB\d+_\d+);`).FindStringSubmatch(process)
	require.NotNil(t, loop, "the rounds of process are no loop that stays one")
	require.Equal(t, loop[1], loop[3], "the loop does not return to its head")
	require.Equal(t, 1, strings.Count(loop[2], "mad.lo.s32"), "not one round per pass through the loop")
	require.Contains(t, loop[2], "1664525, 1013904223", "rounds are folded into one")
}

// One atomic addition a block, once its threads have met.
func TestPTXOfTheSums(t *testing.T) {
	for _, name := range []string{"reduce", "checksum"} {
		sum := entry(t, name)
		require.Equal(t, 1, strings.Count(sum, "atom.global.add.u64"), name)
		require.Contains(t, sum, "bar.sync", name)
	}
}
