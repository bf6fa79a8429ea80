package run

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/suite/verdict"
	"cudalab/native/trace"
)

var slabLines = locator{pkg: "cudalab/exercises/slab",
	name: func(f string) string { return f[strings.LastIndexByte(f, '/')+1:] }}

func TestParseCrash(t *testing.T) {
	tests := []struct {
		name, stderr, headline, state string
		place                         verdict.Place
	}{
		{
			name: "panic in a method",
			stderr: `panic: runtime error: index out of range [3] with length 3 [recovered, repanicked]

goroutine 1 [running]:
cudalab/exercises/slab.(*Allocator).Alloc(0xc000012345, 0x10)
	/src/exercises/slab/slab.go:41 +0x1d
main.main()
	/src/main.go:9 +0x25
exit status 2
`,
			headline: "runtime error: index out of range [3] with length 3 [recovered, repanicked]",
			state:    "running",
			place:    verdict.Place{File: "slab.go", Line: 41, Func: "(*Allocator).Alloc"},
		},
		{
			name: "the student's goroutine is not the first",
			stderr: `SIGQUIT: quit
PC=0x4 m=0 sigcode=0

goroutine 7 [GC worker (idle)]:
runtime.gopark(...)
	/go/proc.go:1

goroutine 1 gp=0xc0 m=nil [select (no cases), 1 minutes]:
runtime.gopark(...)
	/go/proc.go:1
cudalab/exercises/slab.wait(...)
	/src/exercises/slab/wait.go:7
cudalab/exercises/slab.New({0x0, 0x0}, 0x3)
	/src/exercises/slab/slab.go:12 +0x5
`,
			state: "select (no cases)",
			place: verdict.Place{File: "wait.go", Line: 7, Func: "wait"},
		},
		{
			name: "the driver crashes",
			stderr: `SIGSEGV: segmentation violation
PC=0x7f02be5869f8 m=0 sigcode=1 addr=0x58
signal arrived during cgo execution

goroutine 1 gp=0x3aabad7161e0 m=0 mp=0x66c220 [syscall]:
runtime.cgocall(0x4c8d80, 0x3aabad7fe000)
	runtime/cgocall.go:167 +0x4b fp=0x3aabad7d6dc0 sp=0x3aabad7d6d88 pc=0x47accb
cudalab/native/cuda.MemPoolDestroy({0x0?})
	cudalab/native/cuda/pools.go:58 +0x25 fp=0x3aabad7d7520 sp=0x3aabad7d74d8 pc=0x4eabc5
cudalab/exercises/slab.Run({0x0, 0x0, 0x2cdea6e, {0x3aabad7141a0, 0x1, 0x1}, {0x3aabad938408, 0x3, 0x3}, 0x2})
	cudalab/exercises/slab/slab.go:44 +0x3ea fp=0x3aabad7d7670 sp=0x3aabad7d7520 pc=0x4ecc8a
`,
			headline: "SIGSEGV: segmentation violation",
			state:    "syscall",
			place:    verdict.Place{File: "slab.go", Line: 44, Func: "Run"},
		},
		{
			name: "stack overflow",
			stderr: `runtime: goroutine stack exceeds 1000000000-byte limit
fatal error: stack overflow

goroutine 1 [running]:
cudalab/exercises/slab.f(0x1)
	/src/exercises/slab/slab.go:3 +0x1d
`,
			headline: "stack overflow",
			state:    "running",
			place:    verdict.Place{File: "slab.go", Line: 3, Func: "f"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := parseCrash([]byte(tt.stderr))
			require.Equal(t, tt.headline, c.headline)
			g, ok := c.in(slabLines)
			require.True(t, ok)
			require.Equal(t, tt.state, g.state)
			require.Equal(t, tt.place, slabLines.places(g.site)[0])
		})
	}
}

func TestParseCrashMakesNothingOfNonsense(t *testing.T) {
	for _, s := range []string{"", "hello", "goroutine [", "goroutine 1 [running]:\n\tfile\n",
		"goroutine 1 [x]:\nf(\n\t:x"} {
		_, ok := parseCrash([]byte(s)).in(slabLines)
		require.False(t, ok, s)
	}
}

func TestAnotherPackageWithTheSamePrefixIsNotTheStudents(t *testing.T) {
	c := parseCrash([]byte("goroutine 1 [running]:\ncudalab/exercises/slabber.F()\n\t/x.go:1\n"))
	_, ok := c.in(slabLines)
	require.False(t, ok)
}

// A loop that does nothing has no place of its own in a stack of Go's, nor has a function as a whole one in a trace.
func TestWhatHasNoLineOfItsOwn(t *testing.T) {
	l := slabLines
	l.code = map[string]Function{"Run": {Line: 20, Loop: 25}, "(*Pool).Alloc": {Line: 40, Loop: 41},
		"Pool.Free": {Line: 50}}
	for _, c := range []struct {
		function   string
		line, want int
	}{
		{"Run", 1, 25}, {"Run.func1.2", 1, 25}, {"(*Pool).Alloc", 1, 41}, {"(*Pool).Alloc.func1", 1, 41}, {"Pool.Free", 1, 1},
		{"Close", 1, 1},
		{"Run", 0, 20}, {"(*Pool).Alloc", 0, 40}, {"Pool.Free", 0, 50}, {"(*Pool[...]).Alloc", 0, 40}, {"Close", 0, 0},
		{"Run", 30, 30},
	} {
		require.Equal(t, c.want, l.line(c.line, c.function), c.function)
	}
}

// A stack is taken at whatever line the code is at by then, and in whatever it calls: what is told is the loop.
func TestTheLoopIsTheSameWhereverItIsStopped(t *testing.T) {
	l := slabLines
	l.code = map[string]Function{"Run": {Line: 20, Loops: [][2]int{{22, 40}, {25, 30}}}, "step": {Line: 50}}
	at := func(function string, line int) trace.Frame {
		return trace.Frame{Func: l.pkg + "." + function, File: "/x.go", Line: line}
	}
	for _, c := range []struct {
		site trace.Site
		want int // 0: there is no loop
	}{
		{trace.Site{at("Run", 25)}, 25}, {trace.Site{at("Run", 28)}, 25}, {trace.Site{at("Run.func1", 30)}, 25},
		{trace.Site{at("Run", 31)}, 22}, {trace.Site{at("step", 51), at("Run", 27)}, 25}, {trace.Site{at("Run", 21)}, 0},
		{trace.Site{{Func: "cudalab/native/cuda.Malloc", File: "/y.go", Line: 27}, at("Run", 27)}, 25}, {nil, 0},
	} {
		site, looping := l.loop(c.site)
		require.Equal(t, c.want != 0, looping, "%v", c.site)
		if looping {
			require.Equal(t, at(site[0].Func[len(l.pkg)+1:], c.want), site[0])
		}
	}
}
