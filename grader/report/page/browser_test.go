package page_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/browsertest"
)

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
		if width == 420 {
			looks(t, tab, everyWay)
		}
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
