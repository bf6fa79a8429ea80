package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../../.."

func TestWhatIsDeclaredIsThere(t *testing.T) {
	packages, err := testsByPackage(root)
	require.NoError(t, err)
	for _, name := range slices.Concat(rest, sampled, racedAlone) {
		require.NotEmpty(t, having(packages, []string{name}), "halves.go names %s, and there is no such test", name)
	}
	for _, folder := range unraced {
		require.Contains(t, packages, folder, "halves.go names a package that is not there")
		require.True(t, packages[folder].concurrent, "%s has no goroutine, and is not raced in any case", folder)
	}
	for _, name := range sampled {
		require.NotContains(t, rest, name, "it is in both halves")
	}
	require.Equal(t, len(rest), len(slices.Compact(slices.Sorted(slices.Values(rest)))), "a test is named twice")
}

// Every test is run: in the first half, or in the second, with or without a C compiler.
func TestNothingIsLeftOut(t *testing.T) {
	packages, err := testsByPackage(root)
	require.NoError(t, err)
	for _, cc := range []bool{true, false} {
		calls := append(quick(), others(packages, cc, whole)...)
		for folder, p := range packages {
			for _, name := range p.names {
				plain := 0
				for _, c := range calls {
					if !c.race && runs(c, "./"+folder, name) {
						plain++
					}
				}
				raced := slices.ContainsFunc(calls, func(c call) bool { return c.race && runs(c, "./"+folder, name) })
				switch {
				case slices.Contains(sampled, name):
					require.Equal(t, 2, plain, "%s in %s: each half has a part of it", name, folder)
				case slices.Contains(rest, name) && raced:
					require.Zero(t, plain, "%s in %s is run twice", name, folder)
				default:
					require.Equal(t, 1, plain, "%s in %s", name, folder)
				}
			}
		}
	}
}

// What the second half runs some share runs as well, and no share runs what is not of that half.
func TestSharesAreTheSecondHalf(t *testing.T) {
	packages, err := testsByPackage(root)
	require.NoError(t, err)
	type test struct{ folder, name, raced string }
	run := func(calls []call) map[test]bool {
		tests := map[test]bool{}
		for _, c := range calls {
			for folder, p := range packages {
				for _, name := range p.names {
					if runs(c, "./"+folder, name) {
						tests[test{folder, name, ""}] = true
						tests[test{folder, name, fmt.Sprint(c.race)}] = true
					}
				}
			}
		}
		return tests
	}
	half, shared := run(others(packages, true, whole)), map[test]bool{}
	const commits = 40
	for seed := range commits {
		share := run(others(packages, true, shareBy(fmt.Sprint(seed))))
		require.Less(t, len(share), len(half)/2)
		maps.Copy(shared, share)
	}
	for test := range half {
		require.True(t, shared[test], "%d commits have not had %v", commits, test)
	}
	for test := range shared {
		require.True(t, half[test] || test.raced == "false", "%v is not of the second half", test)
	}
}

func runs(c call, folder, name string) bool {
	return (slices.Contains(c.packages, folder) || slices.Contains(c.packages, "./...")) &&
		(len(c.run) == 0 || slices.Contains(c.run, name)) && !slices.Contains(c.skip, name)
}

func TestArguments(t *testing.T) {
	c := call{race: true, run: []string{"TestA", "TestB"}, skip: []string{"TestC"}, packages: []string{"./a"}}
	require.Equal(t, []string{"test", "-vet=off", "-timeout", "40m", "-json", "-race", "-run", "^(TestA|TestB)$", "-skip",
		"^(TestC)$", "./a"}, c.arguments())
}

func TestDrawnBy(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte(text), 0o644))
		by, err := drawnBy(dir)
		require.NoError(t, err)
		return by
	}
	hash := write("package a\n")
	require.Equal(t, hash, write("package a\n"), "without git it is the files' hash")
	require.NotEqual(t, hash, write("package b\n"))
	for _, args := range [][]string{{"init", "-q"}, {"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "a"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
	commit, err := git(dir, "rev-parse", "--short=12", "HEAD")
	require.NoError(t, err)
	require.Equal(t, commit, write("package b\n"), "it is the commit")
	require.NotContains(t, []string{commit, hash}, write("package c\n"), "in a changed tree it is the files' hash")
}
