package site_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/browser/serve"
	"cudalab/grader/proof/browsertest"
)

var handedOut = flag.String("handout", "", "use the site of a handout in Chromium, from the folder `DIR`: built "+
	"there first, within minutes, if it is not there")

// A class that was given the site of a handout has the real engine behind it, and no solution to read.
func TestTheFirstLessonOnAHandoutsSite(t *testing.T) {
	if *handedOut == "" {
		t.Skip("the site of a handout is built and used with -handout DIR alone")
	}
	if _, err := os.Stat(filepath.Join(*handedOut, "sw.js")); err != nil {
		said, err := exec.Command(cudalab(t), "handout", "--root", root, "--browser", *handedOut).CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
	folder, err := os.OpenRoot(*handedOut)
	require.NoError(t, err)
	t.Cleanup(func() { _ = folder.Close() })
	server := httptest.NewServer(http.StripPrefix(home[:len(home)-1], serve.Handler(folder.FS())))
	t.Cleanup(server.Close)
	w := browsertest.OpenChromium(t, "--window-size=1400,900")
	w.Go(server.URL + home)
	browsertest.Eventually(t, w, `document.querySelector("#chapter h1")?.textContent === "A pipeline that never waits"`,
		time.Minute)
	typed(t, w)
	w.Press("Control", "Enter")
	told(t, w, "not yet right")
	require.Contains(t, w.Eval(`document.querySelector("#said").textContent`), "free-before-use")
	w.Eval(`document.querySelector("#said .outcome").dataset.old = "yes"`)
	w.Eval(`document.querySelector(".finding h4 .link").click()`)
	w.Press("Home")
	w.Press("Shift", "End")
	w.Type("return cuda.FreeAsync(data, stream)")
	w.Press("Control", "Enter")
	browsertest.Eventually(t, w, `document.querySelector("[data-old]") === null`, time.Minute)
	told(t, w, "passed")
	shot(t, w, "handout-passed")
	require.Empty(t, w.Eval(`document.querySelector("#solution").textContent`))
	require.Equal(t, "Chapter Hints", w.Eval(`[...document.querySelectorAll("[role=tab]")]`+
		`.filter(t => t.checkVisibility()).map(t => t.textContent).join(" ")`))
	w.Eval(`document.querySelector("#tab-hints").focus()`)
	w.Eval(`document.querySelector("#tab-hints").click()`)
	w.Press("ArrowRight") // round to the first: there is no third
	require.Equal(t, "tab-chapter", w.Eval(`document.activeElement.id`))
	require.Empty(t, w.Said, "what the page complained of")
}
