package serve_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/stretchr/testify/require"

	"cudalab/grader/browser/serve"
)

func TestCompress(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, text, 0o600))
		return file
	}
	text := bytes.Repeat([]byte("the same again, "), 200_000)
	large, small, picture := write("a.wasm", text), write("b.js", []byte("x")), write("c.png", text)
	require.NoError(t, serve.Compress(t.Context(), []string{large, small, picture}))
	there, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Equal(t, []string{large, large + ".br", large + ".gz", small, picture}, there)

	open := func(ending string) io.Reader {
		packed, err := os.ReadFile(large + ending)
		require.NoError(t, err)
		return bytes.NewReader(packed)
	}
	got, err := io.ReadAll(brotli.NewReader(open(".br")))
	require.NoError(t, err)
	require.True(t, bytes.Equal(text, got))
	z, err := gzip.NewReader(open(".gz"))
	require.NoError(t, err)
	got, err = io.ReadAll(z)
	require.NoError(t, err)
	require.True(t, bytes.Equal(text, got))

	// A copy that is newer than its file stays; one that is older is made again.
	write("a.wasm.br", []byte("kept"))
	write("a.wasm.gz", []byte("old"))
	require.NoError(t, os.Chtimes(large+".gz", time.Time{}, time.Now().Add(-time.Hour)))
	require.NoError(t, serve.Compress(t.Context(), []string{large}))
	for ending, kept := range map[string]bool{".br": true, ".gz": false} {
		packed, err := os.ReadFile(large + ending)
		require.NoError(t, err)
		require.Equal(t, kept, len(packed) == 4, ending)
	}

	require.ErrorIs(t, serve.Compress(t.Context(), []string{large, filepath.Join(dir, "none.js")}), os.ErrNotExist)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	fresh := write("d.bin", text)
	require.ErrorIs(t, serve.Compress(ctx, []string{fresh}), context.Canceled)
	require.NoFileExists(t, fresh+".br")
}

func TestIsCopy(t *testing.T) {
	of, is := serve.IsCopy("engine/a.wasm.br")
	require.True(t, is)
	require.Equal(t, "engine/a.wasm", of)
	_, is = serve.IsCopy("engine/a.wasm")
	require.False(t, is)
}
