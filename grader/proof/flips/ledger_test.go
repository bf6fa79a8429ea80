package flips_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/flips"
	"cudalab/grader/suite/verdict"
)

func TestALedgerIsGoneOnWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	first, err := flips.OpenLedger(path)
	require.NoError(t, err)
	gpu := verdict.Device{Kind: "gpu", Name: "NVIDIA H200", Driver: "13.0"}
	entries := []flips.Entry{
		{Exercise: "slab", Seed: 7, Verdict: flips.Passed, Millis: 900},
		{Exercise: "slab", Seed: 8, Loaded: true, Verdict: flips.Unclear, Checks: []string{"cost"}, Millis: 1200},
		{Exercise: "vmm-arena", Seed: 9, Loaded: true, Verdict: flips.Failed, Checks: []string{"cost", "speed"}, Millis: 10},
	}
	for _, e := range entries {
		require.NoError(t, first.Enter(e, gpu))
	}
	require.NoError(t, first.Close())

	again, err := flips.OpenLedger(path)
	require.NoError(t, err)
	require.Equal(t, entries, again.Entries())
	require.Equal(t, 1, again.Count("slab", true))
	require.Zero(t, again.Count("vmm-arena", false))
	require.Equal(t, ""+
		"# NVIDIA H200 13.0\n"+
		"   exercise  machine  checks  passed  unclear  failed  error\n"+
		"       slab    quiet       1       1        0       0      0\n"+
		"       slab     load       1       0        1       0      0\n"+
		"  vmm-arena     load       1       0        0       1      0\n", again.Summary())
	require.NoError(t, again.Close())

	require.NoError(t, os.WriteFile(path, []byte("slab 7 sometimes passed 900 -\n"), 0o644))
	_, err = flips.OpenLedger(path)
	require.ErrorContains(t, err, "sometimes")
}
