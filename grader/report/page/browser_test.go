package page_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/browsertest"
	"cudalab/grader/report/page"
	"cudalab/grader/suite/verdict"
)

var screenshots = flag.String("screenshots", "",
	"write pictures of the pages, as a browser shows them, to the folder `DIR`")

// The film is gone through by keyboard: each key shows another frame of both orders, and says its sentence to who
// cannot see it.
func TestAFilmIsOperatedByKeyboard(t *testing.T) {
	text, _ := render(t, "cross-stream-events", "wrong/recorded-before-fill")
	for _, width := range []int{1400, 420} {
		tab := browsertest.Open(t, text, width, 900)
		if width == 420 {
			tab.Still()
		}
		const film = `document.querySelector(".film")`
		shown := func() string {
			return tab.Eval(`[...` + film +
				`.querySelectorAll(".take")].map(t => [...t.querySelectorAll(".frame")].findIndex(f => f.classList.contains("shown"))).join(" ")`)
		}
		last, err := strconv.Atoi(tab.Eval(film + `.querySelector("input").max`))
		require.NoError(t, err)
		wrong, err := strconv.Atoi(tab.Eval(film + `.dataset.start`))
		require.NoError(t, err)
		both := func(k int) string { return fmt.Sprintf("%d %d", k, k) }
		require.Equal(t, both(wrong), shown(), "it opens where it goes wrong")
		require.Equal(t, "0",
			tab.Eval(
				`document.documentElement.scrollWidth - innerWidth > 0 ? document.documentElement.scrollWidth - innerWidth : 0`),
			"the page is as wide as the window")

		for n := 0; tab.Eval(`document.activeElement === `+film+`.querySelector("input")`) != "true"; n++ {
			require.Less(t, n, 60, "the tabulator key comes to the slider")
			tab.Press("Tab")
		}
		tab.Press("Home")
		require.Equal(t, both(0), shown())
		for k := 1; k <= last; k++ {
			tab.Press("ArrowRight")
			require.Equal(t, both(k), shown())
			require.Equal(t, strconv.Itoa(k), tab.Eval(film+`.querySelector("input").value`))
			require.Equal(t,
				tab.Eval(fmt.Sprintf(film+`.querySelectorAll(".take")[1].querySelectorAll(".frame p")[%d].textContent`, k)),
				tab.Eval(film+`.querySelector("[aria-live]").textContent`))
		}
		tab.Press("ArrowRight")
		require.Equal(t, both(last), shown(), "there it ends")
		tab.Press("ArrowLeft")
		require.Equal(t, both(last-1), shown())
		tab.Press("End")
		require.Equal(t, both(last), shown())

		if width == 1400 { // a chip of the last step moves, where nobody minds
			tab.Press("ArrowLeft")
			tab.Press("ArrowRight")
			require.NotEqual(t, "0", tab.Eval(`document.getAnimations().length`))
		} else {
			require.Equal(t, "0", tab.Eval(`document.getAnimations().length`))
		}
		tab.Eval(film + `.querySelector("button").click()`)
		require.Equal(t, both(0), shown(), "it plays from the beginning")
		require.Eventually(t, func() bool { return shown() == both(1) }, 10*time.Second, 50*time.Millisecond)
	}
}

// A link to a line opens the source, which is folded.
func TestALinkOpensTheSource(t *testing.T) {
	text, _ := render(t, "cross-stream-events", "wrong/recorded-before-fill")
	tab := browsertest.Open(t, text, 1400, 900)
	const line = `document.querySelector(".sources").closest("details").open`
	require.Equal(t, "false", tab.Eval(line))
	tab.Eval(`document.querySelector(".excerpt a").click()`)
	require.Eventually(t, func() bool { return tab.Eval(line) == "true" }, 10*time.Second, 20*time.Millisecond)
}

// TestScreenshots writes what the pages look like, for people to look at: go test ./grader/report/page -screenshots
// DIR.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("No folder is given with -screenshots.")
	}
	dir, err := filepath.Abs(*screenshots)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	pages := map[string][]byte{}
	for _, p := range [][3]string{
		{"passed-pool", "pool-config", ""}, {"passed-overlap", "overlap", ""}, {"passed-slab", "slab", ""},
		{"free", "async-pipeline", "wrong/freed-on-another-stream"}, {"race", "cross-stream-events",
			"wrong/recorded-before-fill"},
		{"alloc", "cross-stream-events", "wrong/only-the-first-consumer-waits"}, {"leak", "pool-config",
			"wrong/block-never-freed"},
		{"buddy", "buddy", "wrong/wrong-buddy"}, {"arena", "vmm-arena", "wrong/not-rounded"},
		{"spill", "slab", "wrong/spills-one-class"}, {"slow", "overlap", "wrong/a-thread-a-block"},
	} {
		pages[p[0]], _ = render(t, p[1], p[2])
	}
	var space bytes.Buffer
	require.NoError(t, page.Write(&space, page.Input{Title: "Address space", Read: os.ReadFile,
		Report: verdict.Report{Exercise: "slab", Status: verdict.Passed}, Drawn: []*verdict.CaseNotes{handedOut(t, 200)}}))
	pages["space"] = space.Bytes()
	for name, text := range pages {
		for _, size := range []string{"1400,3000", "420,5000"} {
			for scheme, setting := range map[string]string{"light": "1", "dark": "0"} {
				file := filepath.Join(dir, fmt.Sprintf("%s-%s-%s.png", name, size[:4], scheme))
				browsertest.Run(t, text, "--window-size="+size, "--blink-settings=preferredColorScheme="+setting, "--screenshot="+
					file)
				info, err := os.Stat(file)
				require.NoError(t, err)
				require.Positive(t, info.Size())
			}
		}
	}
}
