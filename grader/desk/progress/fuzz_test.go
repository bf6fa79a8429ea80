package progress_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/progress"
	"cudalab/grader/suite/verdict"
)

// FuzzLoad takes any bytes for what is remembered. Either they are, or that is said once and it begins anew; either way
// the next check is remembered.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		"", "null", "{}", `{"slab":{}}`, `{"slab": 3}`, `{"slab":{"status":"failed","score":1e400}}`,
		`{"slab":{"status":"failed","score":3,"max_score":100,"device":"sim","failing_seed":7,"when":"2026-01-02T03:04:05Z",` +
			`"findings":[{"rule":"leak","file":"../../../slab.go","line":-3}],"hints":{"1a":-5,"":9223372036854775807}}}`,
		`{"buddy":{"status":"passed","first_passed":"9999-12-31T23:59:59.999999999+23:59"},"BUDDY":{"status":"?"}}`,
	} {
		f.Add([]byte(text))
	}
	names := []string{"async-pipeline", "slab", "buddy"}
	f.Fuzz(func(t *testing.T, text []byte) {
		root := remembered(t, string(text))
		before := progress.Load(root)
		require.Contains(t, names, before.Current(names))
		if said := progress.Repair(root); said != "" {
			require.Empty(t, before)
			require.Regexp(t, `^.*progress\.json cannot be read, so .* is kept as progress\.damaged\.json\.$`, said)
			kept, err := os.ReadFile(filepath.Join(root, progress.Folder, "progress.damaged.json"))
			require.NoError(t, err)
			require.Equal(t, text, kept)
		}
		require.Empty(t, progress.Repair(root), "it is said once")

		record(t, root, verdict.Report{Exercise: "slab", Status: verdict.Failed, Score: 1, MaxScore: 2, Seed: 3})
		require.NoError(t, progress.Hinted(context.Background(), root, "buddy", "1a", 2))
		after := progress.Load(root)
		require.Equal(t, uint64(3), after["slab"].FailingSeed)
		require.GreaterOrEqual(t, after["buddy"].Hints["1a"], 2)
		for name, e := range before {
			if !slices.Contains(names, name) {
				require.Equal(t, e, after[name], "what is remembered of others stays")
			}
		}
	})
}
