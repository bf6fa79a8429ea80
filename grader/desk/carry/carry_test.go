package carry_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/desk/carry"
	"cudalab/grader/suite/gaps"
)

// exercise is one of the course's: as it is handed out, and solved.
type exercise struct{ name, skeleton, solved string }

func exercises(t testing.TB) (all []exercise) {
	t.Helper()
	folders, err := filepath.Glob("../../../solutions/*")
	require.NoError(t, err)
	for _, folder := range folders {
		name := filepath.Base(folder)
		solved, err := os.ReadFile(filepath.Join(folder, name+".go"))
		require.NoError(t, err)
		skeletons, err := filepath.Glob("../../../lessons/*.skeleton.go.txt")
		require.NoError(t, err)
		for _, file := range skeletons {
			skeleton, err := os.ReadFile(file)
			require.NoError(t, err)
			if strings.Contains(string(skeleton), "\npackage "+name+"\n") {
				all = append(all, exercise{name, string(skeleton), string(solved)})
			}
		}
	}
	require.GreaterOrEqual(t, len(all), 15)
	return all
}

// changes are what may become of a skeleton in a newer course.
var changes = map[string]func(*rand.Rand, string) string{
	"words": func(_ *rand.Rand, text string) string {
		text = regexp.MustCompile(`(?m)^(\t*// )(\w)`).ReplaceAllString(text, "${1}Once more: $2")
		return regexp.MustCompile(`Once more: TODO\((\w+)\): `).ReplaceAllString(text, "TODO($1): Now ")
	},
	"moved gap": func(r *rand.Rand, text string) string { // with its function, anywhere
		parts := split(text)
		from := 1 + r.IntN(len(parts)-1)
		moved := parts[from]
		parts = slices.Delete(parts, from, from+1)
		return strings.Join(slices.Insert(parts, 1+r.IntN(len(parts)), moved), "")
	},
	"renamed gap": func(_ *rand.Rand, text string) string { // all of them, as when a new one comes before
		return regexp.MustCompile(`TODO\("?\d\w"?\)`).ReplaceAllStringFunc(text, func(todo string) string {
			last := strings.IndexAny(todo, "abcdefghijklmnopqrstuvwxyz")
			return todo[:last] + string(todo[last]+1) + todo[last+1:]
		})
	},
	"renamed exercise": func(_ *rand.Rand, text string) string {
		return regexp.MustCompile(`(?m)^package (\w+)`).ReplaceAllString(text, "package ${1}two")
	},
	"added function": func(r *rand.Rand, text string) string {
		parts := split(text)
		added := "\n// Added is new.\nfunc Added() error {\n\t// TODO(9z): New.\n\treturn contract.TODO(\"9z\")\n}\n"
		return strings.Join(slices.Insert(parts, 1+r.IntN(len(parts)), added), "")
	},
	"added argument": func(_ *rand.Rand, text string) string { // of the function with the first gap, and of its callers
		name := withFirstGap(text)
		text = regexp.MustCompile(`\b`+name+`\(`).ReplaceAllString(text, name+"(extra, ")
		return regexp.MustCompile(`(?m)^(func .*\(extra), (\w)`).ReplaceAllString(text, "$1 int, $2")
	},
	"renamed function": func(_ *rand.Rand, text string) string {
		return regexp.MustCompile(`\b`+withFirstGap(text)+`\(`).ReplaceAllString(text, "renamed(")
	},
}

// withFirstGap is the name of the function that the first gap is in.
func withFirstGap(text string) string {
	text, _, _ = strings.Cut(text, "contract.TODO(")
	all := regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+)\(`).FindAllStringSubmatch(text, -1)
	return all[len(all)-1][1]
}

// split parts a file: what is before its first declaration that is no import, and each declaration with what stands
// before.
func split(text string) (parts []string) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.ParseComments)
	if err != nil {
		panic(err)
	}
	from := 0
	for i, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.IMPORT {
			to := set.Position(d.End()).Offset + 1
			if len(parts) == 0 {
				begin := set.Position(file.Decls[i-1].End()).Offset + 1
				parts, from = append(parts, text[:begin]), begin
			}
			parts, from = append(parts, text[from:to]), to
		}
	}
	return parts
}

// TestOver takes whole solutions over. Where a call is written otherwise in the very line that a solution has changed
// too, nobody can say what is meant.
func TestOver(t *testing.T) {
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			apart := 0
			for _, e := range exercises(t) {
				newer := change(rand.New(rand.NewPCG(1, 1)), e.skeleton)
				require.NotEqual(t, e.skeleton, newer)
				got, _, err := carry.Over([]byte(e.skeleton), []byte(e.solved), []byte(newer))
				if err != nil && (name == "added argument" || name == "renamed function") {
					require.Regexp(t, "^func .* has changed where you have changed it, too$", err.Error())
					apart++
					continue
				}
				require.NoError(t, err, e.name)
				kept(t, e.skeleton, e.solved, string(got))
				left := gaps.Of(got)
				require.Equal(t, name == "added function", slices.Equal(left, []string{"9z"}), "%s: %q are left", e.name, left)
				require.LessOrEqual(t, len(left), 1, e.name)
			}
			require.LessOrEqual(t, apart, 3)
		})
	}
}

func TestTheSolutionOverTheSameSkeletonIsTheSolution(t *testing.T) {
	for _, e := range exercises(t) {
		got, filled, err := carry.Over([]byte(e.skeleton), []byte(e.solved), []byte(e.skeleton))
		require.NoError(t, err, e.name)
		require.Equal(t, withoutImports(e.solved), withoutImports(string(got)), e.name)
		require.NotEmpty(t, filled)
	}
}

// TestNoLineIsLost has students fill some gaps, write functions, comments and imports of their own anywhere, and leave
// things out, and courses change in several ways at once. Whatever is taken over is all there.
func TestNoLineIsLost(t *testing.T) {
	all := exercises(t)
	names := slices.Sorted(keys(changes))
	taken, apart := 0, map[string]int{}
	const rounds = 400
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 40))
		e := all[r.IntN(len(all))]
		mine := student(t, r, e)
		newer, done := e.skeleton, []string{}
		for range 1 + r.IntN(3) {
			name := names[r.IntN(len(names))]
			newer, done = changes[name](r, newer), append(done, name)
			if formatted, err := format.Source([]byte(newer)); err == nil {
				newer = string(formatted)
			}
		}
		got, _, err := carry.Over([]byte(e.skeleton), []byte(mine), []byte(newer))
		var stays *carry.Apart
		if errors.As(err, &stays) {
			apart[regexp.MustCompile(`(func|type|const|var) [^ ]+( \w+)?|\(.*\)|".*"`).ReplaceAllString(stays.Reason, "…")]++
			continue
		}
		require.NoError(t, err)
		taken++
		what := fmt.Sprintf("seed %d: %s, %q", seed, e.name, done)
		require.True(t, kept(t, e.skeleton, mine, string(got)), what)
		formatted, err := format.Source(got)
		require.NoError(t, err, what)
		require.Equal(t, string(formatted), string(got), what)
	}
	t.Logf("taken over %d of %d; apart: %v", taken, rounds, apart)
	require.Greater(t, taken, rounds*3/4)
}

// student is what somebody may have made of a skeleton.
func student(t *testing.T, r *rand.Rand, e exercise) string {
	begun, solved := split(e.skeleton), split(e.solved)
	parts := []string{regexp.MustCompile(`(?s)import \(.*\)`).ReplaceAllString(begun[0], // what is used is not known here
		"import (\n\t\"container/list\"\n\t\"errors\"\n\t\"fmt\"\n\n\t\"cudalab/exercises/contract\"\n"+
			"\t\"cudalab/kernels\"\n\t\"cudalab/native/cuda\"\n)")}
	for _, part := range begun[1:] {
		head := regexp.MustCompile(`(?m)^(func|type|var|const) .*`).FindString(part)
		for _, s := range solved[1:] {
			if strings.Contains(s, head) && r.IntN(2) == 0 {
				part = s
				break
			}
		}
		parts = append(parts, part)
		if r.IntN(8) == 0 {
			parts = append(parts, fmt.Sprintf("\n// own%d is mine.\nfunc own%[1]d() int {\n\treturn %[1]d\n}\n", r.Uint32()))
		}
	}
	lines := strings.Split(strings.Join(parts, ""), "\n")
	var noted []string
	for _, line := range lines {
		noted = append(noted, line)
		if strings.HasPrefix(line, "\t") && strings.HasSuffix(line, "{") && r.IntN(20) == 0 {
			noted = append(noted, fmt.Sprintf("// mine: %d", r.Uint32()))
		}
	}
	text, err := format.Source([]byte(strings.Join(noted, "\n")))
	require.NoError(t, err)
	return string(text)
}

// kept holds a text to have every line that a student has added to a skeleton, as often as it was added.
func kept(t *testing.T, skeleton, mine, text string) bool {
	count := func(text string) map[string]int {
		n := map[string]int{}
		for line := range strings.Lines(withoutImports(text)) {
			n[strings.TrimSpace(line)]++
		}
		return n
	}
	was, has := count(skeleton), count(text)
	for line, n := range count(mine) {
		if line != "" && !strings.HasPrefix(line, "package ") && min(n, n-was[line]) > has[line] {
			return len(line) == 0 || fail(t, "the line %q is lost", line)
		}
	}
	for _, added := range imports(mine) {
		if !slices.Contains(imports(skeleton), added) && !slices.Contains(imports(text), added) {
			return fail(t, "the import %s is lost", added)
		}
	}
	return true
}

func fail(t *testing.T, format string, args ...any) bool {
	t.Errorf(format, args...)
	return false
}

func imports(text string) (all []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if err == nil {
		for _, i := range file.Imports {
			all = append(all, i.Path.Value)
		}
	}
	return all
}

func withoutImports(text string) string {
	return regexp.MustCompile(`(?s)\nimport \(.*?\n\)\n`).ReplaceAllString(text, "\n")
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
