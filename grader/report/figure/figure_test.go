package figure_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/browsertest"
	"cudalab/grader/report/figure"
)

// course are the figures of all chapters.
func course(t *testing.T) (all []figure.Figure) {
	chapters, err := filepath.Glob("../../../lessons/*.md")
	require.NoError(t, err)
	for _, file := range chapters {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all = append(all, figure.Of(string(text))...)
	}
	require.NotEmpty(t, all)
	return all
}

func TestFiguresAreSmallAndSayWhatTheyShow(t *testing.T) {
	for _, f := range course(t) {
		svg := f.SVG()
		require.Less(t, len(svg), 8<<10, f.Name)
		elements := map[string]int{}
		for d := xml.NewDecoder(strings.NewReader(svg)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, f.Name)
			if e, ok := token.(xml.StartElement); ok {
				elements[e.Name.Local]++
			}
		}
		require.Equal(t, 1, elements["title"], f.Name)
		require.Equal(t, 1, elements["desc"], f.Name)
		require.Zero(t, elements["script"]+elements["foreignObject"], f.Name)
		require.Equal(t, strings.Count(f.Text, "["), strings.Count(f.Text, "]"), f.Name)
		require.Equal(t, strings.Count(f.Text, "‹"), strings.Count(f.Text, "›"), f.Name)
		require.Contains(t, svg, `width="440"`, f.Name)
		require.NotContains(t, svg, "%!", f.Name)
	}
}

func TestAWaitHasAnArrowFromItsRecord(t *testing.T) {
	svg := figure.Figure{Text: "a  [fill]●a\nb          ○a[read]\n\n● EventRecord  ○ StreamWaitEvent\n"}.SVG()
	require.Equal(t, 1, strings.Count(svg, "marker-end"), "the signs of the legend have none")
	require.Equal(t, 2, strings.Count(svg, `class="box work"`))
}

func TestAMissingEdgeIsDashedAndHasNoOtherSign(t *testing.T) {
	svg := figure.Figure{Text: "a  [fill  ] ◌1\nb      ✗1[read]\n\n◌ not recorded\n"}.SVG()
	require.Equal(t, 1, strings.Count(svg, `class="no mi"`))
	require.Equal(t, 1, strings.Count(svg, "marker-end"))
	require.NotContains(t, svg, `"ed"`)
	require.NotContains(t, svg, `"box bad"`)
	require.Contains(t, figure.Figure{Text: "wanted ‹512 ›\n"}.SVG(), `"box bad"`)
}

func TestALaneHasNoLineThroughBoxesAndTexts(t *testing.T) {
	svg := figure.Figure{Text: "a   [fill]  on  [read]\n"}.SVG()
	_, line, _ := strings.Cut(svg, `class="ln" d="`)
	line, _, _ = strings.Cut(line, `"`)
	require.Equal(t, 4, strings.Count(line, "H"), line)
}

func TestNamesOfStreamsAreNoBoxes(t *testing.T) {
	pieces := figure.Pieces("streams[0]  ()[P 0 ] on")
	require.Equal(t, []figure.Piece{{0, 10, "text", "streams[0]"}, {12, 14, "mem", ""}, {14, 20, "work", "P 0"},
		{21, 23, "text", "on"}}, pieces)
}

// In a browser no text of a figure is small, beyond its edge or on another, in light and in dark mode.
func TestABrowserShowsTheFigures(t *testing.T) {
	page := "<!doctype html><body style='margin:0'>"
	for _, f := range course(t) {
		page += "<figure>" + f.SVG() + "</figure>"
	}
	tab := browsertest.Open(t, []byte(page), 540, 900)
	for _, dark := range []bool{false, true} {
		tab.Look(browsertest.As{Width: 540, Dark: dark})
		require.Equal(t, "", tab.Eval(`[...document.querySelectorAll("svg")].flatMap(svg => {
			const all = [...svg.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect()]);
			if ([...svg.querySelectorAll("text")].some(e => parseFloat(getComputedStyle(e).fontSize) < 13))
				return [svg.querySelector("title").textContent + ": a text is smaller than 13 px"];
			const edge = svg.querySelector(".bg").getBoundingClientRect(), wrong = [];
			all.forEach(([text, r], i) => {
				if (r.right > edge.right - 4 || r.bottom > edge.bottom) wrong.push("beyond the edge: " + text);
				for (const [other, o] of all.slice(i + 1))
					if (Math.min(r.right, o.right) - Math.max(r.left, o.left) > 1
						&& Math.min(r.bottom, o.bottom) - Math.max(r.top, o.top) > 4)
						wrong.push(text + " is on " + other);
			});
			for (const box of svg.querySelectorAll("rect.box + text.m")) {
				const r = box.getBoundingClientRect(), b = box.previousElementSibling.getBoundingClientRect();
				if (r.left < b.left || r.right > b.right) wrong.push("wider than its box: " + box.textContent);
			}
			return wrong.map(w => svg.querySelector("title").textContent + ": " + w);
		}).join("\n")`), "dark %v", dark)
	}
}
