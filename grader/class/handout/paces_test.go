package handout_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/handout"
	"cudalab/grader/judge/check"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites/course"
	"cudalab/native/profile"
	"cudalab/native/sim"
)

// withProfile is the course with a profile of its own.
func withProfile(t *testing.T, text []byte) (root string) {
	t.Helper()
	from, err := filepath.Abs("../../..")
	require.NoError(t, err)
	root = filepath.Join(t.TempDir(), "course [2026]") // brackets mean something in a pattern
	require.NoError(t, os.Mkdir(root, 0o755))
	for _, part := range []string{"cmd", "exercises", "go.mod", "go.sum", "grader", "kernels", "native", "solutions",
		"LICENSE"} {
		require.NoError(t, os.Symlink(filepath.Join(from, part), filepath.Join(root, part)))
	}
	require.NoError(t, os.CopyFS(filepath.Join(root, "lessons"), os.DirFS(filepath.Join(from, "lessons"))))
	require.NoError(t, os.WriteFile(filepath.Join(root, filepath.FromSlash(course.ProfileFile)), text, 0o644))
	return root
}

// A course whose simulated device is another GPU makes handouts with that device, which know how fast the solutions are
// there.
func TestHandoutWithAProfile(t *testing.T) {
	f := profile.File{Profile: sim.H200, Driver: "12.8", Date: "2026-11-21", Kept: []string{}}
	f.Profile.Name = "NVIDIA Made-Up"
	f.Profile.Launch *= 2
	f.Profile.MemoryBandwidth /= 16 // growing by copying takes longer
	m := newHandout(t, withProfile(t, f.Text()))

	text, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(course.ProfileFile)))
	require.NoError(t, err)
	require.Equal(t, f.Text(), text)
	for _, e := range m.course.Exercises {
		text, err := os.ReadFile(filepath.Join(m.dir, "grader/suites", e.Package, "paces.txt"))
		if os.IsNotExist(err) {
			continue // nothing is raced
		}
		require.NoError(t, err)
		paces, err := suite.ReadPaces(string(text))
		require.NoError(t, err)
		found := map[string]float64{}
		for _, p := range paces {
			found[p.Name+p.Function] = p.Value
		}
		for _, p := range paces {
			if p.Name == "simulated "+sim.H200.Name {
				require.Positive(t, found["simulated NVIDIA Made-Up"+p.Function], "%s: %s", e.Name, text)
			}
		}
		if e.Name == "vmm-arena" {
			require.Less(t, found["simulated NVIDIA Made-Up"], found["simulated NVIDIA H200"]/2)
		}
	}

	e, err := m.course.Find("vmm-arena")
	require.NoError(t, err)
	right, slow := rightAndSlow(t, m.course.Root, e)
	for program, passes := range map[string]bool{right: true, slow: false} {
		r := m.check(t, e, program)
		require.Equal(t, "simulated NVIDIA Made-Up", r.Device.Name)
		require.Equal(t, profile.Digest(&f.Profile), r.Device.Profile)
		require.Equal(t, passes, r.Status == verdict.Passed, "%+v", r.Checks)
		for _, c := range r.Checks {
			require.False(t, rules(c)["recorded-elsewhere"], "%+v", c)
		}
	}
}

func TestADamagedProfileMakesNoHandout(t *testing.T) {
	c, err := course.Open(withProfile(t, []byte("{}")))
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "handout")
	err = handout.Write(context.Background(), c, dir)
	var refused *handout.UsageError
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, "the file should have a field schema")
	require.NoDirExists(t, dir)
}

// What a handout would record of the built-in device is what the suites have recorded of it.
func TestPacesAreThoseOfTheSuites(t *testing.T) {
	c, err := course.Open("../../..")
	require.NoError(t, err)
	e, err := c.Find("pool-config")
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(c.Root, "grader/suites", e.Package, "paces.txt"))
	require.NoError(t, err)
	raced, err := check.Paces(context.Background(), c.Root, e, nil, string(text))
	require.NoError(t, err)
	require.Equal(t, string(text), raced)
}
