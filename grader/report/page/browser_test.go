package page_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"cudalab/grader/report/page"
	"cudalab/grader/report/reporttest"
	"cudalab/grader/suite"
)

var screenshots = flag.String("screenshots", "", "write pictures of the pages, as a browser shows them, to the folder `DIR`")

func TestABrowserShowsTheTimeline(t *testing.T) {
	text, _ := render(t, "cross-stream-events", "wrong/no-wait-before-free")
	before := parse(t, text)
	d := parse(t, reporttest.Browser(t, text, "--dump-dom"))
	require.Len(t, d.class("bar"), len(before.class("bar")))
	require.NotEmpty(t, d.lost())
	for _, scene := range d.class("scene") {
		in := document{t, scene}
		stops := in.all(func(n *html.Node) bool { return hasClass(n, "bar") && attr(n, "tabindex") == "0" })
		require.Len(t, stops, 1, "the script makes each picture one stop of the tabulator key")
		for _, tools := range in.class("tools") {
			for _, a := range tools.Attr {
				require.NotEqual(t, "hidden", a.Key, "the script shows the buttons")
			}
		}
	}
}

// TestScreenshots writes what the pages look like, for people to look at: go test ./grader/report/page -screenshots DIR.
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
		{"free", "async-pipeline", "wrong/freed-on-another-stream"}, {"race", "cross-stream-events", "wrong/recorded-before-fill"},
		{"alloc", "cross-stream-events", "wrong/only-the-first-consumer-waits"}, {"leak", "pool-config", "wrong/block-never-freed"},
		{"buddy", "buddy", "wrong/wrong-buddy"}, {"arena", "vmm-arena", "wrong/not-rounded"}, {"spill", "slab", "wrong/spills-one-class"},
	} {
		pages[p[0]], _ = render(t, p[1], p[2])
	}
	var space bytes.Buffer
	require.NoError(t, page.Write(&space, page.Input{Title: "Address space", Read: os.ReadFile,
		Report: suite.Report{Exercise: "slab", Status: suite.Passed}, Drawn: []*suite.CaseNotes{handedOut(t, 200)}}))
	pages["space"] = space.Bytes()
	for name, text := range pages {
		for _, size := range []string{"1400,3000", "420,5000"} {
			for scheme, setting := range map[string]string{"light": "1", "dark": "0"} {
				file := filepath.Join(dir, fmt.Sprintf("%s-%s-%s.png", name, size[:4], scheme))
				reporttest.Browser(t, text, "--window-size="+size, "--blink-settings=preferredColorScheme="+setting, "--screenshot="+file)
				info, err := os.Stat(file)
				require.NoError(t, err)
				require.Positive(t, info.Size())
			}
		}
	}
}
