package hints_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/hints"
	"cudalab/grader/desk/progress"
)

// FuzzNext asks for a hint whatever the student's file holds and whatever is remembered of the exercise: it is one of
// the exercise's, or there is a sentence why there is none.
func FuzzNext(f *testing.F) {
	skeleton, err := os.ReadFile(filepath.Join(tree, "exercises/slab/slab.go"))
	require.NoError(f, err)
	solution, err := os.ReadFile(filepath.Join(tree, "solutions/slab/slab.go"))
	require.NoError(f, err)
	const failed = `{"slab":{"status":"failed","when":"2026-01-02T03:04:05Z","findings":[{"rule":"leak","file":"slab.go","line":60},` +
		`{"rule":"panic","line":-1},{"rule":"?","file":"..","line":9000000000000000000}]}}`
	f.Add(skeleton, []byte("{}"), "")
	f.Add(solution, []byte(failed), "")
	f.Add(solution[:len(solution)/2], []byte(failed), "TODO(1A)")
	f.Add(skeleton, []byte(`{"slab":{"hints":{"1a":-5,"1b":9223372036854775807}}}`), "1a")
	f.Fuzz(func(t *testing.T, code, remembered []byte, todo string) {
		root, e := open(t, "slab", "skeleton")
		require.NoError(t, os.WriteFile(filepath.Join(root, e.Folder(), "slab.go"), code, 0o600))
		dir := filepath.Join(root, progress.Folder)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "progress.json"), remembered, 0o600))
		for range 2 {
			h, err := hints.Next(context.Background(), root, e, todo)
			if err != nil {
				require.NotEmpty(t, err.Error())
				return
			}
			require.True(t, 1 <= h.Number && h.Number <= h.Of, "%d of %d", h.Number, h.Of)
			all, err := hints.All(e, h.TODO)
			require.NoError(t, err)
			require.Equal(t, all[0].Text[h.Number-1], h.Text)
			require.Contains(t, h.Markdown(e.Name), h.Text)
		}
	})
}
