package site_test

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/browsertest"
)

var (
	drive       = flag.Bool("drive", false, "use the page in Chromium and Firefox")
	screenshots = flag.String("screenshots", "", "with -drive, write pictures of the page to the folder `DIR`")
)

// browsers are the browsers that the page is used in.
var browsers = map[string]func(*testing.T) browsertest.Window{
	"chromium": func(t *testing.T) browsertest.Window { return browsertest.OpenChromium(t, "--window-size=1400,900") },
	"firefox":  func(t *testing.T) browsertest.Window { return browsertest.OpenFirefox(t) },
}

// parts are what is typed for the gaps of the first lesson, in their order.
var parts = []string{
	"if len(streams) == 0 { return contract.ErrArgument }\nfor _, b := range batches { if b.N < 1 { return " +
		"contract.ErrArgument } }\nreturn nil",
	"stream := streams[i%len(streams)]\nif err := cuda.MemsetAsync(batch.Result, 0, 8, stream); err != nil { return err }",
	"data, err := cuda.MallocAsync(4*int64(batch.N), stream)\nif err != nil { return err }\ngrid := (batch.N + 255) " +
		"/ 256\nif err := kernels.Process(grid, 256, stream, data, batch.N, batch.Multiplier, batch.Work); err != nil { " +
		"return errors.Join(err, cuda.FreeAsync(data, stream)) }",
	"if err := kernels.Reduce(grid, 256, stream, data, batch.N, batch.Result); err != nil { return errors.Join(err, " +
		"cuda.FreeAsync(data, stream)) }",
	"return cuda.FreeAsync(data, streams[(i+1)%len(streams)])",
}

// typed types the code of the first lesson: its imports, and what belongs in each gap.
func typed(t *testing.T, w browsertest.Window) {
	w.Eval(`document.querySelector(".cm-content").focus()`)
	w.Press("Control", "Home")
	for n := 0; w.Eval(`document.querySelector(".cm-activeLine").textContent`) != "import ("; n++ {
		require.Less(t, n, 20, "the arrow comes to the imports")
		w.Press("ArrowDown")
	}
	w.Press("End")
	w.Type("\n\"errors\"\n\"cudalab/kernels\"")
	for i, part := range parts {
		w.Press("Alt", "g")
		w.Type(part)
		browsertest.Eventually(t, w,
			fmt.Sprintf(`document.querySelector("#gap").hidden || !document.querySelector("#gap").textContent.includes("1%c")`,
				'a'+i), time.Minute)
	}
	browsertest.Eventually(t, w, `document.querySelector("#gap").hidden`, time.Minute)
}

const status = `document.querySelector(".outcome h3")?.textContent ?? ""`

func told(t *testing.T, w browsertest.Window, want string) {
	t.Helper()
	// A check is a process of this machine, which may have much else to do.
	browsertest.Eventually(t, w, `document.querySelector("#said [role=alert], #said .outcome") !== null`, 5*time.Minute)
	require.Equal(t, want, w.Eval(status),
		w.Eval(`document.querySelector("#said").textContent + document.querySelector(".cm-content").innerText`))
}

func shot(t *testing.T, w browsertest.Window, name string) {
	c, ok := w.(*browsertest.Chromium)
	if !ok || *screenshots == "" {
		return
	}
	require.NoError(t, os.MkdirAll(*screenshots, 0o755))
	for _, size := range [][2]int{{420, 900}, {1400, 900}, {2000, 1200}} {
		for _, dark := range []bool{false, true} {
			c.Resize(size[0], size[1], dark)
			time.Sleep(300 * time.Millisecond)
			file := fmt.Sprintf("%s-%d-%s.png", name, size[0], map[bool]string{false: "light", true: "dark"}[dark])
			require.NoError(t, os.WriteFile(filepath.Join(*screenshots, file), c.Shot(), 0o644))
		}
	}
	c.Resize(1400, 900, false)
}

// picture writes the README's picture of the page, beside the screenshots, for people to look at before they take it
// over.
func picture(t *testing.T, w browsertest.Window) {
	c, ok := w.(*browsertest.Chromium)
	if !ok || *screenshots == "" {
		return
	}
	c.Resize(1720, 940, false)
	c.Eval(`document.querySelector(".finding h4 .link").click()`)
	c.Eval(`document.querySelector(".finding iframe").scrollIntoView({block: "end"})`)
	time.Sleep(time.Second)
	require.NoError(t, os.WriteFile(filepath.Join(*screenshots, "screenshot.png"), browsertest.Small(t, c.Shot()), 0o644))
	c.Resize(1400, 900, false)
}

// begun is a window with the first lesson open.
func begun(t *testing.T, open func(*testing.T) browsertest.Window) (browsertest.Window, *httptest.Server) {
	t.Helper()
	if !*drive {
		t.Skip("the page is used in browsers with -drive alone")
	}
	cudalab(t)
	server := host(t, written(t))
	w := open(t)
	w.Go(server.URL + home)
	browsertest.Eventually(t, w, `document.querySelector("#chapter h1")?.textContent === "A pipeline that never waits"`,
		time.Minute)
	browsertest.Eventually(t, w, `document.querySelector(".cm-activeLine")?.textContent.includes("TODO(\"1a\")") ?? false`,
		time.Minute, "the editor opens at the first gap")
	return w, server
}

// The first lesson as a student takes it: they read, type into the gaps, see a finding where it is, watch its film,
// mend it and pass. Then the tab is closed, and the network gone, and nothing is lost.
func TestTheFirstLesson(t *testing.T) {
	for name, open := range browsers {
		t.Run(name, func(t *testing.T) {
			w, server := begun(t, open)
			shot(t, w, "1-begin")
			typed(t, w)
			w.Press("Control", "Enter")
			told(t, w, "not yet right")
			require.Contains(t, w.Eval(`document.querySelector("#said").textContent`), "free-before-use")
			browsertest.Eventually(t, w,
				`document.querySelector(".cm-lintRange-error")?.textContent.includes("FreeAsync(data, streams[(i+1)%len(streams)])")`, time.Minute)
			browsertest.Eventually(t, w, `document.querySelector(".finding iframe") !== null`, time.Minute)
			// what is out of sight may not be laid out
			w.Eval(`document.querySelector(".finding iframe").scrollIntoView({block: "center"})`)
			browsertest.Eventually(t, w, `document.querySelector(".finding iframe").offsetHeight > 250`, time.Minute,
				"the film says how high it is")
			shot(t, w, "2-finding")
			picture(t, w)
			if c, ok := w.(*browsertest.Chromium); ok {
				c.Point(".cm-lintRange-error")
				browsertest.Eventually(t, w, `document.querySelector(".cm-tooltip .told")?.textContent.includes("streams[0]")`,
					time.Minute, "the words at the pointer")
				shot(t, w, "3-hover")
				require.Empty(t, c.Said, "what the page complained of")
			}

			w.Press("Alt", "h")
			browsertest.Eventually(t, w, `document.activeElement.id === "next-hint"`, time.Minute)
			w.Press("Enter")
			browsertest.Eventually(t, w, `document.querySelectorAll("#hints .hint").length === 1`, time.Minute)
			shot(t, w, "4-hint")

			w.Eval(`document.querySelector("#said .outcome").dataset.old = "yes"`)
			w.Eval(`document.querySelector(".finding h4 .link").click()`)
			w.Press("Home")
			w.Press("Shift", "End")
			w.Type("return cuda.FreeAsync(data, stream)")
			w.Press("Control", "Enter")
			browsertest.Eventually(t, w, `document.querySelector("[data-old]") === null`, time.Minute)
			told(t, w, "passed")
			shot(t, w, "5-passed")

			w.Eval(`document.querySelector("#tab-solution").click()`)
			require.Contains(t, w.Eval(`document.querySelector("#solution").textContent`), "func enqueue")
			browsertest.Eventually(t, w, `document.documentElement.dataset.offline === "ready"`, time.Minute,
				"all is kept for a visit without a network")
			server.Close()
			w.Reload()
			// The editor has only those lines on the page that are in sight.
			browsertest.Eventually(t, w,
				`document.querySelector(".cm-content")?.textContent.includes("\"cudalab/kernels\"") ?? false`, time.Minute)
			require.Contains(t, w.Eval(`JSON.stringify(localStorage)`), "return cuda.FreeAsync(data, stream)")
			told(t, w, "passed")
			w.Eval(`location.hash = "slab"`)
			browsertest.Eventually(t, w, `document.querySelector("#chapter h1").textContent === "A block in a few nanoseconds"`,
				time.Minute)
		})
	}
}

// While code that never ends is being checked the page is alive, and its check can be stopped.
func TestAnEndlessLoopIsStopped(t *testing.T) {
	for name, open := range browsers {
		t.Run(name, func(t *testing.T) {
			w, _ := begun(t, open)
			w.Press("Alt", "g")
			w.Type("for { }")
			w.Press("Control", "Enter")
			browsertest.Eventually(t, w, `document.querySelector("#stop") !== null`, time.Minute)
			w.Press("Alt", "h")
			browsertest.Eventually(t, w, `!document.querySelector("#hints").hidden`, time.Minute,
				"the page does other things meanwhile")
			w.Eval(`document.querySelector("#stop").click()`)
			browsertest.Eventually(t, w, `document.querySelector(".outcome h3")?.textContent === "could not be checked"`,
				time.Minute)
			require.Contains(t, w.Eval(`document.querySelector("#said").textContent`), "stopped")
			require.Contains(t, w.Eval(`document.querySelector(".cm-content").textContent`), "for { }")
		})
	}
}
