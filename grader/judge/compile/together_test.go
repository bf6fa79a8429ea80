package compile

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/machine/child"
)

// six is the course of testdata with six more exercises, e1 to e6, that each consist of a function Answer; and a
// student's folder for each, in which it answers the exercise's name.
func six(t testing.TB) (root string, exercises []Exercise) {
	root = filepath.Join(t.TempDir(), "course")
	require.NoError(t, os.CopyFS(root, os.DirFS(course)))
	for i := range 6 {
		name := fmt.Sprintf("e%d", i+1)
		write := func(room, text string) {
			dir := filepath.Join(root, filepath.FromSlash(room), name)
			require.NoError(t, os.MkdirAll(dir, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name+".go"), []byte("package "+name+"\n\n"+text), 0o600))
		}
		write("exercises", "func Answer() string { return `skeleton` }\n")
		write("solutions", "func Answer() string { return `solution` }\n")
		write("grader/suites", `type Suite struct{ answer func() string }

func New(student, solution func() string) *Suite { return &Suite{student} }

func (s *Suite) Answer() any { return s.answer() }
`)
		exercises = append(exercises, Exercise{Package: name,
			Dir:  folder(t, map[string]string{name + ".go": answer(name, name)}),
			Main: "suite.New(exercise.Answer, solution.Answer)", Solution: true})
	}
	return root, exercises
}

func answer(pkg, text string) string {
	return fmt.Sprintf("package %s\n\nfunc Answer() string { return %q }\n", pkg, text)
}

// change gives one of the exercises another text.
func change(t testing.TB, e Exercise, text string) {
	require.NoError(t, os.WriteFile(filepath.Join(e.Dir, e.Package+".go"), []byte(text), 0o600))
}

// said is what a runner of several prints: a line for each exercise that is in it.
func said(t *testing.T, r *Result) []string {
	t.Helper()
	require.NotEmpty(t, r.Binary)
	text, err := exec.Command(r.Binary).Output()
	require.NoError(t, err)
	return strings.Fields(string(text))
}

func TestOneRunnerForAll(t *testing.T) {
	root, exercises := six(t)
	r := together(t, asked{Course{Root: root}, exercises})
	require.Equal(t, []string{"e1", "e2", "e3", "e4", "e5", "e6"}, said(t, r))
	for i := range r.Exercises {
		require.True(t, r.Exercises[i].OK())
		virtual := fmt.Sprintf("cudalab/exercises/e%d/e%[1]d.go", i+1)
		for j := range r.Exercises {
			path, ok := r.Exercises[j].Sources.RealPath(virtual)
			require.Equal(t, i == j, ok, "each knows its own files")
			if ok {
				require.Equal(t, filepath.Join(exercises[i].Dir, fmt.Sprintf("e%d.go", i+1)), path)
			}
		}
	}
}

// One that keeps itself out of the runner, in whichever way, takes nobody with it, and is told what it is told alone.
func TestOneOutOfSix(t *testing.T) {
	explosive := "package e3\n\nconst c0 = `0123456789abcdef`\n"
	for i := range 36 {
		explosive += fmt.Sprintf("const c%d = c%d + c%d\n", i+1, i, i)
	}
	for name, c := range map[string]struct {
		text string
		says func(l Linked) string
	}{
		"does not parse": {"package e3\n\nfunc Answer() string {\n", func(l Linked) string { return l.Errors[0].Message }},
		"does not compile": {answer("e3", "x") + "\nfunc f() { unknown() }\n",
			func(l Linked) string { return l.Errors[0].Message }},
		"is refused": {"package e3\n\nimport \"os\"\n\nfunc Answer() string { return os.Args[0] }\n",
			func(l Linked) string { return l.Refusals[0].Message }},
		"has another signature": {"package e3\n\nfunc Answer() int { return 3 }\n",
			func(l Linked) string { return l.Errors[0].Plain }},
		"lacks the function": {"package e3\n\nfunc answer() int { return 3 }\n",
			func(l Linked) string { return l.Errors[0].Plain }},
		"explodes": {explosive + "var Kept = c36\n\nfunc Answer() string { return Kept }\n",
			func(l Linked) string { return l.Errors[0].Message }},
	} {
		t.Run(name, func(t *testing.T) {
			root, exercises := six(t)
			change(t, exercises[2], c.text)
			limits := child.Limits{Memory: 400 << 20}
			q := asked{Course{Root: root, Limits: limits}, exercises}
			r := together(t, q)
			require.Equal(t, []string{"e1", "e2", "e4", "e5", "e6"}, said(t, r))
			for i := range r.Exercises {
				require.Equal(t, i != 2, r.Exercises[i].OK(), r.Exercises[i])
			}
			require.NotEmpty(t, c.says(r.Exercises[2]))
			alone := together(t, asked{Course{Root: root, Limits: limits}, exercises[2:3]})
			require.Equal(t, alone.Exercises[0], r.Exercises[2])
			require.Empty(t, alone.Binary)
			q.Precompiled = precompiled(t, q)
			quick := together(t, q)
			require.Equal(t, r.Exercises, quick.Exercises)
			require.Equal(t, said(t, r), said(t, quick))
		})
	}
}

// Programs of one exercise share a runner by their numbers, but for what starts by itself; what keeps others out they
// are told as when they are alone.
func TestSeveralProgramsOfOneExercise(t *testing.T) {
	root, exercises := six(t)
	var programs []Exercise
	for i, text := range []string{answer("e1", "first"), "package e1\n\nfunc Answer() string { return unknown }\n",
		"package e1\n\nfunc Answer() int { return 1 }\n", answer("e1", "starts") + "\nvar now = Answer()\n",
		answer("e1", "last")} {
		e := exercises[0]
		e.Dir, e.Number = folder(t, map[string]string{"e1.go": text}), i+1
		programs = append(programs, e)
	}
	q := asked{Course{Root: root}, programs}
	for _, q.Precompiled = range []*Precompiled{nil, precompiled(t, q)} {
		r := together(t, q)
		require.Equal(t, []string{"first1", "last5"}, said(t, r))
		for i, linked := range r.Exercises {
			require.Equal(t, i == 3, linked.Apart)
			require.Equal(t, i == 0 || i == 4, linked.OK())
			path, ok := linked.Sources.RealPath(linked.ImportPath + "/e1.go")
			require.True(t, ok)
			require.Equal(t, filepath.Join(programs[i].Dir, "e1.go"), path)
			if i == 1 || i == 2 {
				alone := programs[i]
				alone.Number = 0
				require.Equal(t, together(t, asked{q.Course, []Exercise{alone}}).Exercises[0].Errors, linked.Errors)
			}
		}
	}
}

func TestSeveralOutOfSix(t *testing.T) {
	root, exercises := six(t)
	change(t, exercises[0], "package e1\n\nfunc Answer() int { return 1 }\n") // shows only once the next two are out
	change(t, exercises[1], "package e2\n\nfunc Answer() string { return unknown }\n")
	change(t, exercises[2], "package e3\n\nfunc Answer() string { return 3 }\n")
	exercises[3].Main = "suite.Nothing()"
	exercises[4].Dir = filepath.Join(t.TempDir(), "nowhere")
	r := together(t, asked{Course{Root: root}, exercises})
	require.Equal(t, []string{"e6"}, said(t, r))
	require.Contains(t, r.Exercises[0].Errors[0].Plain, "func Answer() string")
	require.Contains(t, r.Exercises[1].Errors[0].Message, "undefined: unknown")
	require.Contains(t, r.Exercises[2].Errors[0].Message, "cannot use 3")
	require.ErrorContains(t, r.Exercises[3].Err, "suite.Nothing")
	var environment *EnvironmentError
	require.ErrorAs(t, r.Exercises[4].Err, &environment)
}

// The compiler lists ten errors of a package unless it is told otherwise, and here all are in the runner's.
func TestNoExercisesErrorsCrowdOutAnothers(t *testing.T) {
	root, exercises := six(t)
	for i, e := range exercises {
		exercises[i].Main = "suite.New(exercise.Answer, exercise.A, exercise.B, exercise.C)"
		change(t, e, answer(e.Package, "x"))
	}
	r := together(t, asked{Course{Root: root}, exercises})
	require.Empty(t, r.Binary)
	for i := range r.Exercises {
		require.Len(t, r.Exercises[i].Errors, 4)
	}
}

func TestNobodyCompilesInTime(t *testing.T) {
	root, exercises := six(t)
	r := together(t, asked{Course{Root: root, Limits: child.Limits{CPU: 20 * time.Millisecond}}, exercises})
	require.Empty(t, r.Binary)
	for i := range r.Exercises {
		require.Contains(t, r.Exercises[i].Errors[0].Message, "20ms of CPU time")
	}
}

func TestTwoFoldersForOneExercise(t *testing.T) {
	root, exercises := six(t)
	_, err := asked{Course{Root: root}, append(exercises, exercises[3])}.build(context.Background())
	require.ErrorContains(t, err, "e4")
}

// What a submission of six exercises costs, all changed, in one runner and in six.
func BenchmarkSix(b *testing.B) {
	root, exercises := six(b)
	n := 0
	edit := func() {
		n++
		for _, e := range exercises {
			change(b, e, answer(e.Package, fmt.Sprint(os.Getpid(), n)))
		}
	}
	q := asked{Course{Root: root}, exercises}
	build := func(exercises ...Exercise) {
		q.Exercises = exercises
		r, err := q.build(context.Background())
		if err != nil || r.Binary == "" {
			b.Fatal(err, r)
		}
		r.Close()
	}
	b.Run("OneRunner", func(b *testing.B) {
		for b.Loop() {
			edit()
			build(exercises...)
		}
	})
	b.Run("SixRunners", func(b *testing.B) {
		for b.Loop() {
			edit()
			for _, e := range exercises {
				build(e)
			}
		}
	})
	b.Run("Precompiled", func(b *testing.B) {
		q.Precompiled = precompiled(b, q)
		for b.Loop() {
			edit()
			build(exercises...)
		}
	})
}
