package authoring

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite"
	"cudalab/grader/suites"
)

const root = "../../.."

// TestLessonsAreWhole says everything that a lesson of this course lacks.
func TestLessonsAreWhole(t *testing.T) { Check(t, root, suites.All()) }

// tally is the suite of the lesson in testdata/outside, as far as it matters here.
func tally() *suite.Suite {
	s := &suite.Suite{Exercise: "tally", Package: "tally", Functions: []string{"Run"},
		Cases: []suite.Case{{ID: "drawn", After: "1b"}}}
	for _, id := range []string{"arguments", "results", "order", "cleanup"} {
		s.Checks = append(s.Checks, suite.Question{ID: id})
	}
	return s
}

// cudalab is what Problems reads of this repository, read once.
var cudalab = sync.OnceValue(func() fs.FS {
	return fstest.MapFS{path.Join("grader", "rules.go"): &fstest.MapFile{Data: []byte(rules(os.DirFS(root)))}}
})

// outside is a copy of the course in testdata/outside.
func outside(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	tree := os.DirFS("testdata/outside")
	require.NoError(t, fs.WalkDir(tree, ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tree, file)
		files[file] = &fstest.MapFile{Data: text}
		return err
	}))
	return files
}

func TestTheExampleIsWhole(t *testing.T) {
	require.Empty(t, Problems(outside(t), cudalab(), []*suite.Suite{tally()}))
}

// Whatever is taken away or spoilt, the one message names the file and says what to do.
func TestWhatALessonLacks(t *testing.T) {
	const (
		skeleton = "exercises/tally/tally.go"
		list     = "lessons/course.toml"
		hints    = "lessons/tally.hints.md"
	)
	replace := func(file, old, new string) func(*testing.T, fstest.MapFS) {
		return func(t *testing.T, files fstest.MapFS) {
			text := string(files[file].Data)
			require.Contains(t, text, old)
			files[file] = &fstest.MapFile{Data: []byte(strings.Replace(text, old, new, 1))}
			if file == skeleton { // its copy, and nothing else, follows from it
				files["lessons/tally.skeleton.go.txt"] = files[file]
			}
		}
	}
	without := func(lost string) func(*testing.T, fstest.MapFS) {
		return func(_ *testing.T, files fstest.MapFS) { delete(files, lost) }
	}
	for name, c := range map[string]struct {
		spoil   func(*testing.T, fstest.MapFS)
		suite   func(*suite.Suite)
		problem string // all that is said, or its beginning
	}{
		"no solution": {without("solutions/tally/tally.go"), nil,
			"solutions/tally/tally.go: there is no solution. Write the skeleton with its gaps filled"},
		"no kernel": {func(t *testing.T, files fstest.MapFS) {
			delete(files, "kernels/tally.cu")
			replace("solutions/tally/tally.go", "return kernels.Tally(", "return another(")(t, files)
		}, nil, "kernels/tally.cu: there is no kernel of this lesson's, and it launches none of another's. Write one in " +
			"CUDA C++"},
		"no PTX": {without("kernels/tally.ptx"), nil,
			"kernels/tally.ptx: there is no PTX of the lesson's kernel. Compile it"},
		"no chapter": {without("lessons/tally.md"), nil,
			"lessons/tally.md: there is no chapter. Write it; its first line is # One number, many threads"},
		"no hints": {without(hints), nil, "lessons/tally.hints.md: there is no file of hints. Write a section"},
		"no walk-through": {without("lessons/tally.solution.md"), nil,
			"lessons/tally.solution.md: there is no walk-through"},
		"no test": {without("grader/suites/tally/lesson_test.go"), nil,
			"grader/suites/tally/lesson_test.go: nothing tests the lesson. Write a test that calls lessontest.Run"},
		"no right program": {without("grader/suites/tally/testdata/corpus/right/plain.go"), nil,
			"grader/suites/tally/testdata/corpus/right.diff: the corpus has no program of kind right"},
		"no wrong program": {without("grader/suites/tally/testdata/corpus/wrong.diff"), nil,
			"grader/suites/tally/testdata/corpus/wrong.diff: the corpus has no program of kind wrong"},
		"no cheat": {without("grader/suites/tally/testdata/corpus/cheat.diff"), nil,
			"grader/suites/tally/testdata/corpus/cheat.diff: the corpus has no program of kind cheat"},
		"no half program": {without("grader/suites/tally/testdata/corpus/half.diff"), nil,
			"grader/suites/tally/testdata/corpus/half.diff: the corpus has no program of kind half"},
		"old skeleton": {without("lessons/tally.skeleton.go.txt"), nil,
			"lessons/tally.skeleton.go.txt: it is not what follows from course.toml, the exercises, the chapters and what " +
				"tests have recorded. Run go generate ./lessons"},
		"old index": {replace("lessons/README.md", "do not get lost", "get lost"), nil,
			"lessons/README.md: it is not what follows from course.toml"},
		"nothing recorded": {without("grader/suites/tally/testdata/words.txt"), nil,
			"grader/suites/tally/testdata/words.txt: nothing is recorded of what the checks say of the lesson's programs. Run " +
				"go test ./grader/suites/tally -record"},
		"a section too few": {replace("lessons/tally.md", "## The idea", "### The idea"), nil,
			"lessons/tally.md: its sections are not those of every chapter. Have ## What you will build, "},
		"figures of nothing": {replace("lessons/tally.md", "Not yet measured.", "Nothing."), nil,
			"lessons/tally.md: nothing says what the figures in What it costs were measured on"},
		"figures in no table": {replace("lessons/tally.md", "Not yet measured.",
			"Nothing, on one NVIDIA H200, driver 580.159.04."), nil,
			"lessons/tally.md: What it costs has no table"},
		"traps in the open": {replace("lessons/tally.md", "<details>", ""), nil,
			"lessons/tally.md: the traps do not lie in one block <details>"},
		"a trap without name": {replace("lessons/tally.md", "**What was", "What *was"), nil,
			"lessons/tally.md: the first trap does not begin with its name"},
		"a quote too early": {replace("lessons/tally.md", "## The traps", "```text\nerror leak\n```\n\n## The traps"), nil,
			"lessons/tally.md: it quotes a finding outside of the traps"},
		"no quote": {replace("lessons/tally.md", "error wrong-result", "errors"), nil,
			"lessons/tally.md: it quotes no finding. Quote one of grader/suites/tally/testdata/words.txt"},
		"a made-up quote": {replace("lessons/tally.md", "should be 5", "should be 6"), nil,
			`lessons/tally.md: no check says "error wrong-result: With 1 additions of 5 the number should be 6`},
		"a dead link": {replace("lessons/tally.solution.md", "stream,", "[stream](streams.md),"), nil,
			"lessons/tally.solution.md: the link to streams.md leads nowhere"},
		"no such file": {replace("lessons/tally.md", "kernels/tally.cu", "kernels/tell.cu"), nil,
			"lessons/tally.md: there is no kernels/tell.cu, which it names"},
		"a wide picture": {replace("lessons/tally.md", "the number should be 5, but it is\n ",
			"the number should be 5, but it is"), nil,
			"lessons/tally.md: a line in a block ```text has 81 characters"},
		"a dead link in another page": {func(_ *testing.T, files fstest.MapFS) {
			files["README.md"] = &fstest.MapFile{Data: []byte("[the guide](lessons/authors/guide.md)")}
		}, nil, "README.md: the link to lessons/authors/guide.md leads nowhere"},
		"no word": {replace("lessons/README.md", "| **atomic", "| *atomic"), nil,
			"lessons/README.md: the glossary has no term of tally. Set in bold"},
		"a word in no chapter": {replace("lessons/tally.md", "**atomic\naddition**", "atomic addition"), nil,
			`lessons/tally.md: it does not explain "atomic addition", as the glossary says`},
		"another heading": {replace("lessons/tally.solution.md", "# One", "# Two"), nil,
			`lessons/tally.solution.md: the first line is "# Two number, many threads: the solution"`},
		"no sentence": {replace(list, `about = "Additions that do not get lost."`, ""), nil,
			"lessons/course.toml: nothing says what tally is about"},
		"damaged list": {replace(list, "package =", "package"), nil, "lessons/course.toml: line 5"},
		"unknown key": {replace(list, "requires", "require"), nil,
			`lessons/course.toml: nothing is called "exercise.require"`},
		"99 points": {replace(list, "results = 50", "results = 49"), nil,
			"lessons/course.toml: the points of tally add up to 99 instead of 100"},
		"points for no check": {replace(list, "results", "result"), nil,
			"lessons/course.toml: the check results of tally is worth no points"},
		"a gap without words": {replace(skeleton, "TODO(1b):", "TODO:"), nil,
			"exercises/tally/tally.go: nothing says what the gap 1b asks for. Write a comment // TODO(1b): ... above it"},
		"a hole": {replace(skeleton, `TODO("1b")`, `TODO("1c")`), nil,
			"exercises/tally/tally.go: the gap 1c stands where 1b is expected"},
		"no number": {replace(skeleton, `TODO("1b")`, `TODO("b")`), nil,
			`exercises/tally/tally.go: "b" is no gap's number`},
		"another declaration": {replace(skeleton, "t contract.Tally) error", "t contract.Tally) (err error)"), nil,
			"exercises/tally/tally.go: the skeleton declares something else than the solution: it has"},
		"not Go": {replace(skeleton, "func Run", "func func"), nil,
			"exercises/tally/tally.go: the skeleton is not Go"},
		"a TODO in the solution": {replace("solutions/tally/tally.go", "\t// Both", "\t// TODO(1c): Both"), nil,
			"solutions/tally/tally.go: the solution has a TODO"},
		"a gap without hints": {replace(hints, "## 1b", "### More"), nil,
			"lessons/tally.hints.md: there is no hint for the gap 1b. Add a section ## 1b"},
		"hints for no gap": {replace(hints, "## 1b", "## 1c"), nil,
			`lessons/tally.hints.md: there are hints for the gap "1c", which the skeleton does not have. Name one of 1a, 1b`},
		"an unknown rule": {replace(hints, "`wrong-result`", "`wrongs-result`"), nil,
			`lessons/tally.hints.md: no finding has the rule "wrongs-result", which the hints for 1b name`},
		"an unknown After": {nil, func(s *suite.Suite) { s.Cases[0].After = "1f" }, "grader/suites/tally/suite.go: the " +
			"case drawn waits for the gap 1f, which the skeleton does not have. Name one of 1a, 1b"},
		"an unknown way out": {nil, func(s *suite.Suite) { s.WaysOut = []suite.WayOut{{Gap: "1f"}} },
			"grader/suites/tally/suite.go: WaysOut names the gap 1f, which the skeleton does not have. Name one of 1a, 1b"},
		"an unknown function": {nil, func(s *suite.Suite) { s.Functions = []string{"New"} },
			"exercises/tally/tally.go: there is no function New, which the suite calls"},
		"several of an unknown After": {nil, func(s *suite.Suite) {
			s.Cases = []suite.Case{{ID: "drawn", After: "1f"}, {ID: "faults", After: "1f"}}
		}, "grader/suites/tally/suite.go: the cases drawn, faults wait for the gap 1f, which the skeleton does not have. " +
			"Name one of 1a, 1b"},
		"a kernel that is not defined": {replace("kernels/tally.go", `Entry:  "tally"`, `Entry:  "count"`), nil,
			"kernels/tally.go: nothing defines the kernel tally of kernels/tally.cu. Write var tally = device.NewKernel("},
		"a kernel that is not listed": {replace("kernels/tally.go", "func init() { listed.Add(tally) }", ""), nil,
			"kernels/tally.go: the kernel tally is not listed, so nobody sees whether a GPU's driver takes it. Write " +
				"func init() { listed.Add(tally) }"},
		"a kernel that is not tried": {func(_ *testing.T,
			files fstest.MapFS) {
			files["kernels/hostile_test.go"] = &fstest.MapFile{}
		}, nil,
			"kernels/tally_test.go: nothing tries kernels.Tally with whatever a student may pass. Write func init() { " +
				"tries(kernels.Tally) }"},
		"another lesson's suite": {nil, func(s *suite.Suite) { s.Exercise = "tell" },
			"grader/suites/suites.go: there is a suite of tell, which is no exercise of course.toml"},
	} {
		t.Run(name, func(t *testing.T) {
			files, s := outside(t), tally()
			if c.spoil != nil {
				c.spoil(t, files)
			}
			if c.suite != nil {
				c.suite(s)
			}
			var said []string
			for _, p := range Problems(files, cudalab(), []*suite.Suite{s}) {
				said = append(said, p.String())
				require.NotEmpty(t, p.Do)
			}
			require.Condition(t, func() bool {
				for _, line := range said {
					if strings.HasPrefix(line, c.problem) {
						return true
					}
				}
				return false
			}, "%q is not said, but:\n%s", c.problem, strings.Join(said, "\n"))
			require.LessOrEqual(t, len(said), 6, "one fault is not told over and over:\n%s", strings.Join(said, "\n"))
		})
	}
}

func TestTwoLessons(t *testing.T) {
	twice := func(old, new string) fstest.MapFS {
		files := outside(t)
		entry := string(files["lessons/course.toml"].Data)
		files["lessons/course.toml"] = &fstest.MapFile{Data: []byte(entry + strings.Replace(entry, old, new, 1))}
		return files
	}
	require.Equal(t, []Problem{{"lessons/course.toml", `there are two exercises "tally", and each needs a name of its own`,
		"Mend the file: nothing else can be looked at before"}},
		Problems(twice("", ""), cudalab(), []*suite.Suite{tally()}))
	require.Contains(t, Problems(twice(`name = "tally"`, `name = "tell"`), cudalab(), []*suite.Suite{tally()}),
		Problem{"lessons/course.toml", "tally and tell are both in the package tally", "Give each a package of its own"})
	require.Equal(t,
		[]Problem{{"grader/suites/suites.go", "two suites are of the lesson tally, in grader/suites/tally/suite.go",
			"Keep one of the lines, and give the other lesson its own name"}},
		Problems(outside(t), cudalab(), []*suite.Suite{tally(), tally()}))

	// A copied suite that kept its name is one fault: neither suite is held to points, and no suite is missed.
	files := twice("tally", "tell")
	files["grader/suites/tell/suite.go"] = files["grader/suites/tally/suite.go"]
	other := tally()
	other.Checks = other.Checks[:1]
	var said []string
	for _, p := range Problems(files, cudalab(), []*suite.Suite{tally(), other}) {
		if strings.HasPrefix(p.File, "grader/suites/suites.go") || strings.Contains(p.Missing, "points") {
			said = append(said, p.String())
		}
	}
	require.Equal(t,
		[]string{"grader/suites/suites.go: two suites are of the lesson tally, in grader/suites/tally/suite.go and " +
			"grader/suites/tell/suite.go. Keep one of the lines, and give the other lesson its own name."}, said)
}

// A new lesson is whole but for what nobody but its author can write.
func TestNew(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/outside")))
	written, err := New(dir, "ring-buffer")
	require.NoError(t, err)
	require.Equal(t, []string{"exercises/ringbuffer/ringbuffer.go", "grader/suites/ringbuffer/lesson_test.go",
		"grader/suites/ringbuffer/suite.go",
		"grader/suites/suites.go", "lessons/course.toml", "lessons/ring-buffer.hints.md",
		"solutions/ringbuffer/ringbuffer.go"}, written)
	changed, err := Generate(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"lessons/README.md", "lessons/ring-buffer.skeleton.go.txt"}, changed)
	registry, err := os.ReadFile(filepath.Join(dir, registry))
	require.NoError(t, err)
	require.Contains(t, string(registry), "\ttally.Lesson.Judging(),\n\tringbuffer.Lesson.Judging(),\n}")
	require.Contains(t, string(registry), `"example.com/outside/grader/suites/ringbuffer"`)

	ring := &suite.Suite{Exercise: "ring-buffer", Package: "ringbuffer", Functions: []string{"Run"},
		Cases: []suite.Case{{ID: "arguments", After: "1a"}}, Checks: []suite.Question{{ID: "arguments"}}}
	var lacking []string
	for _, p := range Problems(os.DirFS(dir), cudalab(), []*suite.Suite{tally(), ring}) {
		lacking = append(lacking, p.File)
	}
	const corpus = "grader/suites/ringbuffer/testdata/corpus/"
	require.Equal(t, []string{"lessons/course.toml", "kernels/ringbuffer.cu", corpus + "right.diff", corpus + "wrong.diff",
		corpus + "half.diff", corpus + "cheat.diff", "grader/suites/ringbuffer/testdata/words.txt",
		"lessons/ring-buffer.md", "lessons/ring-buffer.solution.md"}, lacking)

	for name, words := range map[string]string{
		"": "make lesson NAME=ring-buffer", "Ring": "lower-case words", "../ring": "lower-case words",
		"func":        "could not be called func: choose another",
		"ring-buffer": "there is a lesson ring-buffer already", "ringbuffer": "there is a lesson ring-buffer already",
	} {
		_, err := New(dir, name)
		require.ErrorContains(t, err, words)
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "exercises", "slot"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "exercises", "slot", "slot.go"), nil, 0o644))
	_, err = New(dir, "slot")
	require.ErrorContains(t, err, "exercises/slot/slot.go is there already")
}

// A lesson may do with the kernels of others.
func TestKernelsOfOthersAreEnough(t *testing.T) {
	files := outside(t)
	for _, file := range []string{"tally.cu", "tally.ptx"} {
		delete(files, "kernels/"+file)
	}
	chapter := string(files["lessons/tally.md"].Data)
	files["lessons/tally.md"].Data = []byte(strings.Replace(chapter, "`kernels/tally.cu`", "elsewhere", 1))
	require.Empty(t, Problems(files, cudalab(), []*suite.Suite{tally()}))
}

func TestSnippetsThatDoNotCompile(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"go.mod": "module example.com/snippets\n\ngo 1.26.0\n",
		granted:  "n int\n",
		"lessons/one.md": "# One\n\n```go\ngood := n\n_ = good\n```\n\n" +
			"```go\nfunc f() int { return 1 }\n```\n\n```go\n_ = n\n_ = m\n```\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	}
	problems, err := snippets(dir, t.TempDir())
	require.NoError(t, err)
	require.Equal(t, []Problem{{"lessons/one.md:14", "a Go snippet does not compile: undefined: m",
		"Mend it; names that statements take for granted are declared in " + granted}}, problems)
}

// What the authors' guide shows is in the example, which is built and checked.
func TestTheGuideShowsTheExample(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join(root, "lessons/authors/README.md"))
	require.NoError(t, err)
	var example strings.Builder
	for _, file := range outside(t) {
		example.Write(file.Data)
	}
	snippets := regexp.MustCompile("(?ms)^ *```(?:go|diff)\n(.*?)^ *```$").FindAllStringSubmatch(string(guide), -1)
	require.NotEmpty(t, snippets)
	for _, s := range snippets {
		require.Contains(t, example.String(), s[1])
	}
}
