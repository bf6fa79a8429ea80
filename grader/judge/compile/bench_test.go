package compile

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What a one-line change costs from the saved file to the runner, beside go build alone of the same change.
func BenchmarkBuild(b *testing.B) {
	change := func(b *testing.B, dir string, n int) {
		text := header + fmt.Sprintf("func Run(streams []cuda.Stream, n int) error { return contract.TODO(`%d %d`) }\n",
			os.Getpid(), n)
		if err := os.WriteFile(filepath.Join(dir, "sample.go"), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	dir := folder(b, map[string]string{"allocator.go": allocator})
	n := 0
	b.Run("Build", func(b *testing.B) {
		for b.Loop() {
			n++
			change(b, dir, n)
			r, err := request(dir).build(context.Background())
			if err != nil || !r.Exercises[0].OK() {
				b.Fatal(err, r)
			}
			r.Close()
		}
	})
	b.Run("NothingChanged", func(b *testing.B) {
		for b.Loop() {
			r, err := request(dir).build(context.Background())
			if err != nil || !r.Exercises[0].OK() {
				b.Fatal(err, r)
			}
			r.Close()
		}
	})
	b.Run("GoBuildAlone", func(b *testing.B) {
		root := filepath.Join(b.TempDir(), "course")
		if err := os.CopyFS(root, os.DirFS(course)); err != nil {
			b.Fatal(err)
		}
		dir := filepath.Join(root, "exercises", "sample")
		s := read(sample(dir), newAPI(course))
		for name, text := range map[string]string{"main.go": mainText([]*submission{s}), "suite.go": suiteFile(s)} {
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		for _, f := range []string{"extra.go", "sample.go"} {
			if err := os.Remove(filepath.Join(dir, f)); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "allocator.go"), []byte(allocator), 0o600); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			n++
			change(b, dir, n)
			cmd := exec.Command("go", "build", "-o", filepath.Join(root, "runner"), "-trimpath", "-ldflags=-s -w", ".")
			cmd.Dir, cmd.Env = root, environment("")
			if text, err := cmd.CombinedOutput(); err != nil {
				b.Fatal(string(text))
			}
		}
	})
}
