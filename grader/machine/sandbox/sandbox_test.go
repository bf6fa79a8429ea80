package sandbox_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/machine/child"
	"cudalab/grader/machine/sandbox"
)

func TestGapsNameWhatIsOpen(t *testing.T) {
	require.Empty(t, sandbox.Report{Landlock: 1, Seccomp: true}.Gaps())
	require.Len(t, sandbox.Report{Landlock: 1}.Gaps(), 1)
	require.Len(t, sandbox.Report{Seccomp: true, Namespaces: true, Cgroup: true}.Gaps(), 1)
	require.Len(t, sandbox.Report{}.Gaps(), 2)
}

func TestReportSaysWhatIsMissing(t *testing.T) {
	r := sandbox.Supported()
	require.NotEmpty(t, r.Parts)
	for _, p := range r.Parts {
		require.NotEmpty(t, p.Name)
		require.Regexp(t, `\.$`, p.Text, p.Name)
		t.Logf("%s, in force %v: %s", p.Name, p.InForce, p.Text)
	}
}

// What a start costs, without and with the sandbox.
func BenchmarkStart(b *testing.B) {
	for _, c := range []struct {
		name   string
		policy *sandbox.Policy
	}{{"bare", nil}, {"sandbox", &sandbox.Policy{}}} {
		b.Run(c.name, func(b *testing.B) {
			if c.policy != nil && len(sandbox.Supported().Gaps()) > 0 {
				b.Skip("there is no sandbox here")
			}
			for b.Loop() {
				p, err := child.Start(context.Background(), child.Command{Path: "/bin/true", Sandbox: c.policy,
					Env: os.Environ(), Limits: child.Limits{Wall: time.Minute}})
				require.NoError(b, err)
				require.Zero(b, p.Wait().ExitCode)
			}
		})
	}
}
