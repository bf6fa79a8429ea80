package page_test

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"cudalab/grader/proof/browsertest"
)

var screenshots = flag.String("screenshots", "", "write what is looked at to the folder `DIR`, as pictures")

//go:embed look.js
var look string

// slow are programs that are too slow, what their time went to, and the line that has most of it.
var slow = []struct{ exercise, program, answer, line string }{
	{"overlap", "wrong/a-thread-a-block", "are the kernel mix, launched in line 85 with 1 thread to a block",
		"kernels.Mix("},
	{"async-pipeline", "wrong/serialised", "the streams wait for each other in line 31, 31 times",
		"cuda.StreamWaitEvent(s, before)"},
	{"async-pipeline", "wrong/synchronise-in-loop", "the host waits in line 42, 32 times", "cuda.StreamSynchronize("},
	{"block-pool", "cheat/goes-by-the-size", "the streams wait for each other in line 105", "cuda.StreamWaitEvent("},
	{"pool-config", "wrong/touched-by-one-thread", "are the kernel touch, launched in line 99 with 1 thread to a block",
		"kernels.Touch("},
	{"stream-pool", "cheat/goes-by-the-step", "the streams wait for each other in line 131", "cuda.StreamWaitEvent("},
	{"vmm-arena", "wrong/access-granule-by-granule", "are 128 calls of MemSetAccess in line 103", "cuda.MemSetAccess("},
}

// A program that is too slow is told where its time went, with the line, in a picture of the run that was timed.
func TestWhatTheTimeWentTo(t *testing.T) {
	for i, s := range slow {
		t.Run(s.exercise+"/"+path.Base(s.program), func(t *testing.T) {
			text, _ := render(t, s.exercise, s.program)
			d := parse(t, text)
			d.holdsTogether()
			require.Len(t, d.class("race"), 1, "one picture of one run")
			fig := document{t, d.class("race")[0]}
			require.Contains(t, textOf(fig.class("answer")[0]), s.answer)
			require.NotEmpty(t, fig.class("fault"), "what costs the time is framed")
			marked := ""
			for _, n := range d.class("excerpt") {
				marked += textOf(n)
			}
			require.Contains(t, marked, s.line, "its line is beside it")

			tab := browsertest.Open(t, text, 1400, 900)
			heights(t, tab, ".race", 840, 1040)
			// Bars are as long as what they stand for took.
			require.Equal(t, "0", tab.Eval(`[...document.querySelectorAll(".race .box")].filter(b => {
				const lane = b.parentElement.clientWidth, wide = parseFloat(b.style.width) * lane / 100;
				return Math.abs(b.offsetWidth - Math.max(wide, 2)) > 1.01; }).length`))
			byKeyboard(t, tab, ".race")
			looks(t, tab, waysOf(i))
		})
	}
}

// behind are programs whose mappings are wrong, and what is told of them.
var behind = []struct{ exercise, program, answer, piece string }{
	{"growable", "wrong/shrinks-without-waiting",
		"Taken away too early: MemUnmap in line 138 takes D away, and nothing makes it wait for writeElements on a",
		"D no memory"},
	{"growable", "wrong/access-once", "was never given any", "no access"},
	{"vmm-arena", "wrong/access-missing", "No access: what MemMap in line 77 maps as A was never given any",
		"A no access"},
	{"vmm-arena", "wrong/freed-while-mapped", "MemAddressFree in line 106, where A is still mapped", "A still mapped"},
}

// What stands behind reserved addresses is drawn to scale, moment by moment, up to where it goes wrong.
func TestWhatStandsBehindTheAddresses(t *testing.T) {
	for n, m := range behind {
		t.Run(m.exercise+"/"+m.program[6:], func(t *testing.T) {
			text, _ := render(t, m.exercise, m.program)
			d := parse(t, text)
			d.holdsTogether()
			require.NotEmpty(t, d.class("mapping"))
			fig := document{t, d.class("mapping")[0]}
			require.Contains(t, textOf(fig.class("answer")[0]), m.answer)
			require.Len(t, fig.class("at-fault"), 1, "one row is at fault")
			at := document{t, fig.class("at-fault")[0]}
			require.Contains(t, textOf(at.class("wrong")[0]), m.piece)
			var last string
			for i, row := range fig.class("moment")[1:] {
				in := document{t, row}
				if len(in.class("as-above")) > 0 {
					require.Positive(t, i, "the first moment has its addresses")
					continue
				}
				strip := drawnIn(in)
				require.NotEmpty(t, strip, "each moment has its addresses")
				require.True(t, strip != last || len(in.class("badge")) > 0, "what did not change is not drawn again")
				last = strip
			}
			seen := map[string]bool{}
			for _, n := range d.class("mapping") {
				drawn := drawnIn(document{t, n})
				require.False(t, seen[drawn], "nothing is drawn twice")
				seen[drawn] = true
			}

			tab := browsertest.Open(t, text, 1400, 900)
			heights(t, tab, ".mapping", 560, 900)
			heights(t, tab, ".finding:has(> .mapping)", 780, 1200)
			byKeyboard(t, tab, ".mapping")
			looks(t, tab, waysOf(n))
		})
	}
}

// early are pools that hand out bytes too early, and what is told of them.
var early = []struct{ exercise, program, answer, piece, edge string }{
	{"block-pool", "wrong/goes-by-the-allocating-stream", "B gets bytes 256 to 511 in line 79 while occupied on C",
		"handed out in B, in use in C", "nothing makes B wait for occupied on C"},
	{"stream-pool", "wrong/merges-without-an-edge", "D gets bytes 0 to 4,095 in line 113 while inspect on B",
		"handed out in D, in use in B", "nothing makes D wait for inspect on B"},
}

// Whose the pieces of a pool's memory are is drawn to scale, moment by moment, with the wait that is missing.
func TestWhoseTheBytesAre(t *testing.T) {
	for n, m := range early {
		t.Run(m.exercise, func(t *testing.T) {
			text, _ := render(t, m.exercise, m.program)
			d := parse(t, text)
			d.holdsTogether()
			fig := document{t, d.class("mapping")[0]}
			require.Contains(t, textOf(fig.class("answer")[0]), m.answer)
			require.Len(t, fig.class("at-fault"), 1, "one row is at fault")
			at := document{t, fig.class("at-fault")[0]}
			require.Contains(t, textOf(at.class("wrong")[0]), m.piece)
			require.Contains(t, textOf(at.root), m.edge)
			require.Len(t, fig.class("edge"), 1, "one wait is missing")
			require.Len(t, at.class("fault"), 2, "two streams are at the bytes")
			require.NotEmpty(t, fig.class("given"), "what was given back is told from what is handed out")
			require.LessOrEqual(t, len(fig.class("moment")), 1+7)

			tab := browsertest.Open(t, text, 1400, 900)
			heights(t, tab, ".mapping", 400, 560)
			heights(t, tab, ".finding:has(> .mapping)", 780, 1300) // on a phone the finding's words alone take 700
			byKeyboard(t, tab, ".mapping")
			looks(t, tab, waysOf(n))
		})
	}
}

// Allocators' memory is drawn to scale, operation by operation, and gone through by keyboard.
func TestAllocatorsAreDrawn(t *testing.T) {
	for n, p := range [][2]string{{"buddy", "wrong/wrong-buddy"}, {"slab", "wrong/spills-one-class"}} {
		t.Run(p[0], func(t *testing.T) {
			text, _ := render(t, p[0], p[1])
			d := parse(t, text)
			d.holdsTogether()
			fig := document{t, d.class("drawing")[0]}
			frames := fig.class("frame")
			require.NotEmpty(t, frames)
			require.Contains(t, attr(frames[len(frames)-1], "class"), "wrong", "it goes wrong in the end")
			require.NotEmpty(t, (document{t, frames[len(frames)-1]}).class("wrong"))
			for i := range frames[1:] {
				drawn := func(k int) string { return drawnIn(document{t, frames[k]}) }
				require.True(t, i+2 == len(frames) || drawn(i) != drawn(i+1), "what did not change is not drawn again")
			}
			tab := browsertest.Open(t, text, 1400, 900)
			heights(t, tab, ".drawing", 380, 940)
			byKeyboard(t, tab, ".drawing")
			looks(t, tab, waysOf(n))
		})
	}
}

// What threads do to one word is drawn as lanes: what each knows of it, until that is old, and the bytes that they get.
func TestThreadsAreLanes(t *testing.T) {
	text, _ := render(t, "device-bump", "wrong/look-then-add")
	d := parse(t, text)
	d.holdsTogether()
	require.Len(t, d.class("threads"), 1)
	fig := document{t, d.class("threads")[0]}
	require.Equal(t, "Thread 2 gets bytes 64…79, and what it knew of w is from before step 3",
		textOf(fig.class("answer")[0]))
	require.Len(t, fig.class("op"), 4, "each operation is in its thread's lane")
	require.Len(t, fig.class("holds"), 3)
	require.Len(t, fig.class("old"), 2, "what thread 2 knows is old from step 3 on; the legend says how that is drawn")
	require.Len(t, fig.class("at-fault"), 1)
	wrong := document{t, fig.class("at-fault")[0]}.class("wrong")
	require.Len(t, wrong, 1)
	require.Equal(t, "64…79", textOf(wrong[0]))

	tab := browsertest.Open(t, text, 1400, 900)
	heights(t, tab, ".threads", 700, 960)
	looks(t, tab, everyWay)
}

// A pass is told why it is fast, from the run that was timed: how many streams had work at once, and what they did.
func TestWhyItIsFast(t *testing.T) {
	for n, p := range [][2]string{
		{"async-pipeline", "as fast as the synchronous baseline: the code returned after 715 µs of 2.70 ms, and on " +
			"average 3.7 streams had work"},
		{"overlap", "as fast as one stream: the code returned after 342 µs of 57"},
	} {
		t.Run(p[0], func(t *testing.T) {
			text, _ := render(t, p[0], "")
			d := parse(t, text)
			d.holdsTogether()
			fig := document{t, d.class("race")[0]}
			require.Contains(t, textOf(fig.class("answer")[0]), p[1])
			require.Empty(t, fig.class("fault"))
			require.Len(t, fig.class("at-once"), 1)
			tab := browsertest.Open(t, text, 1400, 900)
			heights(t, tab, ".race", 620, 740)
			byKeyboard(t, tab, ".race")
			looks(t, tab, waysOf(n))
		})
	}
}

// drawnIn are the boxes of a part of a page, as they are seen.
func drawnIn(d document) (all string) {
	for _, b := range append(d.class("box"), d.all(func(n *html.Node) bool { return hasClass(n.Parent, "may") })...) {
		all += attr(b, "class") + attr(b, "style") + textOf(b)
	}
	return all
}

// heights holds that a picture is no higher than so many pixels on a wide and on a narrow screen.
func heights(t *testing.T, tab *browsertest.Tab, figure string, wide, narrow float64) {
	t.Helper()
	for width, most := range map[int]float64{1400: wide, 420: narrow} {
		tab.Look(browsertest.As{Width: width})
		high := tab.Eval(fmt.Sprintf(`Math.max(...[...document.querySelectorAll(%q)].map(f => f.offsetHeight))`, figure))
		assert.LessOrEqual(t, number64(t, high), most, "%s at %d px", figure, width)
	}
}

// everyWay is how the first page of each kind of picture is looked at: on screens of three widths, in light and in dark
// mode, in the colours of somebody's system, and on paper. twoWays is for those that have been seen in that way.
var (
	everyWay = []browsertest.As{{Width: 1400}, {Width: 1400, Dark: true}, {Width: 720}, {Width: 420},
		{Width: 420, Dark: true}, {Width: 720, Forced: true}, {Width: 720, Printed: true}}
	twoWays = []browsertest.As{{Width: 1400}, {Width: 420, Dark: true}}
)

// waysOf are those in which the n-th page of a kind is looked at.
func waysOf(n int) []browsertest.As {
	if n == 0 {
		return everyWay
	}
	return twoWays
}

// looks holds that a page can be read in some ways, and where no script runs. It comes last: the page has no scripts
// behind it.
func looks(t *testing.T, tab *browsertest.Tab, ways []browsertest.As) {
	t.Helper()
	for _, as := range ways {
		tab.Look(as)
		if wrong := tab.Eval(look); wrong != "" {
			t.Errorf("%+v:\n%s", as, wrong)
		}
		if *screenshots != "" {
			name := fmt.Sprintf("%s-%+v.png", strings.ReplaceAll(t.Name(), "/", "-"), as)
			require.NoError(t, os.MkdirAll(*screenshots, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(*screenshots, name), tab.Shot(), 0o644))
		}
	}
	tab.WithoutScript()
	if wrong := tab.Eval(look); wrong != "" {
		t.Errorf("without script:\n%s", wrong)
	}
}

// byKeyboard opens the table of a picture with the keyboard alone, and folds it again.
func byKeyboard(t *testing.T, tab *browsertest.Tab, figure string) {
	t.Helper()
	const stops = `a[href], button, input, summary, [tabindex="0"]`
	tab.Eval(fmt.Sprintf(`(() => { const all = [...document.querySelectorAll(%q)].filter(e => e.checkVisibility());
		const i = all.findIndex(e => e.closest(%q)); all[Math.max(0, i - 1)].focus(); })()`, stops, figure))
	for n := 0; tab.Eval(fmt.Sprintf(`document.activeElement.matches(%q)`, figure+" summary")) != "true"; n++ {
		require.Less(t, n, 8, "the tabulator key comes to the table")
		tab.Press("Tab")
	}
	tab.Press("Enter")
	require.Equal(t, "true", tab.Eval(fmt.Sprintf(`document.querySelector(%q).open`, figure+" details")))
	tab.Press("Enter")
	require.Equal(t, "false", tab.Eval(fmt.Sprintf(`document.querySelector(%q).open`, figure+" details")))
}

func number64(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	require.NoError(t, err)
	return v
}
